package endings

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/tally"
)

// of are the finish reasons of a run of these requests.
func of(records ...*record.Record) tally.Reasons {
	c := metrics.NewCollector(&metrics.Header{}, Kind)
	for _, r := range records {
		c.Add(r)
	}
	return Of(c.Summary(1)).Reasons
}

// ended is a completed request with a finish reason.
func ended(reason string) *record.Record {
	return &record.Record{Answer: record.Answer{Finish: reason}}
}

func TestFinishReasonsOfAServerAreBounded(t *testing.T) {
	var records []*record.Record
	for i := range 25 {
		records = append(records, ended(fmt.Sprintf("reason %02d", i)))
	}
	records = append(records, ended("reason 03"), ended("reason 24"))
	reasons := of(records...)
	if len(reasons) != 20+1 || reasons["reason 03"] != 2 || reasons["(others)"] != 6 {
		t.Errorf("%v", reasons)
	}
	if blank := of(ended("\n"), ended("\x00")); !cmp.Equal(tally.Reasons{"(others)": 2}, blank) {
		t.Errorf("%v", blank)
	}
	long := of(ended("\x1b[31m\n"+strings.Repeat("ü", 1000)), ended("\x1b[31m\n"+strings.Repeat("ü", 1001)))
	if want := (tally.Reasons{"[31m" + strings.Repeat("ü", 14): 2}); !cmp.Equal(want, long) {
		t.Errorf("%v, want %v", long, want)
	}
}

func TestDifferingIsSoundOrBroken(t *testing.T) {
	o := Differing{record.DiffersCut: 2, record.DiffersEvent: 1, record.DiffersUnended: 4}
	if o.Sound() != 3 || o.Broken() != 4 || Differing(nil).Sound() != 0 {
		t.Errorf("%d sound, %d broken", o.Sound(), o.Broken())
	}
}
