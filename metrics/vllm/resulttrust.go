package vllm

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/servebench/servebench/metrics"
)

// trust is the verdict that servebench wrote into the file, nil without one.
func (f *resultFile) trust() *metrics.Trust {
	var t struct {
		Verdict metrics.Verdict
		Checks  []struct {
			Name, Unit, Text, Remedy string
			Figure                   *float64
			Least                    *float64 `json:"at_least"`
			Most                     *float64 `json:"at_most"`
			OK                       bool
		}
		Notes, Warnings []string
	}
	if json.Unmarshal(f.value("trust"), &t) != nil || !slices.Contains([]metrics.Verdict{metrics.Valid, metrics.Suspect, metrics.Overloaded}, t.Verdict) {
		return nil
	}
	trust := &metrics.Trust{Verdict: t.Verdict, Notes: t.Notes, Warnings: t.Warnings}
	for _, c := range t.Checks {
		check := metrics.Check{Name: c.Name, Figure: orNaN(c.Figure), Unit: c.Unit, Limit: orNaN(c.Most), OK: c.OK, Text: c.Text, Remedy: c.Remedy}
		if c.Least != nil {
			check.Limit, check.AtLeast = *c.Least, true
		}
		trust.Checks = append(trust.Checks, check)
	}
	return trust
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

func (f *resultFile) flag(key string) bool { return string(f.value(key)) == "true" }

// texts are the texts of a list; none where the key has no list.
func (f *resultFile) texts(key string) (texts []string) {
	if json.Unmarshal(f.value(key), &texts) != nil {
		return nil
	}
	return texts
}
