package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/report/reporttest"
)

func TestIntervalsSayHowFarAPercentileMayBeOff(t *testing.T) {
	of := func(n int) *metrics.Distribution {
		var d metrics.Distribution
		for i := range n {
			d.Add(float64(i+1) / 1000)
		}
		return &d
	}
	for _, row := range []struct {
		n    int
		p    float64
		want string
	}{
		{0, 99, ""}, {1, 100, ""}, {1, 0, ""}, {1, 50, "≥ 0*"}, {1, 99, "≥ 1.00*"}, {100, 99, "≥ 97.00*"}, {100, 1, "≤ 4.00*"},
		{100, 50, "40.00–61.00"}, {100, 90, "84.00–96.00"}, {1000, 99, "983.0–997.0"}, {10000, 99, "9880–9920"},
	} {
		if got := Interval(of(row.n), row.p); got != row.want {
			t.Errorf("P%g of 1 to %d ms: %q, want %q", row.p, row.n, got, row.want)
		}
	}
}

func TestIntervalsOfGapsInAHistogramAreNotKnown(t *testing.T) {
	s := reporttest.Fair()
	c := aspect.Collector(s.Header)
	c.Cap = 100
	for i := range 30 {
		r := &record.Record{Index: i, Tokens: record.Tokens{Out: 10}}
		for j := range 10 {
			r.Answer.Chunks.Append(time.Duration(10+20*j) * ms)
		}
		r.Times.Last, r.Times.End = r.Answer.Chunks.Last(), r.Answer.Chunks.Last()
		c.Add(r)
	}
	var b bytes.Buffer
	if err := Truth(&b, c.Summary(1)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nTTFT  ", "\nITL, by request                                ?              ?*\n", "\n? not known: a histogram does not say which gaps are of one request\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, &b)
		}
	}
}
