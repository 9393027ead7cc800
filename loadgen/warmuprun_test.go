package loadgen

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/faults"
	"github.com/servebench/servebench/loadgen/spool"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/stream"
	"github.com/servebench/servebench/metrics/vllm"
)

// warmed is a run with a warm-up on a server in memory, and its record stream.
func warmed(t *testing.T, misdeeds string, traffic Traffic) (*metrics.Summary, string) {
	t.Helper()
	list, err := faults.Parse(misdeeds)
	if err != nil {
		t.Fatal(err)
	}
	server, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}, Faults: faults.Plan{List: list}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	var records bytes.Buffer
	to := spool.To(&records)
	traffic.WarmUp = 300 * time.Millisecond
	p := &Plan{
		Server:   Server{Handler: server, Tokenizer: "stub-32000"},
		Workload: Workload{NumPrompts: 12, Random: dataset.Random{InputLen: 5, OutputLen: 10}},
		Traffic:  traffic,
		Keep:     Keep{Records: to},
	}
	sums, err := p.Run(t.Context(), nil)
	to.End(spool.Waiting{Context: t.Context()})
	if len(sums) != 1 {
		t.Fatal(err)
	}
	return sums[0], records.String()
}

// The requests of a warm-up are in the records and nowhere else, and both readings agree.
func TestWarmUpIsInTheRecordsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sum, records := warmed(t, "", Traffic{MaxConcurrency: new(4)})
		if n := strings.Count(records, `"phase":"warm-up"`); sum.Completed != 12 || n < 4 {
			t.Errorf("%d requests and %d of the warm-up, want 12 and at least 4", sum.Completed, n)
		}
		again, err := stream.Read(strings.NewReader(records), metrics.Ask{})
		if err != nil {
			t.Fatal(err)
		}
		var live, read strings.Builder
		if vllm.Block(&live, sum, vllm.Version{}); vllm.Block(&read, again[0], vllm.Version{}) != nil || live.String() != read.String() {
			t.Errorf("live\n%s\nread\n%s", &live, &read)
		}
	})
}

func TestFailuresOfAWarmUpAreSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sum, _ := warmed(t, "status=500", Traffic{RequestRate: 40})
		if found := strings.Join(sum.Ending.Warnings, "\n"); !strings.Contains(found, " of the warm-up failed, the first: 500 ") {
			t.Errorf("warnings: %s", found)
		}
	})
}
