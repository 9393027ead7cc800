package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/sweep"
)

// A search is priced by the most that its probes may cost: each as long as a run at its
// own value, three at either side of the edge, wherever that takes longest.
func TestTimeOfSearch(t *testing.T) {
	c, _ := planned(t, "load: {num-prompts: 100, random-output-len: 50}\nbetween: {pause: 5}\n"+
		"until: {flag: request-rate, from: 1, to: 3, slo: {mean-ttft: 1}}")
	// 1 passes, in 100 s and an answer of one, and 2 fails: three probes each.
	want := 3*(100*time.Second+50*time.Second) + 6*(time.Second+5*time.Second)
	if got := c.cellTime(sweep.Cell{}); got.Round(time.Second) != want {
		t.Errorf("%v, want %v", got, want)
	}
	if n := runsOf(c.plan); n != 6 {
		t.Errorf("%d probes", n)
	}
}

func TestWhatASearchFound(t *testing.T) {
	s := &sweep.Search{Flag: "request-rate", From: 1, To: 8, Step: 2}
	none := math.NaN()
	for _, row := range []struct {
		found sweep.Found
		want  string
	}{
		{sweep.Found{Passes: 5, Fails: 7, PassesBy: sweep.Votes{Passed: 2, Of: 3}, FailsBy: sweep.Votes{Passed: 0, Of: 3}, Why: "it is slow"},
			"request-rate 5 passes (2 of 3 probes) and 7 fails (0 of 3 probes): it is slow"},
		{sweep.Found{Passes: 7, Fails: none, PassesBy: sweep.Votes{Passed: 1, Of: 1}},
			"every request-rate up to 7 passes (1 of 1 probe there), and none above was tried"},
		{sweep.Found{Passes: none, Fails: 1, FailsBy: sweep.Votes{Passed: 1, Of: 3}, Why: "it is slow"},
			"no request-rate from 1 on passes (1 of 3 probes there): it is slow"},
	} {
		if got := foundBy(s, row.found); got != row.want {
			t.Errorf("%s, want %s", got, row.want)
		}
	}
}

// What is too little for a percentile is said before the first probe, as far as the plan
// tells, and what may be enough is not refused.
func TestTooFewValuesAreRefusedBeforeTheFirstProbe(t *testing.T) {
	for _, row := range []struct{ load, slo, want string }{
		{"num-prompts: 60", "p99-ttft: 500", "p99-ttft needs 1,000 requests a probe, num-prompts is 60"},
		{"num-prompts: 999", "mean-tpot: 1, p99-tpot: 500", "p99-tpot needs 1,000 requests a probe, num-prompts is 999"},
		{"num-prompts: 1000", "p99-ttft: 500", ""},
		{"", "p99-ttft: 500", ""}, // 1000 are the default
		{"", "p99.9-e2el: 500", "p99.9-e2el needs 10,000 requests a probe, num-prompts is 1000"},
		{"num-prompts: 19", "median-ttft: 500", "median-ttft needs 20 requests a probe, num-prompts is 19"},
		{"num-prompts: 1", "mean-ttft: 500", ""},
		{"num-prompts: 60, random-output-len: 16", "p99-itl: 500", "p99-itl needs 1,000 gaps between tokens a probe, and num-prompts is 60 with answers of 16 tokens has 900 at most"},
		{"num-prompts: 60, random-output-len: 16, random-range-ratio: 0.5", "p99-itl: 500", ""},
		{"num-prompts: 60, random-output-len: 18", "p99-itl: 500", ""},
		{"num-prompts: 60, dataset-name: sharegpt, dataset-path: x.json", "p99-itl: 500", ""},
		{"duration: 60", "p99-ttft: 500", "p99-ttft needs 1,000 requests a probe, request-rate 10 for 1m0s sends 600"},
		{"duration: 100", "p99-ttft: 500", ""},
		{"duration: 60, num-prompts: 2000", "p99-ttft: 500", "p99-ttft needs 1,000 requests a probe, request-rate 10 for 1m0s sends 600"},
		{"duration: 600, num-prompts: 200", "p99-ttft: 500", "p99-ttft needs 1,000 requests a probe, num-prompts is 200"},
		{"target: ['a=http://127.0.0.1:1', 'b=http://127.0.0.1:2,num-prompts=9']", "p99-ttft: 500", "p99-ttft needs 1,000 requests a probe, num-prompts is 9"},
	} {
		plan := "load: {" + row.load + "}\nuntil: {flag: request-rate, from: 10, to: 40, slo: {" + row.slo + "}}\n"
		err := (&sweepCommand{}).read("plan.yaml", strings.NewReader(plan))
		switch {
		case row.want == "" && err != nil:
			t.Errorf("%s, %s: %v", row.load, row.slo, err)
		case row.want != "" && (err == nil || !strings.HasSuffix(err.Error(), ": until: slo: "+row.want)):
			t.Errorf("%s, %s: %v, want %s", row.load, row.slo, err, row.want)
		}
	}
	// A closed loop has as many as the server answers.
	planned(t, "load: {duration: 1}\nuntil: {flag: max-concurrency, from: 1, to: 4, slo: {p99-ttft: 1}}\n")
}
