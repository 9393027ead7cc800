package delivery

import (
	"fmt"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/verdict"
)

// Servers send a chunk for a token, or for several.
const surplusLimit = 1.0 // % of the answers

// Check finds answers with more chunks than tokens: a chunk that is sent twice is no token. Several answers to a
// request come in one stream, so theirs are not compared.
func Check(s *metrics.Summary) (verdict.Check, bool) {
	d := Of(s)
	c := verdict.Check{
		Name: "surplus chunks", Figure: verdict.Percent(d.Surplus, s.TTFT.Len()), Unit: "%", Limit: surplusLimit,
		Remedy: "check whether the server sends chunks twice, or does not count all tokens"}
	c.Text = fmt.Sprintf("%s have more chunks than tokens, %d for %d: ITL is not between tokens",
		metrics.Counted(d.Surplus, "answer"), d.Chunks, d.Tokens)
	several := s.Header.Config.Traits.Answers > 1 && !s.Header.Config.Whole
	return c, d.Surplus > 0 && !several
}

// Repeats reports that answers have many more chunks than tokens.
func Repeats(s *metrics.Summary) bool {
	c, found := Check(s)
	return found && !c.Fine()
}
