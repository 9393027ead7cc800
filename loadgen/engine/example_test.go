package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics/record"
)

// Three requests, one at a time, to a server that answers each with two words.
func Example() {
	send := func(_ context.Context, epoch time.Time, req *engine.Request, rec *record.Record) iter.Seq2[engine.Chunk, error] {
		return func(yield func(engine.Chunk, error) bool) {
			for _, word := range []string{"hello", "again"} {
				if !yield(engine.Chunk{At: time.Now(), Text: []byte(word), Content: true}, nil) {
					return
				}
			}
			rec.Tokens.Out = 2
		}
	}
	encode := func(c *dataset.Conversation, turn int, _ []json.RawMessage) (*engine.Request, error) {
		return &engine.Request{ID: c.ID, Body: []byte(c.Turns[turn].Prompt)}, nil
	}
	prompts := func(yield func(*dataset.Conversation, error) bool) {
		for _, id := range []string{"a", "b", "c"} {
			if !yield(&dataset.Conversation{ID: id, Turns: []dataset.Turn{{Prompt: "Say hello."}}}, nil) {
				return
			}
		}
	}
	run := &engine.Run{Loads: []engine.Load{{
		Target: engine.Target{Encode: encode, Send: send}, Source: prompts, Concurrency: 1,
	}}}
	for rec, err := range run.Records(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(rec.ID, rec.Answer.Chunks.Len(), "chunks,", rec.Tokens.Out, "tokens")
	}
	// Output:
	// a 2 chunks, 2 tokens
	// b 2 chunks, 2 tokens
	// c 2 chunks, 2 tokens
}
