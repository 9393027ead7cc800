package main

import (
	"math"
	"strings"
	"testing"
)

func TestTimedRunHasTheRequestsOfItsTime(t *testing.T) {
	for line, want := range map[string]int{
		"--duration 3s --request-rate 2.5":                                                                            8,
		"--duration 3s --request-rate 2.5 --num-prompts 5":                                                            5,
		"--rate-curve steps:0=2,10=3,20=1 --burstiness inf":                                                           50,
		"--rate-curve steps:0=2,10=3,20=1 --burstiness inf --duration 30":                                             60,
		"--rate-curve steps:0=2,10=3,20=1 --burstiness inf --num-prompts 7":                                           7,
		"--duration 10 --ramp-up-strategy linear --ramp-up-start-rps 5 --ramp-up-end-rps 5":                           50,
		"--duration 3s --max-concurrency 4":                                                                           0,
		"--duration 3s --max-concurrency 4 --num-prompts 9":                                                           9,
		"--duration 3s --request-rate 2 --dataset-name timed_trace --dataset-path x --no-self-timed --num-prompts 33": 33,
	} {
		o := mustParse(t, line)
		c := o.Plan.Config()
		if c.NumPrompts != want {
			t.Errorf("%s: %d prompts, want %d", line, c.NumPrompts, want)
		}
		recorded := false
		for _, kv := range o.Plan.Flags {
			recorded = recorded || kv.Key == "num-prompts"
		}
		if given := strings.Contains(line, "--num-prompts"); recorded != given {
			t.Errorf("%s: num-prompts recorded: %v", line, recorded)
		}
	}
}

func TestDatasetWithTimesOfItsOwnKeepsItsNumberOfPrompts(t *testing.T) {
	o := mustParse(t, "--duration 3s --dataset-name timed_trace --dataset-path x")
	if n := o.Plan.Config().NumPrompts; n != 1000 || o.Plan.Traffic.Timed(&o.Plan.Workload) || o.Plan.Traffic.Endless(&o.Plan.Workload) {
		t.Errorf("%d prompts, by its time: %v, without end: %v", n, o.Plan.Traffic.Timed(&o.Plan.Workload), o.Plan.Traffic.Endless(&o.Plan.Workload))
	}
}

func TestConfigSaysWhatShapeTheLoadHas(t *testing.T) {
	c := mustParse(t, "--rate-curve up-down:1,2 --duration 90s").Plan.Config()
	if c.RateCurve != "up-down:1,2" || c.Duration != 90 || !math.IsInf(c.RequestRate, 1) {
		t.Errorf("%+v", c)
	}
}
