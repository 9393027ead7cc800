package main

import (
	"context"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
)

func TestARunIsStoppedByItsOwnRule(t *testing.T) {
	for _, c := range []struct {
		rule          string
		failed, ended int
		want          bool
	}{
		{"0", 0, 100, false}, {"0", 1, 1, true}, {"10", 10, 10, false}, {"10", 11, 500, true},
		{"5%", 19, 19, false}, {"5%", 1, 20, false}, {"5%", 2, 20, true}, {"5%", 5, 100, false}, {"5%", 6, 100, true},
		{"0%", 1, 20, true}, {"0.5%", 1, 200, false}, {"0.5%", 1, 199, true}, {" 99.9 % ", 20, 20, true},
	} {
		rule, err := parseAbort(c.rule)
		if got := rule.broken(c.failed, c.ended); err != nil || got != c.want {
			t.Errorf("%q: %d of %d: %v, %v", c.rule, c.failed, c.ended, got, err)
		}
	}
	if new(abortRule).broken(math.MaxInt, math.MaxInt) {
		t.Error("no rule is broken")
	}
}

func TestARuleIsANumberOrAShare(t *testing.T) {
	for _, text := range []string{"", "%", "-1", "1.5", "5 percent", "100%", "-1%", "nan%", "inf%", "1e3"} {
		if _, err := parseRun([]string{"--abort-on-failures=" + text}); err == nil ||
			!strings.Contains(err.Error(), "argument --abort-on-failures: ") || !strings.HasSuffix(err.Error(), "as 10, or a share of them below 100%, as 5%") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestOnlyFailuresOfMeasuredRequestsStopARun(t *testing.T) {
	for class, want := range map[metrics.Class]bool{
		metrics.OK: false, metrics.Cancelled: false, metrics.Deadline: false, metrics.Overdue: true, metrics.Status: true,
	} {
		ctx, stop := context.WithCancelCause(t.Context())
		a := aborter{abortRule: abortRule{Text: "2", Count: 2}, stop: stop}
		for range 3 {
			a.take(&metrics.Record{Class: metrics.Status, Phase: metrics.WarmUp})
		}
		for range 3 {
			a.take(&metrics.Record{Class: class, Error: "boom"})
		}
		why, stopped := aborted(ctx)
		if stopped != want || want && why.Error() != "stopped by --abort-on-failures 2: 3 of 3 requests failed; 3 times: boom" {
			t.Errorf("%q: %v, %q", class, stopped, why)
		}
		stop(nil)
	}
}

// What is cut after an interrupt, or fails then, does not make it another end.
func TestAnInterruptBeforeFailuresIsNoAbortion(t *testing.T) {
	parent, interrupt := context.WithCancel(t.Context())
	ctx, stop := context.WithCancelCause(parent)
	a := aborter{abortRule: abortRule{Text: "0"}, stop: stop}
	interrupt()
	a.take(&metrics.Record{Class: metrics.Reset})
	if why, stopped := aborted(ctx); stopped {
		t.Error(why)
	}
}

// A share is looked at when a request was answered, too: only then may there be enough.
func TestEnoughAnswersShowThatTooManyFailed(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	a := aborter{abortRule: abortRule{Text: "50%", Share: 50}, stop: stop}
	for range 15 {
		a.take(&metrics.Record{Class: metrics.Reset})
	}
	for i := range 5 {
		if _, stopped := aborted(ctx); stopped {
			t.Fatalf("after %d", 15+i)
		}
		a.take(&metrics.Record{})
	}
	if why, _ := aborted(ctx); !strings.Contains(why.Error(), "15 of 20 requests failed") {
		t.Error(why)
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
		failed += m.sum.Failures()
		if !m.sum.Interrupted || !strings.HasPrefix(m.sum.StoppedBy, "--abort-on-failures 7: 8 of 8") {
			t.Errorf("%s: interrupted: %v, by %q", m.name, m.sum.Interrupted, m.sum.StoppedBy)
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
		if err != nil || o.config().IgnoreEOS != c.exact || o.config().OwnLength != c.free {
			t.Errorf("%s %s: %v", c.args, c.body, err)
		}
	}
}
