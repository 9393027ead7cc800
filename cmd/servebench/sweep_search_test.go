package main

import (
	"strings"
	"testing"

	"github.com/servebench/servebench/loadgen/sweep"
)

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
		_, err := sweep.Parse("plan.yaml", strings.NewReader(plan), (&sweepCommand{}).flags())
		switch {
		case row.want == "" && err != nil:
			t.Errorf("%s, %s: %v", row.load, row.slo, err)
		case row.want != "" && (err == nil || !strings.HasSuffix(err.Error(), ": until: slo: "+row.want)):
			t.Errorf("%s, %s: %v, want %s", row.load, row.slo, err, row.want)
		}
	}
	// A closed loop has as many as the server answers.
	const closed = "load: {duration: 1}\nuntil: {flag: max-concurrency, from: 1, to: 4, slo: {p99-ttft: 1}}\n"
	if _, err := sweep.Parse("plan.yaml", strings.NewReader(closed), (&sweepCommand{}).flags()); err != nil {
		t.Error(err)
	}
}
