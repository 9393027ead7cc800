package trust

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/servebench/servebench/metrics"
)

// This file checks the answers: did they come as a stream of tokens, did somebody count the tokens,
// and were there as many as requested?

// answers compares the lengths of answers with the requested lengths.
func (j *judge) answers() (metrics.Check, bool) {
	l := j.Truth.Lengths
	c := metrics.Check{Name: "answer lengths", Figure: percent(l.Short+l.Long, l.Of+l.Unsure), Unit: "%", Limit: lengthsLimit}
	var texts []string
	if l.Short > 0 {
		texts = append(texts, fmt.Sprintf("short answers: %d of %d ended before the tokens asked for though ignore_eos was sent, %s missing (%s)",
			l.Short, l.Of, metrics.Counted(l.Missing, "token"), reasons(&l)))
		c.Remedy = "check whether the server knows ignore_eos"
		if len(l.Reasons) == 1 && l.Reasons["length"] > 0 {
			c.Remedy = "raise --max-model-len of the server"
		}
	}
	if l.Long > 0 {
		texts = append(texts, fmt.Sprintf("long answers: %d of %d went on past the tokens asked for, %s more", l.Long, l.Of+l.Unsure, metrics.Counted(l.Extra, "token")))
		c.Remedy = cmp.Or(c.Remedy, "check whether the server knows "+j.lengthMember())
	}
	c.Text = strings.Join(texts, "; ")
	return c, texts != nil
}

// lengthMember is the member of a request's body that bounds its answer.
func (j *judge) lengthMember() string {
	if strings.Contains(j.Header.Config.Backend, "chat") {
		return "max_completion_tokens"
	}
	return "max_tokens"
}

// tokenCounts finds answers whose tokens nobody counted. If the user chose to have no tokenizer,
// the block has no numbers that need one.
func (j *judge) tokenCounts() (metrics.Check, bool) {
	n := j.Truth.Counts
	c := metrics.Check{Name: "token counts", Figure: percent(n.Nobody, n.Of), Unit: "%", Limit: countsLimit, Remedy: "give --tokenizer, or use a server that sends usage"}
	c.Text = fmt.Sprintf("nobody counted the tokens of %d of %s: each counts as one token, so token totals, tokens a second and TPOT are wrong",
		n.Nobody, metrics.Counted(n.Of, "answer"))
	return c, n.Nobody > 0 && !j.Header.Config.SkipTokenizer
}

// noteCounts says who counted the tokens, if the server did not.
func (j *judge) noteCounts() string {
	n := j.Truth.Counts
	if n.Tokenizer == 0 {
		return ""
	}
	by := "the tokenizer of this client"
	if name := j.Header.Config.Tokenizer; name != "" {
		by = "the tokenizer " + name
	}
	return fmt.Sprintf("the server gave no whole number of output tokens for %d of %s: %s counted them", n.Tokenizer, metrics.Counted(n.Of, "answer"), by)
}

// streaming finds answers that were generated step by step, but came at once.
func (j *judge) streaming() (metrics.Check, bool) {
	d := j.Truth.Delivery
	// A single answer may have come late for any reason.
	c := metrics.Check{Name: "streaming", Figure: percent(d.AtOnce, d.Of), Unit: "%", Limit: max(streamingLimit, percent(1, d.Of)),
		Remedy: "check whether a proxy buffers, and whether the server streams"}
	c.Text = fmt.Sprintf("%d of %s came all at once at the end: their TTFT is their E2EL, and ITL and TPOT say nothing", d.AtOnce, metrics.Counted(d.Of, "answer"))
	// What we read late came at once because of us, and a canvas is generated at once.
	return c, d.AtOnce > 0 && !j.late() && j.Diffusion == nil
}

// firstToken checks whether TTFT counts something as a token that comes before any token.
func (j *judge) firstToken() (metrics.Check, bool) {
	d := j.Truth.Delivery
	content := j.Truth.ContentTTFT.Mean()
	if d.Early == 0 || content <= 0 {
		return metrics.Check{}, false
	}
	ahead := metrics.Milliseconds(d.MeanAhead())
	c := metrics.Check{Name: metrics.FirstToken, Figure: ahead / content * 100, Unit: "%", Remedy: "read the TTFT to the first content (--extended)"}
	c.Limit = max(earlyLimit, max(earlyLimitMS, earlyLimitOfITL*j.usualGap())/content*100)
	c.Text = fmt.Sprintf("TTFT takes an empty chunk for a token: %s, and %s to the first content; TPOT and ITL are wrong by it, too",
		showMS(j.TTFT.Mean()), showMS(content))
	return c, true
}

// usualGap is the median gap between two tokens, or between two chunks if there are enough of
// those; 0 if unknown.
func (j *judge) usualGap() float64 {
	const most = 3 // chunks without tokens: a role, one that finishes
	switch {
	case j.Truth.ITL.Len() > 0:
		return j.Truth.ITL.Median()
	case j.ITL.Len() > most*j.TTFT.Len():
		return j.ITL.Median()
	}
	return 0
}

// reasons names the finish reasons of the short answers.
func reasons(l *metrics.Lengths) string {
	var parts []string
	for _, reason := range metrics.ByCount(l.Reasons) {
		parts = append(parts, fmt.Sprintf("%s %d", reason, l.Reasons[reason]))
	}
	return "finish reasons: " + strings.Join(parts, ", ")
}
