package trust

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/counts"
	"github.com/servebench/servebench/metrics/aspect/delivery"
	"github.com/servebench/servebench/metrics/aspect/lengths"
	"github.com/servebench/servebench/metrics/aspect/prompts"
	"github.com/servebench/servebench/metrics/aspect/reasoning"
	"github.com/servebench/servebench/metrics/verdict"
)

// This file checks the answers: did they come as a stream of tokens, did somebody count the tokens,
// and were there as many as requested?

// answers compares the lengths of answers with the requested lengths.
func (j *judge) answers() (verdict.Check, bool) {
	l := lengths.Of(j.Summary)
	if l.Short > 0 {
		l.Cut = 0 // these are among the short ones
	}
	c := verdict.Check{Name: "answer lengths", Figure: percent(l.Short+l.Cut+l.Long+l.Over, l.Of+l.Unsure), Unit: "%",
		Limit: lengthsLimit}
	var texts []string
	if l.Short > 0 {
		texts = append(texts, fmt.Sprintf("short answers: %d of %d ended before the tokens asked for though ignore_eos "+
			"was sent, %s missing (%s)",
			l.Short, l.Of, metrics.Counted(l.Missing, "token"), reasons(&l)))
		c.Remedy = "check whether the server knows ignore_eos"
		if len(l.Reasons) == 1 && l.Reasons["length"] > 0 {
			c.Remedy = "raise --max-model-len of the server"
		}
	}
	if l.Cut > 0 {
		texts = append(texts, fmt.Sprintf("short answers: %d of %d ended for their length, but have fewer tokens than "+
			"asked for, %s missing",
			l.Cut, l.Of, metrics.Counted(l.CutBy, "token")))
		c.Remedy = "raise --max-model-len of the server, or the limit of a gateway on answers"
	}
	if l.Long > 0 {
		texts = append(texts, fmt.Sprintf("long answers: %d of %d went on past the tokens asked for, %s more", l.Long,
			l.Of+l.Unsure, metrics.Counted(l.Extra, "token")))
		member := cmp.Or(j.Header.Config.Traits.LengthMember, "max_tokens")
		c.Remedy = cmp.Or(c.Remedy, "check whether the server knows "+member)
	}
	if l.Over > 0 {
		texts = append(texts, fmt.Sprintf("long answers: %d of %d have more tokens than asked for%s", l.Over, l.Of+l.Unsure,
			j.byTokenizer()))
		c.Remedy = cmp.Or(c.Remedy, "check whether the server sends a part of its answers twice, and whether the "+
			"tokenizer is the server's (--tokenizer)")
	}
	c.Text = strings.Join(texts, "; ")
	return c, texts != nil
}

// promptLengths compares the prompts that the server read with the dataset's.
func (j *judge) promptLengths() (verdict.Check, bool) {
	p := prompts.Of(j.Summary)
	if j.templated() {
		p.Longer = p.Beyond
	}
	if j.prefixed() {
		p.Longer = 0
	}
	c := verdict.Check{Name: "prompt lengths", Figure: percent(p.Shorter+p.Longer, p.Of), Unit: "%", Limit: promptsLimit}
	c.Remedy = "use the server's tokenizer (--tokenizer), raise --max-model-len of a server that cuts prompts, or " +
		"check whether it counts cached tokens"
	if p.Longer > p.Shorter {
		c.Remedy = "use the server's tokenizer (--tokenizer)"
	}
	c.Text = fmt.Sprintf("the server read other prompts than asked for: of %d, %d are shorter and %d longer by its "+
		"count, with %d tokens for %d",
		p.Of, p.Shorter, p.Longer, p.Read, p.Asked)
	return c, p.Shorter+p.Longer > 0
}

// prefixed reports that the server adds the same tokens to all prompts: a long template, a system prompt, tools.
func (j *judge) prefixed() bool {
	least, most := prompts.Of(j.Summary).Least, prompts.Of(j.Summary).Most
	return j.templated() && least > 0 && most <= prefixMost && most-least <= max(prefixForgiven, least/10)
}

// notePrefix says how much the server adds to the prompts, if it is more than a template does.
func (j *judge) notePrefix() string {
	p := prompts.Of(j.Summary)
	if p.Beyond == 0 || !j.prefixed() {
		return ""
	}
	return fmt.Sprintf("the server adds %d tokens or more to each prompt of a chat, by its count: a long template, a "+
		"system prompt or tools", p.Least)
}

// several finds requests for several answers, whose chunks share a stream.
func (j *judge) several() (verdict.Check, bool) {
	n := j.Header.Config.Traits.Answers
	c := verdict.Check{Name: "answers a request", Figure: float64(n), Unit: "answers", Limit: severalLimit,
		Remedy: "ask for one answer (n of 1), with as many requests"}
	c.Text = fmt.Sprintf("each request asks for %d answers, whose chunks come in one stream: ITL is between chunks of "+
		"different answers, and TPOT is of all together", n)
	return c, n > 1 && !j.Header.Config.Whole
}

// repeats reports that answers have many more chunks than tokens.
func (j *judge) repeats() bool {
	c, found := j.surplus()
	return found && !fine(c)
}

// surplus finds answers with more chunks than tokens: a chunk that is sent twice is no token.
func (j *judge) surplus() (verdict.Check, bool) {
	d := delivery.Of(j.Summary)
	c := verdict.Check{Name: "surplus chunks", Figure: percent(d.Surplus, j.TTFT.Len()), Unit: "%", Limit: surplusLimit,
		Remedy: "check whether the server sends chunks twice, or does not count all tokens"}
	c.Text = fmt.Sprintf("%s have more chunks than tokens, %d for %d: ITL is not between tokens",
		metrics.Counted(d.Surplus, "answer"), d.Chunks, d.Tokens)
	_, several := j.several()
	return c, d.Surplus > 0 && !several
}

// tokenCounts finds answers whose tokens nobody counted, or somebody counted otherwise: the finding that is furthest
// beyond its limit. If the user chose to have no tokenizer, the block has no numbers that need one.
func (j *judge) tokenCounts() (c verdict.Check, found bool) {
	n, falling := counts.Of(j.Summary), delivery.Of(j.Summary).Falling
	if j.Header.Config.SkipTokenizer {
		n.Nobody = 0
	}
	of := metrics.Counted(n.Of, "answer")
	for _, f := range []struct {
		answers      int
		text, remedy string
	}{
		{n.Nobody, fmt.Sprintf("nobody counted the tokens of %d of %s: each counts as one token, so token totals, tokens "+
			"a second and TPOT are wrong", n.Nobody, of),
			"give --tokenizer, or use a server that sends usage"},
		{n.Apart, fmt.Sprintf("the server counted %s in %d of %s, where vLLM's client does not look, and these numbers "+
			"count %d%s",
			metrics.Counted(n.Theirs, "output token"), n.Apart, of, n.Ours, j.byTokenizer()),
			"give the model's own tokenizer (--tokenizer)"},
		{falling, fmt.Sprintf("in %d of %s the server's count of output tokens falls from one chunk to the next", falling,
			of),
			"check the usage that the server sends with its chunks"},
	} {
		if figure := percent(f.answers, n.Of); figure > c.Figure {
			c, found = verdict.Check{Name: "token counts", Figure: figure, Unit: "%", Limit: countsLimit, Text: f.text,
				Remedy: f.remedy}, true
		}
	}
	return c, found
}

// noteCounts says who counted the tokens, if the server did not.
func (j *judge) noteCounts() string {
	n := counts.Of(j.Summary)
	if n.Tokenizer == 0 {
		return ""
	}
	if n.Apart > 0 {
		return "" // the check of token counts says it
	}
	by := "the tokenizer of this client"
	if name := j.Header.Config.Tokenizer; name != "" {
		by = "the tokenizer " + name
	}
	return fmt.Sprintf("the server gave no whole number of output tokens for %d of %s: %s counted them", n.Tokenizer,
		metrics.Counted(n.Of, "answer"), by)
}

// byTokenizer names the tokenizer that counted, if the run has one.
func (j *judge) byTokenizer() string {
	if name := j.Header.Config.Tokenizer; name != "" {
		return ", by the tokenizer " + name
	}
	return ""
}

// streaming finds answers that were generated step by step, but came at once.
func (j *judge) streaming() (verdict.Check, bool) {
	d := delivery.Of(j.Summary)
	// A single answer may have come late for any reason.
	c := verdict.Check{Name: "streaming", Figure: percent(d.AtOnce, d.Of), Unit: "%",
		Limit:  max(streamingLimit, percent(1, d.Of)),
		Remedy: "check whether a proxy buffers, and whether the server streams"}
	c.Text = fmt.Sprintf("%d of %s came all at once at the end: their TTFT is their E2EL, and ITL and TPOT say nothing",
		d.AtOnce, metrics.Counted(d.Of, "answer"))
	// What we read late came at once because of us, and a canvas is generated at once.
	return c, d.AtOnce > 0 && !(j.late() && j.seen.Stamps.SharedReads > 0) && j.Diffusion == nil
}

// firstToken checks whether TTFT counts something as a token that comes before any token.
func (j *judge) firstToken() (verdict.Check, bool) {
	d := delivery.Of(j.Summary)
	content := reasoning.Of(j.Summary).ContentTTFT.Mean()
	if d.Early == 0 || content <= 0 {
		return verdict.Check{}, false
	}
	ahead := metrics.Milliseconds(d.MeanAhead())
	c := verdict.Check{Name: verdict.FirstToken, Figure: ahead / content * 100, Unit: "%",
		Remedy: "read the TTFT to the first content (--extended)"}
	c.Limit = max(earlyLimit, max(earlyLimitMS, earlyLimitOfITL*j.usualGap())/content*100)
	c.Text = fmt.Sprintf("TTFT takes an empty chunk for a token: %s, and %s to the first content; TPOT and ITL are "+
		"wrong by it, too",
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
func reasons(l *lengths.Lengths) string {
	var parts []string
	for _, reason := range metrics.ByCount(l.Reasons) {
		parts = append(parts, fmt.Sprintf("%s %d", reason, l.Reasons[reason]))
	}
	return "finish reasons: " + strings.Join(parts, ", ")
}
