package compare

import (
	"slices"

	"github.com/servebench/servebench/metrics"
)

// content are the known numbers of TTFT and TPOT from the first content on, nil for
// none.
func content(s *metrics.Summary, all []Metric) map[string]float64 {
	var found map[string]float64
	for _, m := range all {
		if d := s.FromContent(m.latency); d != nil {
			if found == nil {
				found = map[string]float64{}
			}
			found[m.Name] = m.statistic(d)
		}
	}
	return found
}

// fromContent reports that a number of TTFT or TPOT is compared from the first content on, because
// all runs of both sides know it.
func (p *Point) fromContent(m *Metric) bool {
	unknown := func(r *Run) bool {
		_, known := r.Content[m.Name]
		return !known
	}
	return !slices.ContainsFunc(p.Old, unknown) && !slices.ContainsFunc(p.New, unknown)
}

// values are the values of a metric in some of the point's runs, nil if one has none.
func (p *Point) values(m *Metric, runs []*Run) []float64 {
	if !p.fromContent(m) {
		return m.values(runs)
	}
	var values []float64
	for _, r := range runs {
		values = append(values, r.Content[m.Name])
	}
	return values
}

// early are the doubts about a run whose TTFT counts an empty chunk as a token. There
// are none where TTFT is compared from the first content on.
func (p *Point) early(r *Run) []string {
	median, _ := Find("median_ttft")
	if r.Early == "" || p.fromContent(&median) {
		return nil
	}
	return []string{"SUSPECT: " + r.Early}
}
