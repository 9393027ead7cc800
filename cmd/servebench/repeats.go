package main

import (
	"hash/maphash"
	"sync"

	"github.com/servebench/servebench/dataset"
)

// maxKnown bounds the prompts that are remembered: 40 MB of hashes.
const maxKnown = 1 << 20

// A memory knows prompts by their hashes. The zero value is empty.
type memory struct {
	mu    sync.Mutex
	seed  maphash.Seed
	known map[uint64]struct{}
}

// knows says whether there was such a prompt before.
func (m *memory) knows(turn *dataset.Turn) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.seed, m.known = maphash.MakeSeed(), map[uint64]struct{}{}
	}
	hash := promptHash(m.seed, turn)
	_, again := m.known[hash]
	if !again && len(m.known) < maxKnown {
		m.known[hash] = struct{}{}
	}
	return again
}

// compare counts the conversations of a run's sources that begin as an earlier one
// does: a server's prefix cache is meant to know them. A source is for one
// iteration at a time.
func (w *witness) compare(source dataset.Source) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		for c, err := range source {
			if err == nil && len(c.Turns) > 0 && w.prompts.knows(&c.Turns[0]) {
				w.repeated.Add(1)
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

func promptHash(seed maphash.Seed, turn *dataset.Turn) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	h.WriteString(turn.Prompt)
	h.Write(turn.Messages)
	for _, id := range turn.TokenIDs {
		maphash.WriteComparable(&h, id)
	}
	return h.Sum64()
}
