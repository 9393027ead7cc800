package main

import (
	"hash/maphash"

	"github.com/servebench/servebench/dataset"
)

// maxKnown bounds the prompts that are remembered: 40 MB of hashes.
const maxKnown = 1 << 20

// compare counts the conversations of source that begin as an earlier one does: a
// server's prefix cache is meant to know them.
func (w *witness) compare(source dataset.Source) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		seed, known := maphash.MakeSeed(), map[uint64]struct{}{}
		for c, err := range source {
			if err == nil && len(c.Turns) > 0 {
				hash := promptHash(seed, &c.Turns[0])
				if _, again := known[hash]; again {
					w.repeated.Add(1)
				} else if len(known) < maxKnown {
					known[hash] = struct{}{}
				}
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
