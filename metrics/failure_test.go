package metrics

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/metrics/record"
)

func TestFailuresAreCountedByClass(t *testing.T) {
	refused := func(status int, message string) *record.Record {
		return &record.Record{Result: record.Result{Class: record.Status, Status: status, Error: message}}
	}
	c := NewCollector(&Header{})
	for _, r := range []*record.Record{
		refused(429, "slow down"), refused(503, "no room"), refused(429, "slow down"), refused(0, "of an old stream"),
		{Result: record.Result{Class: record.Reset, Error: "b"}}, {Result: record.Result{Class: record.Reset, Error: "a"}}, {Result: record.Result{Class: record.Cancelled, Error: "cut"}}, {Result: record.Result{Class: record.Deadline, Error: "cut"}},
		{Result: record.Result{Class: record.Reset, Error: "before"}, Phase: record.WarmUp}, arrived(record.Record{Tokens: record.Tokens{Out: 1}}, 5),
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
	if diff := cmp.Diff(want, s.Failing); diff != "" {
		t.Errorf("failing\n%s", diff)
	}
	if message, n := s.Failing[record.Reset].Messages.Commonest(); message != "a" || n != 1 {
		t.Errorf("commonest of equal ones: %q, %d", message, n)
	}
	if message, n := s.Errors.Commonest(); message != "cut" || n != 2 {
		t.Errorf("commonest of all: %q, %d", message, n)
	}
	if s.Failed != 8 || s.Failures() != 6 {
		t.Errorf("%d failed, of which %d are not cut by us", s.Failed, s.Failures())
	}
}
