package counts

import (
	"fmt"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/delivery"
	"github.com/servebench/servebench/metrics/verdict"
)

// Each of these answers counts as a single token.
const shareLimit = 1.0 // % of the answers

// Check finds answers whose tokens nobody counted, or somebody counted otherwise: the finding that is furthest
// beyond its limit. If the user chose to have no tokenizer, the block has no numbers that need one.
func Check(s *metrics.Summary) (c verdict.Check, found bool) {
	n, falling := Of(s), delivery.Of(s).Falling
	if s.Header.Config.SkipTokenizer {
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
			metrics.Counted(n.Theirs, "output token"), n.Apart, of, n.Ours, ByTokenizer(s)),
			"give the model's own tokenizer (--tokenizer)"},
		{falling, fmt.Sprintf("in %d of %s the server's count of output tokens falls from one chunk to the next", falling,
			of),
			"check the usage that the server sends with its chunks"},
	} {
		if figure := verdict.Percent(f.answers, n.Of); figure > c.Figure {
			c, found = verdict.Check{Name: "token counts", Figure: figure, Unit: "%", Limit: shareLimit, Text: f.text,
				Remedy: f.remedy}, true
		}
	}
	return c, found
}

// Note says who counted the tokens, if the server did not.
func Note(s *metrics.Summary) string {
	n := Of(s)
	if n.Tokenizer == 0 {
		return ""
	}
	if n.Apart > 0 {
		return "" // the check of token counts says it
	}
	by := "the tokenizer of this client"
	if name := s.Header.Config.Tokenizer; name != "" {
		by = "the tokenizer " + name
	}
	return fmt.Sprintf("the server gave no whole number of output tokens for %d of %s: %s counted them", n.Tokenizer,
		metrics.Counted(n.Of, "answer"), by)
}

// ByTokenizer names the tokenizer that counted, as the end of a sentence; empty if the run has none.
func ByTokenizer(s *metrics.Summary) string {
	if name := s.Header.Config.Tokenizer; name != "" {
		return ", by the tokenizer " + name
	}
	return ""
}
