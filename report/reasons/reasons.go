// Package reasons says why a run is SUSPECT or OVERLOADED, or which figures make it VALID.
//
// Checks that failed and have one remedy are one Reason. A report shows as many reasons as it has space for.
package reasons

import (
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/verdict"
)

// A Reason is why a run is not VALID: what checks say that have one remedy.
type Reason struct {
	Texts  []string // what the checks say
	Remedy string   // what to do; "" if the texts say it

	// Verdict is OVERLOADED in a SUSPECT run, whose other reasons are about the measurement. It is
	// empty for a reason for the run's own verdict.
	Verdict verdict.Verdict
}

// mostTexts are how many texts a short reason has.
const mostTexts = 2

// Shorten leaves so much of a reason that its remedy is in view.
func (r *Reason) Shorten() {
	if more := len(r.Texts) - mostTexts; more > 0 {
		r.Texts = append(r.Texts[:mostTexts:mostTexts], metrics.Counted(more, "more sign"))
	}
}

// String is the reason in a line, with the remedy last.
func (r *Reason) String() string {
	text := strings.Join(r.Texts, "; ")
	if r.Verdict != "" {
		text = string(r.Verdict) + ": " + text
	}
	if r.Remedy != "" {
		text += " → " + r.Remedy
	}
	return text
}

// Of are the reasons in order of weight. A backlog of a SUSPECT run is the last one.
func Of(t *verdict.Trust) (reasons []Reason) {
	for _, c := range t.Failed() {
		own := Reason{Remedy: c.Remedy}
		if t.Verdict == verdict.Suspect && c.Name == verdict.BacklogCheck {
			own.Verdict = verdict.Overloaded
		}
		at := slices.IndexFunc(reasons, func(r Reason) bool {
			return r.Remedy != "" && r.Remedy == own.Remedy && r.Verdict == own.Verdict
		})
		if at < 0 {
			at = len(reasons)
			reasons = append(reasons, own)
		}
		reasons[at].Texts = append(reasons[at].Texts, c.Text)
	}
	return reasons
}

// reassuring are the checks whose figures are in the line of a VALID run.
var reassuring = []string{"completed", "rate", "lag", "socket age", "wake-up", "own CPU"}

// Texts are why a run is SUSPECT or OVERLOADED, in order of weight and with their remedies,
// or the figures that make it VALID.
func Texts(t *verdict.Trust) (texts []string) {
	if t.Verdict == verdict.Valid {
		return Figures(t)
	}
	for _, r := range Of(t) {
		texts = append(texts, r.String())
	}
	return texts
}

// Figures are the figures that make a run VALID.
func Figures(t *verdict.Trust) (texts []string) {
	for _, c := range t.Checks {
		if slices.Contains(reassuring, c.Name) {
			texts = append(texts, c.Text)
		}
	}
	return texts
}
