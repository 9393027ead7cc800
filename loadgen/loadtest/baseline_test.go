package loadtest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/compare/numbers"
)

// stepping is a server each of whose steps takes so long.
func stepping(t *testing.T, step time.Duration) *sim.Server {
	t.Helper()
	server, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: vocabulary}, Cost: speed.Cost{Base: step}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

// keep writes a baseline of six runs on a server whose steps take 10 ms.
func keep(t *testing.T) string {
	t.Helper()
	runs, err := twenty(steady(t, "")).Repeat(t.Context(), 6)
	if err != nil {
		t.Fatal(err)
	}
	var b compare.Baseline
	if err := b.Add(runs, gating.Gate{}); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "baseline.json")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Write(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestOnlyAPassAgainstTheBaselinePasses(t *testing.T) {
	wide := gating.Default()
	for i := range wide.Limits {
		wide.Limits[i].Relative = 0.3
	}
	mean, _ := numbers.Find("mean_ttft")
	bound := gating.Gate{Bounds: []gating.Bound{{Number: mean, Most: 9}}}
	for name, row := range map[string]struct {
		step   time.Duration
		change func(*Load)
		b      Baseline
		want   compare.Verdict
		said   string
	}{
		"as it was":        {10 * time.Millisecond, nil, Baseline{}, compare.Pass, "new: 6 runs, 120 requests completed, 0 failed"},
		"better":           {5 * time.Millisecond, nil, Baseline{}, compare.Pass, "better: output_throughput, median_ttft, median_tpot"},
		"more runs":        {10 * time.Millisecond, nil, Baseline{Runs: 8}, compare.Pass, "new: 8 runs, "},
		"a fifth worse":    {12 * time.Millisecond, nil, Baseline{}, compare.Regressed, "- median_ttft +20.0 %, by at least 20.0 % (10.00 → 12.00 ms"},
		"within its limit": {12 * time.Millisecond, nil, Baseline{Gate: &wide}, compare.Pass, "PASS"},
		"beyond a bound":   {10 * time.Millisecond, nil, Baseline{Gate: &bound}, compare.Regressed, "- mean_ttft is 10.00 ms, above its ceiling of 9"},
		"too few runs":     {12 * time.Millisecond, nil, Baseline{Runs: 1}, compare.NoVerdict, "- too few runs: 6 old and 1 new"},
		"other prompts":    {10 * time.Millisecond, func(l *Load) { l.InputLen = 30 }, Baseline{}, compare.NoVerdict, "- not comparable: random-input-len is 20 in the old runs and 30 in the new ones"},
		"other answers":    {10 * time.Millisecond, func(l *Load) { l.OutputLen = 4 }, Baseline{}, compare.NoVerdict, "random-output-len is 3 in the old runs and 4 in the new ones"},
		"another load":     {10 * time.Millisecond, func(l *Load) { l.Concurrency = 1 }, Baseline{}, compare.NoVerdict, "max-concurrency is 2 in the old runs and 1 in the new ones"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				row.b.File = keep(t)
				load := twenty(stepping(t, row.step))
				if row.change != nil {
					row.change(load)
				}
				r := &recorder{ctx: t.Context()}
				c := load.TestAgainst(r, row.b)
				said, silent := r.errors, r.logs
				if row.want == compare.Pass {
					said, silent = silent, said
				}
				if c.Verdict != row.want || !strings.HasPrefix(said, string(row.want)+" against "+row.b.File+":\n") || !strings.Contains(said, row.said) || silent != "" {
					t.Errorf("%s, failed with %q, logged %q", c.Verdict, r.errors, r.logs)
				}
			})
		})
	}
}

func TestFailuresAreWorseThanAnyBaseline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorder{ctx: t.Context()}
		c := twenty(steady(t, "status=500")).TestAgainst(r, Baseline{File: keep(t), Runs: 1})
		if c.Verdict != compare.Regressed || !strings.Contains(r.errors, "- new run 1: no request completed") {
			t.Errorf("%s: %s", c.Verdict, r.errors)
		}
	})
}

func TestRepeatsHaveOtherPrompts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		load := twenty(steady(t, ""))
		load.Rate, load.Seed = 1, 7
		runs, err := load.Repeat(t.Context(), 2, metrics.Number{Name: "seed", Of: func(s *metrics.Summary) float64 { return float64(s.Header.Config.Seed) }})
		if err != nil || runs[0].Numbers["seed"] != 7 || runs[1].Numbers["seed"] != 8 || load.Seed != 7 {
			t.Errorf("%v, %+v, seed %d", err, runs, load.Seed)
		}
	})
}

func TestWithoutABaselineNothingIsCompared(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none.json")
	if err := os.WriteFile(none, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	var kept string
	synctest.Test(t, func(t *testing.T) {
		kept = keep(t)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		load := twenty(steady(t, ""))
		load.Model = "stub-32000"
		for _, row := range []struct {
			ctx  context.Context
			b    Baseline
			want string
		}{
			{t.Context(), Baseline{File: none + "x"}, "nothing was compared: open " + none + "x: "},
			{t.Context(), Baseline{File: none}, "nothing was compared: " + none + ": it is not a baseline: make one with servebench compare --save-baseline"},
			{t.Context(), Baseline{File: kept, Runs: -1}, "nothing was compared: runs -1: there must be at least 1"},
			{ended, Baseline{File: kept}, "nothing was compared: run 1 of 6: context canceled"},
		} {
			r := &recorder{ctx: row.ctx}
			func() {
				defer func() { recover() }()
				load.TestAgainst(r, row.b)
			}()
			if !strings.HasPrefix(r.fatal, row.want) {
				t.Errorf("ended with %q, want %q", r.fatal, row.want)
			}
		}
	})
}
