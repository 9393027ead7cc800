package compare

import (
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/asked"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/numbers"
)

// fromContent reports that a number of TTFT or TPOT is compared from the first content on, because
// all runs of both sides know it.
func (s *Sides) fromContent(m *metrics.Number) bool {
	unknown := func(r *brief.Run) bool {
		_, known := r.Content[m.Name]
		return !known
	}
	return !slices.ContainsFunc(s.Old, unknown) && !slices.ContainsFunc(s.New, unknown)
}

// values are the values of a metric in some of the point's runs, nil if one has none.
func (s *Sides) values(m *metrics.Number, runs []*brief.Run) []float64 {
	switch {
	case m.Latency == "ttfo":
		return s.outputValues(m, runs)
	case !s.fromContent(m):
		return values(m, runs)
	}
	var values []float64
	for _, r := range runs {
		values = append(values, r.Content[m.Name])
	}
	return values
}

// outputValues are the values of a TTFO in some of the point's runs, nil if one has none, or if no answer
// of the point reasoned. In a run without reasoning, TTFO is TTFT up to the first content.
func (s *Sides) outputValues(m *metrics.Number, runs []*brief.Run) (values []float64) {
	reasoned := func(r *brief.Run) bool { _, known := r.Numbers[m.Name]; return known }
	if !slices.ContainsFunc(s.Old, reasoned) && !slices.ContainsFunc(s.New, reasoned) {
		return nil
	}
	for _, r := range runs {
		v, known := r.Numbers[m.Name]
		if !known {
			v, known = r.Content[strings.TrimSuffix(m.Name, "ttfo")+"ttft"]
		}
		if !known {
			return nil
		}
		values = append(values, v)
	}
	return values
}

// doubts are all doubts about a run among the point's. There is none about a TTFT that counts an
// empty chunk as a token if TTFT is compared from the first content on, and none about requests
// that waited for a slot if all runs have as many slots.
func (s *Sides) doubts(r *brief.Run) []string {
	found := slices.Clone(r.Doubts)
	median, _ := numbers.Find("median_ttft")
	if r.Early != "" && !s.fromContent(&median) {
		found = append(found, "SUSPECT: "+r.Early)
	}
	if r.Held != "" && !s.sameSlots() {
		found = append(found, "SUSPECT: "+r.Held)
	}
	return found
}

// sameSlots says whether all runs of the point have the same --max-concurrency.
func (s *Sides) sameSlots() bool {
	return len(asked.Values(brief.Asked(slices.Concat(s.Old, s.New)), "max-concurrency")) == 1
}
