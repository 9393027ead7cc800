package engine

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset"
)

// A prompt stays in memory with its body until it is sent.
func TestWaitingPromptsCountAsMuchAsTheirBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pulled atomic.Int64
		text := strings.Repeat("x", 1<<20)
		source := func(yield func(*dataset.Conversation, error) bool) {
			for range 100 {
				pulled.Add(1)
				if !yield(&dataset.Conversation{Turns: []dataset.Turn{{Prompt: text}}}, nil) {
					return
				}
			}
		}
		body := make([]byte, len(text))
		r := oneLoad(Load{Source: source, Schedule: every(time.Hour), Target: Target{
			Send: answer(0, 0, 1), Encode: func(*dataset.Conversation, int, []json.RawMessage) (*Request, error) {
				return &Request{Body: body}, nil
			},
		}})
		most := int64(0)
		for _, err := range r.Records(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			most = max(most, pulled.Load())
			break
		}
		if limit := int64(aheadBytes/(2<<20) + 4); most > limit {
			t.Errorf("%d requests of 2 MiB wait, want at most %d", most, limit)
		}
	})
}

// All prompts of a run are ready before it begins, if they are short and made within a second.
func TestRunsBeginWithAllThatASecondCanMake(t *testing.T) {
	for _, row := range []struct {
		name         string
		prompts      int
		each         time.Duration // to make one
		wait         time.Duration
		ready, slack int64
	}{
		{"at once", 20_000, 0, 0, 20_000, 0},
		{"full", 100_000, 0, 0, maxReady * 9 / 10, maxReady / 10},
		{"in a second", 30_000, 100 * time.Microsecond, time.Second, 10_000, 1},
		{"enough, late", 30_000, 200 * time.Microsecond, enoughReady * 200 * time.Microsecond, enoughReady, 1},
		{"few", 1000, 10 * time.Millisecond, 10 * time.Second, 1000, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var made atomic.Int64
				source := func(yield func(*dataset.Conversation, error) bool) {
					for c, err := range prompts(row.prompts) {
						if row.each > 0 {
							time.Sleep(row.each)
						}
						made.Add(1)
						if !yield(c, err) {
							return
						}
					}
				}
				r := oneLoad(Load{Source: source, Target: Target{Send: answer(0, 0, 1)}, Concurrency: 1})
				began := time.Now()
				ctx, stop := context.WithCancel(t.Context())
				r.Ready = func(context.Context, []int) error {
					synctest.Wait()
					if took := time.Since(began); took != row.wait {
						t.Errorf("the run began after %v, want %v", took, row.wait)
					}
					if n := made.Load(); n < row.ready || n > row.ready+row.slack {
						t.Errorf("%d prompts were made, want %d", n, row.ready)
					}
					stop()
					return nil
				}
				for range r.Records(ctx) {
				}
			})
		})
	}
}

// What waits to be sent has its body, and not a second time what the body was made of. The caller's
// conversation stays as it is, and later turns of one need what it has.
func TestWhatIsEncodedIsNotKeptTwice(t *testing.T) {
	turn := dataset.Turn{PromptLen: 7, OutputLen: 3, Messages: []byte("[]"), Payload: &dataset.Payload{Content: []byte("[]")}}
	one := &dataset.Conversation{ID: "a", Turns: []dataset.Turn{turn}}
	kept := light(one)
	if got := kept.Turns[0]; got.Payload != nil || got.Messages != nil || got.PromptLen != 7 || got.OutputLen != 3 || kept.ID != "a" {
		t.Errorf("%+v", kept)
	}
	if one.Turns[0].Payload == nil || one.Turns[0].Messages == nil {
		t.Error("the dataset's conversation changed")
	}
	several := &dataset.Conversation{Turns: []dataset.Turn{turn, turn}}
	if light(several) != several {
		t.Error("several turns lost what they are made of")
	}
}
