package stats

import (
	"fmt"
	"math"
	"testing"
)

func near(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b)) }

var (
	old = logs([]float64{40.1, 41.7, 39.2, 42.3, 40.9, 38.8})
	new = logs([]float64{44.0, 43.1, 46.2, 41.9, 45.5, 44.8})
)

// From numpy 2.4.6: mean, std(ddof=1), var(ddof=1) and linalg.lstsq. Unlike is from the formulas, by Python's statistics.
func TestEstimatesAreNumpys(t *testing.T) {
	var differences []float64
	for i := range old {
		differences = append(differences, new[i]-old[i])
	}
	detrended, trend := Detrended(old, new)
	for name, c := range map[string]struct{ got, want Estimate }{
		"paired":    {Paired(differences), Estimate{0.08850118596294676, 0.02697560400166266, 5}},
		"batches":   {Batches(old, new), Estimate{0.0885011859629472, 0.005809912738555945, 2}},
		"detrended": {detrended, Estimate{0.08779976483722765, 0.043194855702284374, 9}},
		"unlike":    {Unlike(old, new[:5]), Estimate{0.08592284879281209, 0.022565597757818974, 8.02472009450561}},
		"trend":     {trend, Estimate{0.00011690352095326297, 0.00625640185552261, 9}},
	} {
		if !near(c.got.Value, c.want.Value) || !near(c.got.Err, c.want.Err) || !near(c.got.DF, c.want.DF) {
			t.Errorf("%s: %+v, want %+v", name, c.got, c.want)
		}
	}
}

// The quantiles are in every table of the distribution.
func TestBoundsAreStudents(t *testing.T) {
	for _, c := range []struct{ df, p, quantile float64 }{{1, 0.05, 6.3138}, {3, 0.05, 2.3534}, {5, 0.025, 2.5706}, {30, 0.01, 2.4573}} {
		e := Estimate{1, 2, c.df}
		if up, low := e.Upper(c.p), e.Lower(c.p); math.Abs(up-1-2*c.quantile) > 1e-3 || math.Abs(low-1+2*c.quantile) > 1e-3 {
			t.Errorf("%v: from %v to %v", c, low, up)
		}
		if p := e.Above(1 - 2*c.quantile); math.Abs(p-c.p) > 1e-4 {
			t.Errorf("%v: p %v", c, p)
		}
		if p := e.Below(1 + 2*c.quantile); math.Abs(p-c.p) > 1e-4 {
			t.Errorf("%v: p %v below", c, p)
		}
	}
}

func TestTooFewValuesSayNothing(t *testing.T) {
	detrended, trend := Detrended([]float64{1}, []float64{2, 3})
	for _, e := range []Estimate{Paired([]float64{1}), Batches([]float64{1}, []float64{2, 3}), Unlike([]float64{1}, []float64{2, 3}), detrended, trend} {
		if e.Above(0) != 1 || e.Below(0) != 1 || !math.IsInf(e.Upper(0.05), 1) || !math.IsInf(e.Lower(0.05), -1) {
			t.Errorf("%+v", e)
		}
	}
	if e := Paired([]float64{1, 1, 1}); e.Above(0.5) != 0 || e.Above(1) != 1 || e.Upper(0.05) != 1 {
		t.Errorf("values that are all alike: %+v", e)
	}
}

func ExamplePaired() {
	e := Paired([]float64{0.09, 0.11, 0.08, 0.12})
	fmt.Printf("%.3f to %.3f, p %.4f\n", e.Lower(0.05), e.Upper(0.05), e.Above(0))
	// Output: 0.079 to 0.121, p 0.0008
}

func logs(values []float64) []float64 {
	logs := make([]float64, len(values))
	for i, v := range values {
		logs[i] = math.Log(v)
	}
	return logs
}
