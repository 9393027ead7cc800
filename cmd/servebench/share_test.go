package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/metrics"
)

func TestShardsOfSeveralTargetsAreOneExperiment(t *testing.T) {
	url := watchedSim(t, func(*http.Request) {})
	for _, shard := range []string{"0/2", "1/2"} {
		o := mustJoin(t, "", "--num-prompts 4 --random-input-len 4 --random-output-len 2 --run-id night --shard", shard, "--target", "x="+url, "y="+url)
		e := newExperiment(o, io.Discard, io.Discard)
		if err := e.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, run := range []string{"night-x", "night-y"} {
			if h := e.done[i].Summary.Header; h.Run != run || h.Group != "night" || e.done[i].Summary.Completed != 2 {
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
		if probed := asked["short"] > 0; probed != row.watches || e.done[0].Summary.Printed.Probes != nil != row.watches {
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
	e.done = []*loadgen.Result{{Plan: &o.Plan, Requests: 2, Summary: &metrics.Summary{Ending: metrics.Ending{Interrupted: true}, Completed: 1}}}
	if err := e.outcome(t.Context()); err == nil || err.Error() != "interrupted after 1 of 2 requests" {
		t.Errorf("%v", err)
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
