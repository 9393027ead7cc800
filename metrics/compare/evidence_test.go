package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/numpy"
)

// valued are runs as arranged has them, with 50 values of TTFT each, and the distributions by run.
func valued(order string) (old, new []*brief.Run, values map[*brief.Run]*metrics.Distribution) {
	old, new = arranged(order)
	random := rand.New(rand.NewPCG(1, 2))
	values = map[*brief.Run]*metrics.Distribution{}
	for _, r := range slices.Concat(old, new) {
		s := aspect.Collector(&metrics.Header{}).Summary(1)
		for range 50 {
			s.TTFT.Add(random.ExpFloat64())
		}
		of := brief.Of(s, nil)
		r.Numbers, r.Source.Resampled, values[r] = of.Numbers, of.Source.Resampled, &s.TTFT
	}
	return old, new, values
}

// rowOf is the row of a metric in the only point of a comparison.
func rowOf(t *testing.T, c *Comparison, name string) *Row {
	t.Helper()
	i := slices.IndexFunc(c.Points[0].Rows, func(r Row) bool { return r.Number.Name == name })
	if i < 0 {
		t.Fatalf("no row of %s", name)
	}
	return &c.Points[0].Rows[i]
}

func TestPercentilesOfPairsAreResampled(t *testing.T) {
	old, new, values := valued("ABBAAB")
	c := Compare(old, new, gating.Default())
	for name, of := range map[string]func(*metrics.Distribution) float64{
		"mean_ttft":   (*metrics.Distribution).Mean,
		"median_ttft": func(d *metrics.Distribution) float64 { return d.Resampled(50) },
		"p99_ttft":    func(d *metrics.Distribution) float64 { return d.Resampled(99) },
	} {
		row := rowOf(t, c, name)
		for i, got := range row.Evidence.Differences {
			if want := math.Log(of(values[new[i]]) / of(values[old[i]])); math.Abs(got-want) > 1e-12 {
				t.Errorf("%s of pair %d: %v, want %v", name, i+1, got, want)
			}
		}
		if len(row.Evidence.Differences) != 3 || row.Evidence.Resampled != (name != "mean_ttft") {
			t.Errorf("%s: %v, resampled %t", name, row.Evidence.Differences, row.Evidence.Resampled)
		}
		if name == "p99_ttft" && row.Old.Center != numpy.Median(slices.Sorted(slices.Values([]float64{
			values[old[0]].Percentile(99), values[old[1]].Percentile(99), values[old[2]].Percentile(99)}))) {
			t.Errorf("the old median is %v", row.Old.Center)
		}
	}
}

// A run from a result file has no values, and without pairs there are no differences.
func TestOtherPercentilesAreNotResampled(t *testing.T) {
	old, new, _ := valued("AAABBB")
	if row := rowOf(t, Compare(old, new, gating.Default()), "p99_ttft"); row.Evidence.Resampled {
		t.Error("one side after the other")
	}
	old, new, _ = valued("ABBAAB")
	new[1].Source.Resampled = nil
	row := rowOf(t, Compare(old, new, gating.Default()), "p99_ttft")
	if want := math.Log(new[0].Numbers["p99_ttft"] / old[0].Numbers["p99_ttft"]); row.Evidence.Resampled || math.Abs(row.Evidence.Differences[0]-want) > 1e-12 {
		t.Errorf("resampled %t, %v, want %v", row.Evidence.Resampled, row.Evidence.Differences, want)
	}
}
