package failures

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

const msec = time.Millisecond

func TestFailuresAreCountedByClass(t *testing.T) {
	refused := func(status int, message string) *record.Record {
		return &record.Record{Result: record.Result{Class: record.Status, Status: status, Error: message}}
	}
	c := metrics.NewCollector(&metrics.Header{}, Kind)
	for _, r := range []*record.Record{
		refused(429, "slow down"), refused(503, "no room"), refused(429, "slow down"), refused(0, "of an old stream"),
		{Result: record.Result{Class: record.Reset, Error: "b"}}, {Result: record.Result{Class: record.Reset, Error: "a"}}, {Result: record.Result{Class: record.Cancelled, Error: "cut"}}, {Result: record.Result{Class: record.Deadline, Error: "cut"}},
		{Result: record.Result{Class: record.Reset, Error: "before"}, Phase: record.WarmUp}, answered(),
	} {
		c.Add(r)
	}
	s := c.Summary(1)
	want := map[record.Class]*Failing{
		record.Status:    {4, map[int]int{429: 2, 503: 1}, map[string]int{"slow down": 2, "no room": 1, "of an old stream": 1}},
		record.Reset:     {2, map[int]int{}, map[string]int{"a": 1, "b": 1}},
		record.Cancelled: {1, map[int]int{}, map[string]int{"cut": 1}},
		record.Deadline:  {1, map[int]int{}, map[string]int{"cut": 1}},
	}
	if diff := cmp.Diff(want, Of(s).Classes); diff != "" {
		t.Errorf("failing\n%s", diff)
	}
	if message, n := Of(s).Classes[record.Reset].Messages.Commonest(); message != "a" || n != 1 {
		t.Errorf("commonest of equal ones: %q, %d", message, n)
	}
	if message, n := s.Printed.Errors.Commonest(); message != "cut" || n != 2 {
		t.Errorf("commonest of all: %q, %d", message, n)
	}
	if s.Failed != 8 || Uncut(s) != 6 {
		t.Errorf("%d failed, of which %d are not cut by us", s.Failed, Uncut(s))
	}
}

// answered is a request with an answer.
func answered() *record.Record {
	r := &record.Record{Tokens: record.Tokens{Out: 1}, Times: record.Times{Last: 5 * msec, End: 5 * msec}}
	r.Answer.Chunks.Append(5 * msec)
	return r
}

// refused is a request from when it is sent to when it fails.
func refused(sent, end time.Duration) *record.Record {
	return &record.Record{Times: record.Times{Due: sent, Slot: sent, Sent: sent, End: end}, Result: record.Result{Class: record.Status, Error: "no"}}
}

// A part of a run has the failures that happened within it, also of requests that were sent before.
func TestAPartHasTheFailuresThatHappenedWithin(t *testing.T) {
	c := metrics.NewCollector(&metrics.Header{}, Kind)
	c.Keep.Trace = true
	for _, r := range []*record.Record{refused(950*msec, 1010*msec), refused(1990*msec, 2010*msec), refused(1300*msec, 1310*msec), refused(100*msec, 900*msec)} {
		c.Add(r)
	}
	part := c.Summary(3).Within(metrics.Window{From: time.Second, To: 2 * time.Second})
	if f := Of(part).Classes[record.Status]; f.Requests != 2 || f.Messages["no"] != 2 || Uncut(part) != 2 || part.Failed != 2 {
		t.Errorf("%+v, %d failures of %d", f, Uncut(part), part.Failed)
	}
}

// A request whose answer came before it was sent fails.
func TestImpossibleTimesFail(t *testing.T) {
	c := metrics.NewCollector(&metrics.Header{}, Kind)
	early := answered()
	early.Times.Sent = 6 * msec
	c.Add(early)
	if s := c.Summary(1); Of(s).Requests(record.Malformed) != 1 || s.Failed != 1 {
		t.Errorf("%+v of %d", Of(s).Classes, s.Failed)
	}
}

func TestFailuresOfShardsAddUp(t *testing.T) {
	first, second := metrics.NewCollector(&metrics.Header{}, Kind), metrics.NewCollector(&metrics.Header{}, Kind)
	again := refused(0, msec)
	again.Attempts, again.Reconnects = 4, 1
	first.Add(refused(0, msec))
	second.Add(again)
	second.Add(&record.Record{Result: record.Result{Class: record.Reset}})
	first.Merge(second, time.Second)
	s := first.Summary(1)
	if f := Of(s); f.Requests(record.Status) != 2 || f.Requests(record.Reset) != 1 || f.Resent != (Resent{1, 2, 1}) || s.Failed != 3 {
		t.Errorf("%+v, %+v", f.Classes, f.Resent)
	}
}

func TestFactsNameTheClassesInOneOrder(t *testing.T) {
	c := metrics.NewCollector(&metrics.Header{}, Kind)
	for _, r := range []*record.Record{
		{Result: record.Result{Class: record.Timeout, Error: "late"}},
		{Result: record.Result{Class: record.Status, Status: 503, Error: "no room"}}, {Result: record.Result{Class: record.Status, Status: 429, Error: "slow down"}}, {Result: record.Result{Class: record.Status, Status: 429, Error: "slow down"}},
	} {
		c.Add(r)
	}
	classes := Of(c.Summary(1)).object()
	var names []string
	for _, member := range classes {
		names = append(names, member.Key)
	}
	var want []string
	for _, class := range record.Classes {
		if class == record.Timeout || class == record.Status {
			want = append(want, string(class))
		}
	}
	if !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}
