// Package repeats counts the prompts that a run sends more than once, so that a server may have them in its prefix
// cache.
package repeats

import (
	"hash/maphash"
	"sync"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics/record"
)

// maxKnown bounds the prompts to remember for a part of the run: 48 MB.
const maxKnown = 1 << 20

// A History knows the prompts of a run by their hashes: those taken out of its sources, of which
// many may still wait when the run ends, and those that were sent. The zero value is empty. It is
// safe for concurrent use.
type History struct {
	mu       sync.Mutex
	seed     maphash.Seed
	pulled   map[bool][]uint64 // by whether it is a warm-up, in the order of the source
	sent     map[uint64]struct{}
	Repeated int64 // sent more than once
}

// Compare remembers the beginnings of the conversations of a source: a server's prefix cache is
// meant to know later turns. The source is for one iteration at a time.
func (m *History) Compare(source dataset.Source, warmUp bool) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		m.begin(warmUp)
		for c, err := range source {
			if err == nil && len(c.Turns) > 0 {
				m.pull(&c.Turns[0], warmUp)
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

func (m *History) begin(warmUp bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pulled == nil {
		m.seed, m.pulled, m.sent = maphash.MakeSeed(), map[bool][]uint64{}, map[uint64]struct{}{}
	}
	m.pulled[warmUp] = nil
}

func (m *History) pull(turn *dataset.Turn, warmUp bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.pulled[warmUp]; len(known) < maxKnown {
		m.pulled[warmUp] = append(known, promptHash(m.seed, turn))
	}
}

// Send counts the request of a Record as sent.
func (m *History) Send(rec *record.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	pulled := m.pulled[rec.Phase == record.WarmUp]
	if rec.Turn > 0 || rec.Index >= len(pulled) {
		return
	}
	hash := pulled[rec.Index]
	if _, again := m.sent[hash]; again {
		m.Repeated++
	}
	m.sent[hash] = struct{}{}
}

func promptHash(seed maphash.Seed, turn *dataset.Turn) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	h.WriteString(turn.Prompt)
	h.Write(turn.Messages)
	for _, id := range turn.TokenIDs {
		maphash.WriteComparable(&h, id)
	}
	for b := range turn.AllBlocks() {
		maphash.WriteComparable(&h, b)
	}
	return h.Sum64()
}
