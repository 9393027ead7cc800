package neighbours

import (
	"bytes"
	"flag"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/targets"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report/reporttest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestGroupsAreAsInTheGoldenFiles(t *testing.T) {
	apart := reporttest.Pair(true)
	const ms = time.Millisecond
	apart.Shared[1] = reporttest.Loaded(metrics.Header{Target: "b", Group: "g", Delay: time.Hour, Config: metrics.Config{RequestRate: 1}}, 3, ms, ms)
	failed := reporttest.Pair(true)
	failed.Shared[1] = summed(failed.Shared[1], func(r *record.Record) { r.Result.Class, r.Result.Error = record.Status, "no" })
	for name, g := range map[string]*targets.Group{"group": reporttest.Pair(true), "group-shared": reporttest.Pair(false), "group-apart": apart, "group-failed": failed} {
		var b bytes.Buffer
		if err := Group(&b, g); err != nil {
			t.Fatal(err)
		}
		if err := GroupBlocks(&b, g, vllm.Version{}); err != nil {
			t.Fatal(err)
		}
		reporttest.Narrow(t, b.String())
		reporttest.Golden(t, *update, name+".txt", b.Bytes())
		b.Reset()
		if err := GroupJSON(&b, g, vllm.Version{}); err != nil {
			t.Fatal(err)
		}
		reporttest.GoldenJSON(t, *update, name+".json", b.Bytes())
	}
}

// summed sums the records of s up again, after a change to each.
func summed(s *metrics.Summary, change func(*record.Record)) *metrics.Summary {
	c := aspect.Collector(s.Header)
	c.Keep.Trace = true
	for r := range s.Measured() {
		change(r)
		c.Add(r)
	}
	return c.Summary(s.When.Seconds)
}

func TestATargetAmongNoOthersIsNoGroup(t *testing.T) {
	g := reporttest.Pair(true)
	g.Shared = g.Shared[:1]
	var b bytes.Buffer
	if err := Group(&b, g); err != nil || b.Len() > 0 {
		t.Errorf("%q, %v", b.String(), err)
	}
	if err := GroupJSON(&b, g, vllm.Version{}); err != nil || b.Len() > 0 {
		t.Errorf("%q, %v", b.String(), err)
	}
}
