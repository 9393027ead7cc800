package main

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/servebench/servebench/metrics"
)

func TestStreamIsOfTheWholeRunAndTheBlockOfThePart(t *testing.T) {
	o := mustJoin(t, slurmStep, "--num-prompts 50 --max-concurrency 20 --request-rate 40 --label night --metadata a=b --start-at 1763777700.5 --clock-offset=-2s")
	b := &bench{options: o, config: o.config()}
	b.header = &metrics.Header{Run: o.runID(), Config: o.Shard.part(b.config)}
	whole, part := b.streamed(), b.header
	if c := whole.Config; c.NumPrompts != 50 || c.MaxConcurrency != 20 || c.RequestRate != 40 || c.Label != "night" || len(c.Metadata) != 1 {
		t.Errorf("the run line has %+v", c)
	}
	if whole.Run != "slurm-12-3" || whole.Shard != 5 || whole.Shards != 8 || whole.Host == "" || whole.ClockOffset != -2*time.Second || whole.ClockError != 0 {
		t.Errorf("the run line is of %+v", whole)
	}
	want := b.config
	want.NumPrompts, want.MaxConcurrency, want.RequestRate, want.Label = 6, 2, 5, "night-shard5"
	want.Metadata = []metrics.KV{{Key: "a", Value: "b"}, {Key: "shard", Value: "5/8"}}
	if diff := cmp.Diff(want, part.Config); diff != "" || part.Shards != 0 {
		t.Errorf("-want +got:\n%s", diff)
	}
	if at := o.Shard.start(); at.UnixNano() != 1763777698_500000000 {
		t.Errorf("it starts at %v by its own clock, which is 2 s behind", at)
	}
}

func TestRateWithoutEndStaysSo(t *testing.T) {
	o := mustJoin(t, slurmStep, "")
	if c := o.Shard.part(o.config()); !math.IsInf(c.RequestRate, 1) || c.NumPrompts != 125 || c.MaxConcurrency != 0 || c.Label != "openai-shard5" {
		t.Errorf("%+v", c)
	}
}

func TestLoadIsTheShardsShare(t *testing.T) {
	for _, row := range []struct {
		args                      string
		concurrency, atOnce, warm int
	}{
		{"--max-concurrency 10", 3, 3, 3},
		{"--max-concurrency 10 --warmup-duration 1s --request-rate 5", 3, 3, 3},
		{"--request-rate 20", 0, 0, 20},
		{"--request-rate 20000", 0, 0, 101},
		{"", 0, 101, 101},
	} {
		o := mustJoin(t, "", "--num-prompts 402 --shard 1/4 --run-id a "+row.args)
		b := &bench{options: o, config: o.config(), workload: &workload{n: 402}, header: new(metrics.Header), talk: io.Discard}
		load, err := b.load()
		if err != nil || load.Concurrency != row.concurrency || load.Shard != o.Shard.Shard {
			t.Errorf("%s: %d at once of shard %v, %v", row.args, load.Concurrency, load.Shard, err)
		}
		if b.atOnce() != row.atOnce || b.warmable() != row.warm {
			t.Errorf("%s: %d at once, %d worth opening", row.args, b.atOnce(), b.warmable())
		}
		last := 0
		for range load.Schedule {
			last++
		}
		if last != 402 {
			t.Errorf("%s: the times are of %d requests, want those of all shards", row.args, last)
		}
	}
	o := mustJoin(t, "", "--num-prompts 9 --rate-curve steps:0=1,9=0 --shard 1/4 --run-id a")
	b := &bench{options: o, workload: &workload{n: 9}}
	if said := b.unsent(&metrics.Summary{Completed: 2}); said != nil {
		t.Errorf("a shard that sent all was said to lack some: %q", said)
	}
	if said := b.unsent(&metrics.Summary{Completed: 1}); len(said) != 1 || !strings.HasSuffix(said[0], "1 of --num-prompts 2 were sent") {
		t.Errorf("a shard that sent one of two: %q", said)
	}
}

func TestShardsOfSeveralTargetsAreOneExperiment(t *testing.T) {
	url := watchedSim(t, func(*http.Request) {})
	for _, shard := range []string{"0/2", "1/2"} {
		o := mustJoin(t, "", "--num-prompts 4 --random-input-len 4 --random-output-len 2 --run-id night --shard", shard, "--target", "x="+url, "y="+url)
		e := newExperiment(o, io.Discard, io.Discard)
		if err := e.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, run := range []string{"night-x", "night-y"} {
			if h := e.done[i].sum.Header; h.Run != run || h.Group != "night" || e.done[i].sum.Completed != 2 {
				t.Errorf("shard %s of %s: run %s of experiment %s", shard, run, h.Run, h.Group)
			}
		}
	}
}

// counted runs a shard and counts what the server is asked for.
func counted(t *testing.T, args ...string) (asked map[string]int, e *experiment) {
	t.Helper()
	asked = map[string]int{}
	var mu sync.Mutex
	url := watchedSim(t, func(r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if asked[r.URL.Path]++; r.URL.Path == "/v1/completions" && r.ContentLength < 200 {
			asked["short"]++
		}
	})
	e = newExperiment(mustJoin(t, "", "", append(args, "--base-url", url)...), io.Discard, io.Discard)
	if err := e.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	return asked, e
}

// Of shards one is enough to look at the server, which all of them share.
func TestFirstShardAloneWatchesTheServer(t *testing.T) {
	const flags = "--num-prompts 9 --num-warmups 5 --run-id a --random-input-len 400 --random-output-len 3 --server-metrics --profile --probe-request-rate 1000"
	for _, row := range []struct {
		shard           string
		watches         bool
		main, rehearsed int
	}{{"0/2", true, 5, 3}, {"1/2", false, 4, 2}} {
		asked, e := counted(t, append(strings.Fields(flags), "--shard", row.shard)...)
		if probed := asked["short"] > 0; probed != row.watches || e.done[0].sum.Probes != nil != row.watches {
			t.Errorf("shard %s sent %d probes", row.shard, asked["short"])
		}
		if asked["/start_profile"] > 0 != row.watches {
			t.Errorf("shard %s had the server profile %d times", row.shard, asked["/start_profile"])
		}
		// A look at the server's counters before and two after are each shard's.
		if n := asked["/metrics"]; n > 3 != row.watches || n < 3 {
			t.Errorf("shard %s asked for metrics %d times", row.shard, n)
		}
		if n := asked["/v1/completions"] - asked["short"]; n != row.main+row.rehearsed {
			t.Errorf("shard %s sent %d requests, want %d after %d to warm up", row.shard, n, row.main, row.rehearsed)
		}
	}
}

func TestShardWithNothingToSendIsRefused(t *testing.T) {
	url := watchedSim(t, func(*http.Request) {})
	prompts := filepath.Join(t.TempDir(), "three.jsonl")
	if err := os.WriteFile(prompts, []byte(strings.Repeat(`{"prompt": "a"}`+"\n", 3)), 0o600); err != nil {
		t.Fatal(err)
	}
	o := mustJoin(t, "", "--dataset-name custom --skip-chat-template --num-prompts 0 --shard 0/4 --run-id a --base-url", url, "--dataset-path", prompts)
	err := newExperiment(o, io.Discard, io.Discard).run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "argument --num-prompts: there are 3 prompts for 4 shards") {
		t.Errorf("%v", err)
	}
}

func TestShardInterruptedCountsItsPart(t *testing.T) {
	o := mustJoin(t, "", "--num-prompts 9 --shard 1/4 --run-id a")
	e := newExperiment(o, io.Discard, io.Discard)
	e.done = []measured{{bench: &bench{options: o, workload: &workload{n: 9}}, sum: &metrics.Summary{Interrupted: true, Completed: 1}}}
	if err := e.outcome(t.Context()); err == nil || err.Error() != "interrupted after 1 of 2 requests" {
		t.Errorf("%v", err)
	}
}

// Of a compact stream the end line is all that there is behind the run line.
func TestCompactStreamKeepsNoRequests(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.jsonl")
	_, e := counted(t, "--num-prompts=9", "--record=compact", "--random-input-len=4", "--random-output-len=2", "--server-metrics", "-o", file)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"compact":true`) || !strings.HasPrefix(lines[1], `{"v":1,"k":"end"`) {
		t.Errorf("the stream is\n%s", strings.Join(lines, "\n"))
	}
	if n := e.done[0].sum.TTFT.Len(); n != 9 {
		t.Errorf("the run's own block is of %d requests", n)
	}
}

// inShards runs servebench dataset with the arguments given as a whole and in three
// shards, whose lines, taken in turn, must be those of the whole.
func inShards(ts *testscript.TestScript, _ bool, args []string) {
	lines := func(more ...string) []string {
		ts.Check(ts.Exec("servebench", slices.Concat([]string{"dataset"}, args, more)...))
		return strings.SplitAfter(strings.TrimSuffix(ts.ReadFile("stdout"), "\n"), "\n")
	}
	whole := lines()
	if len(whole) < 6 {
		ts.Fatalf("%d lines are too few", len(whole))
	}
	var shards [][]string
	for i := range 3 {
		shards = append(shards, lines(fmt.Sprintf("--shard=%d/3", i)))
	}
	for i, line := range whole {
		if shard := shards[i%3]; len(shard) <= i/3 || strings.TrimSuffix(shard[i/3], "\n") != strings.TrimSuffix(line, "\n") {
			ts.Fatalf("line %d of shard %d of\n%q\nis not\n%s", i/3, i%3, shard, line)
		}
	}
	if n := len(shards[0]) + len(shards[1]) + len(shards[2]); n != len(whole) {
		ts.Fatalf("the shards have %d lines, the whole %d", n, len(whole))
	}
}
