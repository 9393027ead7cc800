package export

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/numbers"
	"github.com/servebench/servebench/metrics/numpy"
)

// A benchmark is one number as github-action-benchmark reads it, with the members that its
// README documents for customSmallerIsBetter and customBiggerIsBetter.
type benchmark struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`           // the median of runs that repeat each other
	Range string  `json:"range,omitempty"` // their standard deviation
	Extra string  `json:"extra,omitempty"`
}

// smallerIsBetter writes the latencies for customSmallerIsBetter.
func smallerIsBetter(w io.Writer, runs []*runRow) error {
	return benchmarks(w, runs, func(m *metrics.Number) bool { return m.Better == metrics.Lower })
}

// biggerIsBetter writes the throughputs for customBiggerIsBetter.
func biggerIsBetter(w io.Writer, runs []*runRow) error {
	return benchmarks(w, runs, func(m *metrics.Number) bool { return m.Better == metrics.Higher })
}

// benchmarks writes the wanted metrics, of which no two have the same name.
func benchmarks(w io.Writer, runs []*runRow, wanted func(*metrics.Number) bool) error {
	all := []benchmark{} // null is no array
	named := names(runs)
	for _, name := range metrics.Distinct(named) {
		var repeats []*runRow
		for i, r := range runs {
			if named[i] == name {
				repeats = append(repeats, r)
			}
		}
		for _, m := range numbers.All() {
			if values := valuesOf(repeats, m.Name); values != nil && wanted(&m) {
				all = append(all, newBenchmark(name, &m, values))
			}
		}
	}
	if len(all) == 0 {
		return errors.New("these runs have no number to write")
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(all)
}

func newBenchmark(name string, m *metrics.Number, values []float64) benchmark {
	b := benchmark{Name: m.Name, Unit: string(m.Unit), Extra: metrics.Counted(len(values), "run")}
	if name != "" {
		b.Name = name + ": " + m.Name
	}
	slices.Sort(values)
	b.Value = rounded(numpy.Median(values))
	if len(values) > 1 {
		b.Range = fmt.Sprintf("± %.4g", numpy.SampleStd(values))
	}
	return b
}

// valuesOf are the known values of a metric.
func valuesOf(runs []*runRow, name string) (values []float64) {
	for _, r := range runs {
		if v, known := r.Numbers[name]; known {
			values = append(values, v)
		}
	}
	return values
}
