//go:build vllm && linux

package vllm_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/stream"
)

// TestEngineSessions has 50 sessions of 6 turns with live history on an engine.
func TestEngineSessions(t *testing.T) {
	sendSessions(t, startEngine(t, writeModel(t), tellsCached), 50, 6)
}

// tellsCached has the engine's usage say how many tokens of a prompt it had in its cache.
const tellsCached = "--enable-prompt-tokens-details"

// sendSessions sends sessions and holds what servebench reports against what the engine counted:
// prompt tokens, and how many of them it had in its cache. A later turn must have been sent after the
// answer before it, with that answer in its prompt.
func sendSessions(t *testing.T, e *engine, sessions, turns int) {
	e.forget(t)
	before := e.totals(t)
	dir := t.TempDir()
	records := filepath.Join(dir, "run.jsonl")
	command(t, newOurs(t, "latest").program, append([]string{"run", "-o", records, "--base-url", e.url, "--model", served, "--tokenizer", e.tokenizer,
		"--backend", "openai-chat", "--endpoint", "/v1/chat/completions", "--dataset-name", "random", "--multi-turn", "--multi-turn-num-turns", strconv.Itoa(turns),
		"--random-input-len", "60", "--per-turn-input-len", "40", "--random-output-len", "24", "--ignore-eos", "--num-prompts", strconv.Itoa(sessions),
		"--max-sessions", "8", "--seed", "3", "--ready-check-timeout-sec", "0"}, resultFlags(dir)...))
	after := e.totals(t)

	f, err := os.Open(records)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var completed, in, out, cached, later, grown int
	ends := map[[2]int]*record.Record{}
	var all []*record.Record
	for entry, err := range stream.NewReader(f).Entries() {
		if err != nil {
			t.Fatal(err)
		}
		if r := entry.Record; r != nil {
			ends[[2]int{r.Index, r.Turn}] = r
			all = append(all, r)
		}
	}
	for _, r := range all {
		if r.Result.Class == record.OK {
			completed++
		}
		in, out, cached = in+r.Tokens.In, out+r.Tokens.Out, cached+r.Tokens.Cached
		if last := ends[[2]int{r.Index, r.Turn - 1}]; last != nil {
			later++
			if r.Times.Sent < last.Times.End {
				t.Errorf("turn %d of session %d was sent at %v, before the end of the turn before it at %v", r.Turn, r.Index, r.Times.Sent, last.Times.End)
			}
			if r.Tokens.In > last.Tokens.In {
				grown++
			}
		}
	}
	if completed != sessions*turns || later != sessions*(turns-1) || grown != later {
		t.Errorf("%d requests completed, %d follow another, %d of them have a longer prompt; want %d, %d and all", completed, later, grown, sessions*turns, sessions*(turns-1))
	}
	for name, ours := range map[string]int{"vllm:prompt_tokens_total": in, "vllm:generation_tokens_total": out,
		"vllm:prefix_cache_queries_total": in, "vllm:prefix_cache_hits_total": cached} {
		if theirs := int(after[name] - before[name]); theirs != ours {
			t.Errorf("%s: the engine counted %d, servebench %d", name, theirs, ours)
		}
	}
	if cached == 0 {
		t.Error("no later turn found anything in the prefix cache")
	}
	compareReport(t, dir, sessions, in, cached)
}

// compareReport holds the result file against the records, and prints its verdict.
func compareReport(t *testing.T, dir string, sessions, in, cached int) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Input    int `json:"total_input_tokens"`
		Sessions struct {
			Completed int     `json:"completed"`
			Cached    int     `json:"cached_tokens"`
			LookedUp  int     `json:"looked_up_tokens"`
			Drift     float64 `json:"median_in_drift_percent"`
			Answers   float64 `json:"median_out_drift_percent"`
		} `json:"sessions"`
		Trust struct {
			Verdict string `json:"verdict"`
			Checks  []struct {
				Name, Text string
				OK         bool
			} `json:"checks"`
		} `json:"trust"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	got := file.Sessions
	if file.Input != in || got.Completed != sessions || got.Cached != cached || got.LookedUp != in || got.Answers != 0 {
		t.Errorf("the result file has %d prompt tokens and %+v; the records have %d tokens, %d of them cached", file.Input, got, in, cached)
	}
	fmt.Printf("%d sessions: %d of %d prompt tokens were in the cache, later prompts are %.1f %% off the plan, %s\n", sessions, cached, in, got.Drift, file.Trust.Verdict)
	for _, c := range file.Trust.Checks {
		fmt.Printf("  %-18s %-5t %s\n", c.Name, c.OK, c.Text)
	}
}
