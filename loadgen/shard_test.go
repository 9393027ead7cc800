package loadgen_test

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// sharded sends the trial from so many load generators, which are ready one after
// the other and all begin at one instant.
func (tr trial) sharded(t *testing.T, shards int) (records []*record.Record) {
	t.Helper()
	tr.server.Tokenizer = tokenizer.Stub{Size: 32000}
	dial, end := tr.serve(t)
	defer end()
	startAt := time.Now().Add(time.Minute)
	var generators sync.WaitGroup
	var mu sync.Mutex
	for i := range shards {
		transport := wire.Connections{Dial: dial}.Transport()
		defer transport.CloseIdleConnections()
		load := tr.load(t, transport)
		load.Shard = dataset.Shard{Index: i, Of: shards}
		run := engine.Run{Loads: []engine.Load{load}, Wait: engine.Sleep, StartAt: startAt}
		generators.Go(func() {
			engine.Sleep(t.Context(), time.Now().Add(time.Duration(i)*time.Second))
			for rec, err := range run.Records(t.Context()) {
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				records = append(records, rec)
				mu.Unlock()
				if !load.Shard.Has(rec.Index) {
					t.Errorf("shard %d sent request %d", i, rec.Index)
				}
			}
		})
	}
	generators.Wait()
	slices.SortFunc(records, func(a, b *record.Record) int { return a.Index - b.Index })
	return records
}

// story is what requests did but for their connections, of which each load generator
// has its own.
func story(records []*record.Record) (lines []string) {
	for _, rec := range records {
		lines = append(lines, fmt.Sprint(rec.Phase, rec.Index, rec.ID, rec.Times.Due, rec.Times.Slot, rec.Times.Sent, rec.Times.Wrote, rec.Times.FirstByte,
			cameAt(rec), rec.Times.End, rec.Tokens.In, rec.Tokens.Out, rec.Result.Class, rec.Result.Error))
	}
	slices.Sort(lines)
	return lines
}

func TestShardsTogetherDoWhatOneDoes(t *testing.T) {
	curve, err := arrivals.ParseCurve("up-down:5,60,10,step=1")
	if err != nil {
		t.Fatal(err)
	}
	cost := speed.Cost{Base: 10 * time.Millisecond, PerSequence: 3 * time.Microsecond, PerPromptToken: 7 * time.Microsecond}
	for _, test := range []struct {
		name string
		trial
	}{
		{"all at once", trial{arrivals: arrivals.Process{Rate: math.Inf(1), Burstiness: 1}}},
		{"Poisson", trial{arrivals: arrivals.Process{Rate: 30, Burstiness: 1, Seed: 7}}},
		{"ramp", trial{arrivals: arrivals.Process{Burstiness: 1, RampUp: &metrics.RampUp{Strategy: "exponential", Start: 2, End: 50}}}},
		{"curve", trial{arrivals: arrivals.Process{Curve: curve, Burstiness: 1}}},
		{"after a warm-up", trial{arrivals: arrivals.Process{Rate: 30, Burstiness: 1}, warmUp: time.Second}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var one, four []string
			tr := test.trial
			tr.num, tr.in, tr.out, tr.server.Cost = 42, 40, 8, cost
			synctest.Test(t, func(t *testing.T) {
				records, _, _, _ := tr.run(t)
				one = story(records)
			})
			synctest.Test(t, func(t *testing.T) { four = story(tr.sharded(t, 4)) })
			if len(one) < tr.num || !slices.Equal(one, four) {
				t.Errorf("one did\n%q\nfour did\n%q", one, four)
			}
		})
	}
}

// In a closed loop each shard takes what follows in its own part of the source.
func TestShardsOfAnEndlessLoadSendNothingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := trial{num: 500, in: 10, out: 3, arrivals: arrivals.Process{Rate: math.Inf(1), Burstiness: 1}, limit: 2}
		seen := map[string]int{}
		for _, rec := range tr.sharded(t, 3) {
			seen[rec.ID]++
		}
		if len(seen) != 500 {
			t.Errorf("%d different requests were sent, want 500", len(seen))
		}
		for id, n := range seen {
			if n > 1 {
				t.Errorf("%s was sent %d times", id, n)
			}
		}
	})
}
