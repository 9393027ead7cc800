package trust

import (
	"fmt"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/delivery"
	"github.com/servebench/servebench/metrics/aspect/reasoning"
	"github.com/servebench/servebench/metrics/aspect/tokens"
	"github.com/servebench/servebench/metrics/verdict"
)

// This file checks the answers: did they come as a stream of tokens, did somebody count the tokens,
// and were there as many as requested?

// several finds requests for several answers, whose chunks share a stream.
func (j *judge) several() (verdict.Check, bool) {
	n := j.run.Header.Config.Traits.Answers
	c := verdict.Check{Name: "answers a request", Figure: float64(n), Unit: "answers", Limit: severalLimit,
		Remedy: "ask for one answer (n of 1), with as many requests"}
	c.Text = fmt.Sprintf("each request asks for %d answers, whose chunks come in one stream: ITL is between chunks of "+
		"different answers, and TPOT is of all together", n)
	return c, n > 1 && !j.run.Header.Config.Whole
}

// streaming finds answers that were generated step by step, but came at once.
func (j *judge) streaming() (verdict.Check, bool) {
	d := delivery.Of(j.run)
	// A single answer may have come late for any reason.
	c := verdict.Check{Name: "streaming", Figure: verdict.Percent(d.AtOnce, d.Of), Unit: "%",
		Limit:  max(streamingLimit, verdict.Percent(1, d.Of)),
		Remedy: "check whether a proxy buffers, and whether the server streams"}
	c.Text = fmt.Sprintf("%d of %s came all at once at the end: their TTFT is their E2EL, and ITL and TPOT say nothing",
		d.AtOnce, metrics.Counted(d.Of, "answer"))
	// What we read late came at once because of us, and a canvas is generated at once.
	return c, d.AtOnce > 0 && !(j.late() && j.seen.Stamps.SharedReads > 0) && j.run.Printed.Diffusion == nil
}

// firstToken checks whether TTFT counts something as a token that comes before any token.
func (j *judge) firstToken() (verdict.Check, bool) {
	d := delivery.Of(j.run)
	content := reasoning.Of(j.run).ContentTTFT.Mean()
	if d.Early == 0 || content <= 0 {
		return verdict.Check{}, false
	}
	ahead := metrics.Milliseconds(d.MeanAhead())
	c := verdict.Check{Name: verdict.FirstToken, Figure: ahead / content * 100, Unit: "%",
		Remedy: "read the TTFT to the first content (--extended)"}
	c.Limit = max(earlyLimit, max(earlyLimitMS, earlyLimitOfITL*j.usualGap())/content*100)
	c.Text = fmt.Sprintf("TTFT takes an empty chunk for a token: %s, and %s to the first content; TPOT and ITL are "+
		"wrong by it, too",
		verdict.ShowMS(j.run.TTFT.Mean()), verdict.ShowMS(content))
	return c, true
}

// usualGap is the median gap between two tokens, or between two chunks if there are enough of
// those; 0 if unknown.
func (j *judge) usualGap() float64 {
	const most = 3 // chunks without tokens: a role, one that finishes
	switch itl := &tokens.Of(j.run).ITL; {
	case itl.Len() > 0:
		return itl.Median()
	case j.run.ITL.Len() > most*j.run.TTFT.Len():
		return j.run.ITL.Median()
	}
	return 0
}
