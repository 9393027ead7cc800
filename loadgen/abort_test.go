package loadgen

import (
	"context"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics/record"
)

// rule is one as --abort-on-failures has it.
func rule(text string) AbortRule {
	var r AbortRule
	r.Text = text
	if share, ok := strings.CutSuffix(text, "%"); ok {
		r.Share, _ = strconv.ParseFloat(share, 64)
	} else {
		r.Count, _ = strconv.Atoi(text)
	}
	return r
}

func TestARunIsStoppedByItsOwnRule(t *testing.T) {
	for _, c := range []struct {
		rule          AbortRule
		failed, ended int
		want          bool
	}{
		{rule("0"), 0, 100, false}, {rule("0"), 1, 1, true}, {rule("10"), 10, 10, false}, {rule("10"), 11, 500, true},
		{rule("5%"), 19, 19, false}, {rule("5%"), 1, 20, false}, {rule("5%"), 2, 20, true}, {rule("5%"), 5, 100, false}, {rule("5%"), 6, 100, true},
		{rule("0%"), 1, 20, true}, {rule("0.5%"), 1, 200, false}, {rule("0.5%"), 1, 199, true}, {rule("99.9%"), 20, 20, true},
	} {
		if got := c.rule.Broken(c.failed, c.ended); got != c.want {
			t.Errorf("%+v: %d of %d: %v", c.rule, c.failed, c.ended, got)
		}
	}
	if new(AbortRule).Broken(math.MaxInt, math.MaxInt) {
		t.Error("no rule is broken")
	}
}

func TestOnlyFailuresOfMeasuredRequestsStopARun(t *testing.T) {
	for class, want := range map[record.Class]bool{
		record.OK: false, record.Cancelled: false, record.Deadline: false, record.Overdue: true, record.Status: true,
	} {
		ctx, stop := context.WithCancelCause(t.Context())
		a := aborter{AbortRule: AbortRule{Text: "2", Count: 2}, named: "Abort", stop: stop}
		for range 3 {
			a.take(&record.Record{Result: record.Result{Class: record.Status}, Phase: record.WarmUp})
		}
		for range 3 {
			a.take(&record.Record{Result: record.Result{Class: class, Error: "boom"}})
		}
		why, stopped := aborted(ctx)
		if stopped != want || want && why.Error() != "stopped by Abort 2: 3 of 3 requests failed; 3 times: boom" {
			t.Errorf("%q: %v, %q", class, stopped, why)
		}
		stop(nil)
	}
}

// What is cut after an interrupt, or fails then, does not make it another end.
func TestAnInterruptBeforeFailuresIsNoAbortion(t *testing.T) {
	parent, interrupt := context.WithCancel(t.Context())
	ctx, stop := context.WithCancelCause(parent)
	a := aborter{AbortRule: AbortRule{Text: "0"}, stop: stop}
	interrupt()
	a.take(&record.Record{Result: record.Result{Class: record.Reset}})
	if why, stopped := aborted(ctx); stopped {
		t.Error(why)
	}
}

// A share is looked at when a request was answered, too: only then may there be enough.
func TestEnoughAnswersShowThatTooManyFailed(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	a := aborter{AbortRule: AbortRule{Text: "50%", Share: 50}, stop: stop}
	for range 15 {
		a.take(&record.Record{Result: record.Result{Class: record.Reset}})
	}
	for i := range 5 {
		if _, stopped := aborted(ctx); stopped {
			t.Fatalf("after %d", 15+i)
		}
		a.take(&record.Record{})
	}
	if why, _ := aborted(ctx); !strings.Contains(why.Error(), "15 of 20 requests failed") {
		t.Error(why)
	}
}
