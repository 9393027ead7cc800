package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics/record"
)

// uneven is a Sender whose answers take from 1 to 400 ms, by the request.
func uneven(seed uint64) Sender {
	return func(ctx context.Context, epoch time.Time, req *Request, rec *record.Record) iter.Seq2[Chunk, error] {
		took := rand.New(rand.NewPCG(seed, uint64(len(rec.Phase)*1000+rec.Index))).IntN(400) + 1
		return answer(time.Duration(took)*time.Millisecond, 0, 1)(ctx, epoch, req, rec)
	}
}

// randomLoad is a load of n requests behind a warm-up, with bodies of such a size
// that few are encoded ahead.
func randomLoad(rng *rand.Rand, n int) Load {
	body := make([]byte, aheadBytes/(rng.IntN(4)+1))
	load := Load{
		Source: prompts(n), Concurrency: rng.IntN(5) + 1, Delay: time.Duration(rng.IntN(3)) * 100 * time.Millisecond,
		Target: Target{Send: uneven(rng.Uint64()), Encode: func(c *dataset.Conversation, _ int, _ []json.RawMessage) (*Request, error) {
			return &Request{ID: c.ID, Body: body}, nil
		}},
		WarmUp: WarmUp{Lasts: time.Duration(rng.IntN(1000)+1) * time.Millisecond, Source: endless},
	}
	if rng.IntN(2) == 0 {
		load.Schedule = every(time.Duration(rng.IntN(100)) * time.Millisecond)
		load.WarmUp.Schedule = load.Schedule
	}
	return load
}

// crowded says whether a load had more in flight than it may have, warm-up included.
func crowded(records []*record.Record, most int) bool {
	for _, at := range records {
		n := 0
		for _, r := range records {
			if r.Times.Sent <= at.Times.Sent && at.Times.Sent < r.Times.End {
				n++
			}
		}
		if n > most {
			return true
		}
	}
	return false
}

func TestNoRequestIsLostDoubledOrOvertakenAtTheHandover(t *testing.T) {
	const n = 40
	for seed := range uint64(30) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			run := &Run{Wait: Sleep, Loads: []Load{randomLoad(rng, n), randomLoad(rng, n)}}
			all := map[string][]*record.Record{}
			for i := range run.Loads {
				run.Loads[i].Run = fmt.Sprint(i)
			}
			for _, rec := range collect(t, run) { // by index
				all[rec.Run] = append(all[rec.Run], rec)
			}
			for i := range run.Loads {
				load := &run.Loads[i]
				handover := load.Delay + load.WarmUp.Lasts
				next, sent := 0, time.Duration(0)
				for _, rec := range all[load.Run] {
					if rec.Phase == record.WarmUp {
						if rec.Times.Sent < load.Delay || rec.Times.Sent >= handover {
							t.Errorf("seed %d: a request of the warm-up was sent at %v, the handover is at %v", seed, rec.Times.Sent, handover)
						}
						continue
					}
					if rec.Index != next || rec.Times.Sent < max(sent, handover) {
						t.Errorf("seed %d: request %d was sent at %v, where request %d was expected from %v on", seed, rec.Index, rec.Times.Sent, next, max(sent, handover))
					}
					next, sent = next+1, rec.Times.Sent
				}
				if next != n || crowded(all[load.Run], load.Concurrency) {
					t.Errorf("seed %d: %d of %d requests, %d at once at most", seed, next, n, load.Concurrency)
				}
			}
		})
	}
}
