package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/sessions"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics/record"
)

// Traces are sent when it was worked out by hand that they are due, to the nanosecond, if each
// request takes a second.
func TestTracesAreSentWhenTheyAreDue(t *testing.T) {
	options := func(name string) dataset.Options {
		return dataset.Options{Path: "../../dataset/sessions/testdata/" + name, VocabSize: 32000}
	}
	for _, row := range []struct {
		name string
		open func() (dataset.Source, int, error)
	}{
		{"mooncake-sessions-tricky.jsonl", sessions.Mooncake{Options: options("mooncake-sessions-tricky.jsonl"), BlockSize: 4}.Open},
		{"aiperf-multi-turn.jsonl", sessions.MultiTurn{Options: options("aiperf-multi-turn.jsonl")}.Open},
	} {
		worked := workedTimes(t, row.name)
		for _, timing := range []string{"think", "absolute"} {
			t.Run(row.name+"/"+timing, func(t *testing.T) {
				source, n, err := row.open()
				if err != nil || n == 0 {
					t.Fatalf("%d sessions: %v", n, err)
				}
				synctest.Test(t, func(t *testing.T) {
					due := dues(t, source, timing == "absolute")
					for id, want := range worked[timing] {
						if got, sent := due[id]; !sent || got != time.Duration(math.Round(want*1e9)) {
							t.Errorf("%s is due at %v (sent: %v), want %v s", id, got, sent, want)
						}
					}
					if len(due) != len(worked[timing]) {
						t.Errorf("%d requests were sent, want %d: %v", len(due), len(worked[timing]), due)
					}
				})
			})
		}
	}
}

// workedTimes are when the requests of a sample are due, in seconds, by timing and by id.
func workedTimes(t *testing.T, name string) map[string]map[string]float64 {
	t.Helper()
	text, err := os.ReadFile("../../dataset/sessions/testdata/expected/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var sample struct {
		Worked struct {
			Due map[string]map[string]float64 `json:"due_s"`
		} `json:"worked_times"`
	}
	if err := json.Unmarshal(text, &sample); err != nil {
		t.Fatal(err)
	}
	return sample.Worked.Due
}

// dues are when the requests of a source were due, by session, or by agent if the session has
// several, and number of the agent's turn.
func dues(t *testing.T, source dataset.Source, absolute bool) map[string]time.Duration {
	t.Helper()
	var mine [][]string // ids by session and turn
	named := func(yield func(*dataset.Conversation, error) bool) {
		for c, err := range source {
			if err != nil {
				t.Error(err)
				return
			}
			agents, ids := map[string]int{}, []string(nil)
			for _, turn := range c.Turns {
				who := turn.Agent
				if who == "" {
					who = c.ID
				}
				ids = append(ids, fmt.Sprintf("%s/%d", who, agents[who]))
				agents[who]++
			}
			mine = append(mine, ids)
			if !yield(c, nil) {
				return
			}
		}
	}
	encode := func(c *dataset.Conversation, turn int, _ []json.RawMessage) (*engine.Request, error) {
		return new(engine.Request), nil
	}
	send := func(ctx context.Context, epoch time.Time, _ *engine.Request, rec *record.Record) iter.Seq2[engine.Chunk, error] {
		return func(yield func(engine.Chunk, error) bool) {
			time.Sleep(time.Second)
			yield(engine.Chunk{At: time.Now(), Content: true}, nil)
		}
	}
	load := engine.Load{Source: named, Absolute: absolute, Target: engine.Target{Encode: encode, Send: send}}
	run := engine.Run{Loads: []engine.Load{load}, Wait: engine.Sleep}
	due := map[string]time.Duration{}
	for rec, err := range run.Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if rec.Times.Sent != rec.Times.Due {
			t.Errorf("due at %v, sent at %v", rec.Times.Due, rec.Times.Sent)
		}
		due[mine[rec.Index][rec.Turn]] = rec.Times.Due
	}
	return due
}
