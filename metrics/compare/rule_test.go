package compare

import "testing"

// A sweep that its numbers ended without a verdict ended for a reader, too.
func TestReaderGivesUpAsTheSweep(t *testing.T) {
	for _, test := range []struct {
		most        int
		differences []float64
		want        Verdict
		why         string
	}{
		{4, []float64{0.05, 0.14, 0.06, 0.03}, Futile, "after 4 pairs, which are the most"},
		{5, []float64{0.5, -0.6, 0.5, -0.6}, Futile, "after 4 pairs: the chance of a decision by 5 is "},
		{20, []float64{0.05, 0.14, 0.06, 0.13}, NoVerdict, ""},
	} {
		old, new := inPairs(test.most, test.differences...)
		c := Compare(old, new, ttftGate())
		c.Conclude()
		if c.Verdict != test.want || len(c.Reasons) == 0 || c.Reasons[0][:min(len(c.Reasons[0]), len(test.why))] != test.why {
			t.Errorf("at most %d: %s %q, want %s", test.most, c.Verdict, c.Reasons, test.why)
		}
	}
}
