package stream

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// Each request is told once, in whatever order shards stand, with the header of its shard
// where that came before it.
func TestEachRequestIsTold(t *testing.T) {
	shards := fleet{n: 3}.write(t, load(10))
	var got []string
	each := func(h *metrics.Header, r *record.Record) {
		got = append(got, fmt.Sprintf("%s %d %s %d", h.Run, h.Shard, h.Config.Model, r.Index))
	}
	text := slices.Concat(shards[2], shards[0], shards[0], shards[1])
	if _, err := Read(bytes.NewReader(text), metrics.Ask{Each: each}); err != nil {
		t.Fatal(err)
	}
	model, want := testHeader("r").Config.Model, []string(nil)
	for _, shard := range []int{2, 0, 1} {
		for i, r := range load(10) {
			if i%3 == shard {
				want = append(want, fmt.Sprintf("r %d %s %d", shard, model, r.Index))
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	// Without its run line a shard is known by its number.
	_, headless, _ := bytes.Cut(shards[1], []byte("\n"))
	got = nil
	if _, err := Read(bytes.NewReader(headless), metrics.Ask{Each: each}); err != nil || len(got) == 0 || got[0][:4] != "r 1 " {
		t.Errorf("%q, %v", got, err)
	}
}

// Of some runs of a file, their requests alone are told.
func TestEachRequestOfChosenRunsIsTold(t *testing.T) {
	dir := recordedFolder(t)
	told := func(name string) (runs []string) {
		r := &Recorded{Warn: func(text string) { t.Log(text) }, Ask: metrics.Ask{Each: func(h *metrics.Header, _ *record.Record) { runs = append(runs, h.Run) }}}
		if _, err := r.Read(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		return runs
	}
	both := told("two.jsonl")
	if got := metrics.Distinct(both); len(got) != 2 || len(both) != 8 {
		t.Fatalf("%q", both)
	}
	if got := told("two.jsonl:2"); !slices.Equal(got, both[4:]) {
		t.Errorf("%q", got)
	}
}
