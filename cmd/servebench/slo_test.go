package main

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
)

func FuzzParseGoodput(f *testing.F) {
	f.Add("ttft:100 e2el:2_000.5 ttft:3")
	f.Add("tpot:inf job:60000")
	f.Add("ttft:nan e2el:-0")
	f.Fuzz(func(t *testing.T, text string) {
		slos, err := parseGoodput(strings.Fields(text))
		if err != nil {
			return
		}
		var again []string
		for i, s := range slos {
			if math.IsNaN(s.Limit) || s.Limit < 0 || slices.ContainsFunc(slos[:i], func(o metrics.SLO) bool { return o.Metric == s.Metric }) {
				t.Errorf("%q gave %+v", text, slos)
			}
			again = append(again, s.Metric+":"+metrics.FormatFloat(s.Limit))
		}
		if same, err := parseGoodput(again); err != nil || !slices.Equal(same, slos) {
			t.Errorf("%q gave %+v, and that %+v, %v", text, slos, same, err)
		}
	})
}

func TestALimitMayBeOfASession(t *testing.T) {
	slos, err := parseGoodput([]string{"ttft:500", "job:60000"})
	if want := []metrics.SLO{{Metric: "ttft", Limit: 500}, {Metric: metrics.JobSLO, Limit: 60000}}; err != nil || !slices.Equal(slos, want) {
		t.Errorf("%+v, %v", slos, err)
	}
}
