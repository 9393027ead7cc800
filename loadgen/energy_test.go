package loadgen

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/gpupower"
	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/gpus"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	compared "github.com/servebench/servebench/metrics/compare/numbers"
	"github.com/servebench/servebench/metrics/slicing"
)

// powered is a plan of six requests, one each 700 ms, on a server in memory that takes 100 ms for each
// of its tokens, on a board of 100 W that takes 600 W under load. The server reports both.
func powered(t *testing.T, b *gpupower.Board, name string, out int) *Plan {
	t.Helper()
	server, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}, Cost: speed.Cost{Base: 100 * time.Millisecond}, Device: sim.Device{Board: b}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return &Plan{
		Target:   name,
		Server:   Server{Handler: server, Tokenizer: "stub-32000"},
		Workload: Workload{NumPrompts: 6, Random: dataset.Random{InputLen: 20, OutputLen: out}},
		Traffic:  Traffic{RequestRate: 10. / 7, Burstiness: math.Inf(1)},
		Watch:    Watch{GPU: "http://handler"},
		Report:   Report{Price: 3.60, GPUs: 2},
	}
}

// joules is what the board takes in a window in which the server has requests for that long.
func joules(window float64, busy time.Duration) float64 { return 100*window + 500*busy.Seconds() }

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-5*want }

func TestEnergyIsWhatTheServerTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := powered(t, gpupower.New(100, 600), "", 3)
		plan.Keep.Requests = true
		sums, err := plan.Run(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		s := sums[0]
		e, want := gpus.Energy(s), joules(s.When.Seconds, s.Truth.Busy)
		if e == nil || e.Unknown != "" || !e.Counted || !near(e.Joules, want) {
			t.Fatalf("%+v, want %v J in %v s, busy for %v", e, want, s.When.Seconds, s.Truth.Busy)
		}
		if s.Truth.Busy < 1800*time.Millisecond || s.Truth.Busy > 1810*time.Millisecond || s.Totals.Output != 18 {
			t.Errorf("busy for %v, %d tokens", s.Truth.Busy, s.Totals.Output)
		}
		if got := e.PerToken(s.Totals.Output); !near(got, want/18) {
			t.Errorf("%v J for each of %d tokens, want %v", got, s.Totals.Output, want/18)
		}
		if got := gpus.Dollars(s); !near(got, 2*s.When.Seconds/1000) {
			t.Errorf("$%v for %v s", got, s.When.Seconds)
		}
		// Slices of a second begin and end at readings.
		parts, err := slicing.Slice(s, time.Second)
		if err != nil || len(parts) != 5 {
			t.Fatal(len(parts), err)
		}
		sum := 0.0
		for i := range parts {
			busy := time.Duration(0) // no two requests overlap
			for r := range s.Measured() {
				w := parts[i].Meet(metrics.Window{From: r.Times.Sent, To: r.Times.End})
				busy += max(0, w.To-w.From)
			}
			got, want := parts[i].Seen.GPUEnergy, joules(parts[i].Seconds(), busy)
			if got == nil || !near(*got, want) {
				t.Fatalf("slice %d: %v J, want %v", i, got, want)
			}
			sum += *got
		}
		if !near(sum, e.Joules) {
			t.Errorf("the slices have %v J, the run %v", sum, e.Joules)
		}
		if part := s.Within(metrics.Window{From: time.Second, To: 2 * time.Second}); !near(gpus.Energy(part).Joules, *parts[1].Seen.GPUEnergy) || !near(gpus.Dollars(part), 0.002) {
			t.Errorf("%+v, $%v", gpus.Energy(part), gpus.Dollars(part))
		}
	})
}

// Two servers share a board. Both have requests at the same times, but the second has twice as long
// answers.
func TestTargetsShareEnergyByBusyTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := gpupower.New(100, 600)
		plan := &Plan{Targets: []*Plan{powered(t, b, "a", 3), powered(t, b, "b", 6)}, Watch: Watch{GPU: "http://handler"}}
		sums, err := plan.Run(t.Context(), nil)
		if err != nil || len(sums) != 2 {
			t.Fatal(err, len(sums))
		}
		x, y := sums[0], sums[1]
		all := joules(y.When.Seconds, y.Truth.Busy) // b is busy whenever a is
		share := x.Truth.Busy.Seconds() / (x.Truth.Busy + y.Truth.Busy).Seconds()
		if math.Abs(share-1./3) > 0.001 || gpus.Energy(x).Share != share || !near(gpus.Energy(x).Joules, all*share) || !near(gpus.Energy(y).Joules, all*(1-share)) {
			t.Errorf("share %v of %v J: %+v and %+v", share, all, gpus.Energy(x), gpus.Energy(y))
		}
		if got := gpus.Dollars(x) + gpus.Dollars(y); !near(got, 2*y.When.Seconds/1000) {
			t.Errorf("$%v together in %v s", got, y.When.Seconds)
		}
	})
}

// A target that has its own GPUs takes no part in the split, and no sample of theirs counts for
// another.
func TestTargetsOnTheirOwnGPUsShareNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := gpupower.New(100, 600), gpupower.New(10, 60)
		plan := &Plan{Targets: []*Plan{powered(t, one, "a", 3), powered(t, two, "b", 3)}}
		for i, p := range plan.Targets {
			p.Watch.OwnGPU = true
			p.Watch.GPU = []string{"http://handler", "http://handler-2"}[i]
			p.Flags = []metrics.KV{{Key: "gpu-metrics", Value: p.Watch.GPU}}
		}
		sums, err := plan.Run(t.Context(), nil)
		if err != nil || len(sums) != 2 {
			t.Fatal(err, len(sums))
		}
		a, b := sums[0], sums[1]
		if e := gpus.Energy(a); e.Share != 1 || !near(e.Joules, joules(a.When.Seconds, a.Truth.Busy)) {
			t.Errorf("%+v", e)
		}
		if e := gpus.Energy(b); e.Share != 1 || !near(e.Joules, joules(b.When.Seconds, b.Truth.Busy)/10) {
			t.Errorf("%+v", e)
		}
	})
}

// The energy of the same work on a board that takes a tenth more is a regression, and nothing else is.
func TestCompareFindsATenthMoreEnergy(t *testing.T) {
	limit, found := compared.Find("joules_per_output_token")
	if !found {
		t.Fatal("no such metric")
	}
	gate := gating.Gate{Unit: gating.PerRun, Limits: []gating.Margin{{Number: limit, Relative: 0.05}}}
	side := func(watts float64) (runs []*metrics.Summary) {
		for seed := range 6 {
			synctest.Test(t, func(t *testing.T) {
				plan := powered(t, gpupower.New(watts/6, watts), "", 3)
				plan.Workload.Seed = int64(seed)
				plan.Traffic.Burstiness = 1
				sums, err := plan.Run(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				runs = append(runs, sums...)
			})
		}
		return runs
	}
	for watts, want := range map[float64]compare.Verdict{600: compare.Pass, 660: compare.Regressed} {
		c := compare.Compare(brief.Runs(side(600)), brief.Runs(side(watts)), gate)
		if c.Verdict != want {
			t.Errorf("%v W: %s: %q", watts, c.Verdict, c.Reasons)
		}
	}
}
