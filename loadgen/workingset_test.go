package loadgen

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/dataset/sessions"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/loadgen/sim/steps"
	"github.com/servebench/servebench/metrics"
	jobs "github.com/servebench/servebench/metrics/aspect/sessions"
)

// A workingSet is a load of sessions on a server whose prefix cache holds some of them.
type workingSet struct {
	sessions, turns   int
	first, later, out int // tokens
	cache             int // sessions that the cache holds
	requests, atOnce  int // bounds: --max-concurrency and --max-sessions; 0 for none
	think             time.Duration
}

// run returns the summary, and how many prompt tokens the server found in its cache.
func (w workingSet) run(t *testing.T) (s *metrics.Summary, found int) {
	t.Helper()
	var hits atomic.Int64
	longest := w.first + (w.turns-1)*w.later + w.turns*w.out
	server, err := sim.New(sim.Config{
		Tokenizer: tokenizer.Stub{Size: 32000}, Cost: speed.Cost{Base: time.Millisecond, PerPromptToken: 50 * time.Microsecond},
		Trace: func(x steps.Trace) { hits.Add(int64(x.Found)) },
		Cache: sim.Cache{Prefixes: true, Blocks: w.cache * (longest/16 + 1)}, Answers: sim.Answers{CachedTokens: true}, Limits: sim.Limits{ModelLen: longest},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	plan := &Plan{
		Server:   Server{Handler: server, Tokenizer: "stub-32000"},
		Workload: Workload{NumPrompts: w.sessions, Random: dataset.Random{InputLen: w.first, OutputLen: w.out}, Settings: kinds.Settings{MultiTurn: kinds.MultiTurn{On: true, Min: w.turns, Max: w.turns, Delay: w.think, Random: sessions.Random{Lengths: sessions.Lengths{Later: w.later}}}}},
		Sampling: Sampling{IgnoreEOS: true},
	}
	if w.requests > 0 {
		plan.Traffic.MaxConcurrency = &w.requests
	}
	if w.atOnce > 0 {
		plan.Traffic.MaxSessions = &w.atOnce
	}
	sums, err := plan.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return sums[0], int(hits.Load())
}

// known is how many prompt tokens a cache of all sessions has: whole blocks of each history, whose
// last token nobody has computed yet.
func (w workingSet) known() (n int) {
	for turn := range w.turns - 1 {
		n += (w.first + turn*w.later + (turn+1)*w.out - 1) / 16 * 16
	}
	return n * w.sessions
}

// TestBoundsMakeTheWorkingSet has the same sessions sent within a bound on requests and within one
// on sessions. In their gaps, a bound on requests lets more sessions begin, until all of them take
// turns: then the cache has forgotten each before it goes on, and finds nothing.
func TestBoundsMakeTheWorkingSet(t *testing.T) {
	loads := []workingSet{{sessions: 40, turns: 5, first: 512, later: 128, out: 64, cache: 8, requests: 4, think: time.Minute}}
	if os.Getenv("FULL") == "1" {
		loads = append(loads, workingSet{sessions: 200, turns: 10, first: 512, later: 128, out: 64, cache: 20, requests: 10, think: time.Minute})
	}
	for _, w := range loads {
		synctest.Test(t, func(t *testing.T) {
			for _, bounded := range []bool{false, true} {
				want := 0
				if bounded {
					w.atOnce, want = w.requests, w.known()
				}
				s, found := w.run(t)
				cache := jobs.Of(s).Cache.Known()
				if s.Completed != w.sessions*w.turns || found != want || cache.Cached != want {
					t.Errorf("%d sessions, bounded %t: %d requests completed, and the cache had %d of %d prompt tokens, by usage %d, want %d",
						w.sessions, bounded, s.Completed, found, s.Totals.Input, cache.Cached, want)
				}
				t.Logf("%d sessions at %d requests and %d sessions at once: %d of %d prompt tokens found (%.1f %%), mean TTFT %.1f ms",
					w.sessions, w.requests, w.atOnce, found, s.Totals.Input, 100*float64(found)/float64(s.Totals.Input), s.TTFT.Mean())
			}
		})
	}
}

// A row is one of Mooncake's traces.
type row struct {
	Timestamp int64 `json:"timestamp"`
	Input     int   `json:"input_length"`
	Output    int   `json:"output_length"`
	Blocks    []int `json:"hash_ids"`
}

// rowsOfOurs are rows that go on from one another as the public trace's do: an id has always the same
// ids before it.
func rowsOfOurs() (rows []row) {
	rng := rand.New(rand.NewPCG(7, 7))
	paths, last := [][]int{nil}, 0
	for i := range 60 {
		blocks := slices.Clone(paths[rng.IntN(len(paths))])
		for range 1 + rng.IntN(3) {
			last++
			blocks = append(blocks, last)
		}
		paths = append(paths, blocks)
		last++
		rows = append(rows, row{int64(i) * 50, 512*len(blocks) + 1 + rng.IntN(511), 1, append(slices.Clone(blocks), last)})
	}
	return rows
}

// foundIn is how many prompt tokens a cache without limit has of rows that come one at a time: of the
// ids that begin a row and have begun one before it, whole blocks of 16 tokens, and not the last
// token.
func foundIn(rows []row) (found int) {
	begun := map[string]bool{}
	for _, r := range rows {
		known := 0
		for known < len(r.Blocks) && begun[fmt.Sprint(r.Blocks[:known+1])] {
			known++
		}
		found += min(512*known, (r.Input-1)/16*16)
		for n := range r.Blocks {
			begun[fmt.Sprint(r.Blocks[:n+1])] = true
		}
	}
	return found
}

// TestMooncakeFindsItsPrefixes replays a trace on the simulator. SERVEBENCH_MOONCAKE_400 may name the public
// trace's file, or the first rows of it, which are then replayed, too.
func TestMooncakeFindsItsPrefixes(t *testing.T) {
	traces := map[string][]row{"ours": rowsOfOurs()}
	if file := os.Getenv("SERVEBENCH_MOONCAKE_400"); file != "" {
		traces[filepath.Base(file)] = readRows(t, file)
	}
	for name, rows := range traces {
		want, all := foundIn(rows), 0
		var text []byte
		for _, r := range rows {
			line, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			text, all = append(append(text, line...), '\n'), all+r.Input
		}
		file := filepath.Join(t.TempDir(), "trace.jsonl")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		synctest.Test(t, func(t *testing.T) {
			var hits atomic.Int64
			server, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}, Cost: speed.Cost{Base: time.Millisecond},
				Trace:  func(x steps.Trace) { hits.Add(int64(x.Found)) },
				Limits: sim.Limits{ModelLen: 200_000, NumBatchedTokens: 200_000}, Cache: sim.Cache{Prefixes: true}})
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			one := 1
			plan := &Plan{Server: Server{Handler: server, Tokenizer: "stub-32000"}, Workload: Workload{Dataset: "mooncake", Path: file, SelfTimed: true},
				Traffic: Traffic{MaxConcurrency: &one}}
			sums, err := plan.Run(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			s := sums[0]
			if s.Completed != len(rows) || s.Totals.Input != all || int(hits.Load()) != want || want == 0 {
				t.Errorf("%s: %d of %d requests completed, %d of %d prompt tokens found, want %d of %d", name, s.Completed, len(rows), hits.Load(), s.Totals.Input, want, all)
			}
			t.Logf("%s: %d of %d prompt tokens found", name, hits.Load(), s.Totals.Input)
		})
	}
}

// readRows reads rows and cuts their outputs to one token.
func readRows(t *testing.T, name string) (rows []row) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := json.NewDecoder(f); ; {
		var r row
		switch err := lines.Decode(&r); err {
		case nil:
			r.Output = 1
			rows = append(rows, r)
		case io.EOF:
			return rows
		default:
			t.Fatal(err)
		}
	}
}
