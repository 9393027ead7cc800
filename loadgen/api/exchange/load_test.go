package exchange_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics/record"
)

// asked is a load of n requests to target, which know no schedule.
func asked(n int, target engine.Target) engine.Load {
	source := func(yield func(*dataset.Conversation, error) bool) {
		for i := range n {
			if !yield(&dataset.Conversation{ID: fmt.Sprint(i), Turns: make([]dataset.Turn, 1)}, nil) {
				return
			}
		}
	}
	target.Encode = func(c *dataset.Conversation, _ int, _ []json.RawMessage) (*engine.Request, error) {
		return &engine.Request{ID: c.ID, Body: []byte("{}"), KeepText: true}, nil
	}
	return engine.Load{Source: source, Target: target, Concurrency: 1, Live: new(engine.Live)}
}

// recorded runs a load and gives its records in the order of their requests.
func recorded(t *testing.T, load engine.Load) []*record.Record {
	t.Helper()
	var all []*record.Record
	for rec, err := range (&engine.Run{Loads: []engine.Load{load}, Wait: engine.Sleep}).Records(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rec)
	}
	slices.SortFunc(all, func(a, b *record.Record) int { return a.Index - b.Index })
	return all
}
