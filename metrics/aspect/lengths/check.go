package lengths

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/counts"
	"github.com/servebench/servebench/metrics/verdict"
)

// With ignore_eos, answers have all requested tokens. If some do not, requests hold their slots
// for a different time than planned, and tokens a second belong to a different load.
const shareLimit = 1.0 // % of the answers whose tokens the server counted

// Check compares the lengths of answers with the requested lengths. It is false if all are right.
func Check(s *metrics.Summary) (verdict.Check, bool) {
	l := of(s)
	if l.Short > 0 {
		l.Cut = 0 // these are among the short ones
	}
	c := verdict.Check{
		Name: "answer lengths", Unit: "%", Limit: shareLimit,
		Figure: verdict.Percent(l.Short+l.Cut+l.Long+l.Over, l.Of+l.Unsure),
	}
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
		member := cmp.Or(s.Header.Config.Traits.LengthMember, "max_tokens")
		c.Remedy = cmp.Or(c.Remedy, "check whether the server knows "+member)
	}
	if l.Over > 0 {
		texts = append(texts, fmt.Sprintf("long answers: %d of %d have more tokens than asked for%s", l.Over, l.Of+l.Unsure,
			counts.ByTokenizer(s)))
		c.Remedy = cmp.Or(c.Remedy, "check whether the server sends a part of its answers twice, and whether the "+
			"tokenizer is the server's (--tokenizer)")
	}
	c.Text = strings.Join(texts, "; ")
	return c, texts != nil
}

// reasons names the finish reasons of the short answers.
func reasons(l *Lengths) string {
	var parts []string
	for _, reason := range metrics.ByCount(l.Reasons) {
		parts = append(parts, fmt.Sprintf("%s %d", reason, l.Reasons[reason]))
	}
	return "finish reasons: " + strings.Join(parts, ", ")
}
