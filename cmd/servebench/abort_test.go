package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics/aspect/failures"
)

func TestARuleIsANumberOrAShare(t *testing.T) {
	for _, text := range []string{"", "%", "-1", "1.5", "5 percent", "100%", "-1%", "nan%", "inf%", "1e3"} {
		if _, err := parseRun([]string{"--abort-on-failures=" + text}); err == nil ||
			!strings.Contains(err.Error(), "argument --abort-on-failures: ") || !strings.HasSuffix(err.Error(), "as 10, or a share of them below 100%, as 5%") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestFailuresOfAllTargetsCountTogether(t *testing.T) {
	url := watchedSim(t, func(r *http.Request) { r.Header.Set("X-Sim-Fault", "status=503") })
	o := mustParse(t, "--num-prompts 5000 --random-input-len 4 --random-output-len 2 --abort-on-failures 7 --drain-timeout 0 --max-concurrency 1",
		"--target", "a="+url, "b="+url)
	e := newExperiment(o, io.Discard, io.Discard)
	err := e.run(t.Context())
	if err == nil || !strings.HasPrefix(err.Error(), "stopped by --abort-on-failures 7: 8 of 8 requests failed; 8 times: 503 ") {
		t.Fatal(err)
	}
	failed := 0
	for _, m := range e.done {
		failed += failures.Uncut(m.Summary)
		if !m.Summary.Ending.Interrupted || !strings.HasPrefix(m.Summary.Ending.StoppedBy, "--abort-on-failures 7: 8 of 8") {
			t.Errorf("%s: interrupted: %v, by %q", m.Plan.Target, m.Summary.Ending.Interrupted, m.Summary.Ending.StoppedBy)
		}
	}
	// Some may fail until those that did are looked at.
	if failed < 8 || failed == 2*5000 {
		t.Errorf("%d failed", failed)
	}
}

func TestAnswersAreAsLongAsAskedUnlessTheBodySaysElse(t *testing.T) {
	for _, c := range []struct {
		args        string
		body        string
		exact, free bool
	}{
		{"", "", true, false}, {"--dataset-name custom --dataset-path x.jsonl", "", false, false},
		{"--dataset-name custom --dataset-path x.jsonl --ignore-eos", "", true, false},
		{"", `{"top_p": 0.5}`, true, false}, {"", `{"ignore_eos": false}`, false, false}, {"", `{"stop": "x"}`, false, false},
		{"--drop-body max_tokens", "", false, true}, {"--drop-body ignore_eos", "", false, false},
		{"", `{"max_tokens": 7}`, false, true}, {"", `{"max_completion_tokens": 7}`, false, true}, {"", `{"n": 2}`, false, true},
	} {
		args := strings.Fields(c.args)
		if c.body != "" {
			args = append(args, "--extra-body", c.body)
		}
		o, err := parseRun(args)
		if err != nil || o.Plan.Config().IgnoreEOS != c.exact || o.Plan.Config().Traits.OwnLength != c.free {
			t.Errorf("%s %s: %v", c.args, c.body, err)
		}
	}
}

func TestAnswersOfARequestAreKnown(t *testing.T) {
	for body, want := range map[string]int{`{"n": 3}`: 3, `{"n": 2, "best_of": 5}`: 5, `{"n": 1}`: 0, `{"n": "many"}`: 0, `{"n": 1e300}`: 0, `{"top_p": 0.5}`: 0} {
		o, err := parseRun([]string{"--extra-body", body})
		if err != nil || o.Plan.Config().Traits.Answers != want {
			t.Errorf("%s: %d answers, %v, want %d", body, o.Plan.Config().Traits.Answers, err, want)
		}
	}
}
