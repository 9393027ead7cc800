package overview

import (
	"fmt"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/verdict"
	"github.com/servebench/servebench/report/plot"
	"github.com/servebench/servebench/report/reasons"
)

// A Verdict is a word with the reasons for it, the weightiest first.
type Verdict struct {
	Word    string // as VALID or REGRESSED
	Reasons []string
}

// mostReasons is the number of reasons on the first screen.
const mostReasons = 3

// A Tone is good or bad news.
type Tone string

const (
	Good Tone = "good"
	Bad  Tone = "bad"
	Open Tone = "open" // undecided
)

// Tone is the tone of the word.
func (v Verdict) Tone() Tone {
	switch v.Word {
	case string(verdict.Valid), string(compare.Pass):
		return Good
	case string(compare.Regressed), string(verdict.Suspect):
		return Bad
	}
	return Open
}

// Short has the first reasons in one line.
func (v Verdict) Short() string {
	if more := len(v.Reasons) - mostReasons; more > 0 {
		return fmt.Sprintf("%s; and %d more", strings.Join(v.Reasons[:mostReasons], "; "), more)
	}
	return strings.Join(v.Reasons, "; ")
}

// believable is the verdict on one run with its reasons, or the verdicts on several runs with
// their counts.
func believable(runs []plot.Run) (all []Verdict) {
	counts, checks := map[verdict.Verdict]int{}, map[verdict.Verdict]map[string]int{}
	judged := 0
	for _, r := range runs {
		if r.Summary.Trust == nil {
			continue
		}
		if len(runs) == 1 {
			return []Verdict{*Judged(r.Summary)}
		}
		judged++
		counts[r.Summary.Trust.Verdict]++
		for _, c := range r.Summary.Trust.Failed() {
			if checks[r.Summary.Trust.Verdict] == nil {
				checks[r.Summary.Trust.Verdict] = map[string]int{}
			}
			checks[r.Summary.Trust.Verdict][c.Name]++
		}
	}
	for _, v := range []verdict.Verdict{verdict.Suspect, verdict.Overloaded} {
		if counts[v] == 0 {
			continue
		}
		var whys []string
		for _, name := range metrics.ByCount(checks[v]) {
			whys = append(whys, fmt.Sprintf("%s (%d)", name, checks[v][name]))
		}
		all = append(all, Verdict{string(v), []string{
			fmt.Sprintf("%d of %d runs, for: %s", counts[v], len(runs), strings.Join(whys, ", "))}})
	}
	if all == nil && judged > 0 && counts[verdict.Valid] == judged {
		all = []Verdict{{string(verdict.Valid), []string{validRuns(judged, len(runs))}}}
	}
	return all
}

// validRuns says how many of several runs are VALID, if all runs with a verdict are.
func validRuns(judged, of int) string {
	if judged == of {
		return fmt.Sprintf("all %d runs", of)
	}
	return fmt.Sprintf("%d of %d runs; there is no verdict without a record stream", judged, of)
}

// Judged is the verdict on a run; nil without Trust.
func Judged(s *metrics.Summary) *Verdict {
	if s.Trust == nil {
		return nil
	}
	return &Verdict{string(s.Trust.Verdict), reasons.Texts(s.Trust)}
}
