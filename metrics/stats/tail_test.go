package stats

import "testing"

func TestValuesNeededAreTheFewestThatAreNotFew(t *testing.T) {
	for p, want := range map[float64]int{50: 20, 1: 1000, 90: 100, 95: 200, 99: 1000, 99.9: 10000, 99.99: 100000, 97: 334} {
		n := ValuesNeeded(p)
		enough, few := TailSize{Percentile: p, N: n}, TailSize{Percentile: p, N: n - 1}
		if n != want || enough.Few() || !few.Few() {
			t.Errorf("P%g needs %d values, want %d; %g beyond, %g with one less", p, n, want, enough.Beyond(), few.Beyond())
		}
	}
	for _, p := range []float64{0, 100} {
		if size := (TailSize{Percentile: p, N: 1}); size.Few() {
			t.Errorf("P%g is what it is", p)
		}
	}
}
