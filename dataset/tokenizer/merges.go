package tokenizer

import "math/bits"

// A merge is the symbol that two neighbours become, and its rank: of all possible
// merges in a word, the one with the lowest rank comes first.
type merge struct{ rank, id int32 }

// never is the merge of two symbols that do not merge.
var never = merge{rank: maxRank}

const maxRank = 1<<31 - 1

// merges maps pairs of symbols to their merge: a hash table with open
// addressing, at most two thirds full. Most pairs have no merge. For these, a look at the filter
// is enough nine times in ten, and the filter fits into the cache of a core.
type merges struct {
	slots  []mergeSlot
	filter []uint8 // a bit for the hash of each pair that has a merge, eight for each slot
	shift  int
}

// A mergeSlot has a pair and its merge. The zero slot is empty.
type mergeSlot struct {
	next  int32 // the left symbol and 1
	right int32
	merge
}

func (s *mergeSlot) empty() bool { return s.next == 0 }
func (s *mergeSlot) left() int32 { return s.next - 1 }

func newMerges(size int) *merges {
	width := bits.Len(uint(size + size/2))
	return &merges{slots: make([]mergeSlot, 1<<width), filter: make([]uint8, 1<<width), shift: 64 - width}
}

func pairHash(left, right int32) uint64 {
	const golden = 0x9e3779b97f4a7c15
	return (uint64(uint32(left))<<32 | uint64(uint32(right))) * golden
}

// slot is the slot of the pair with that hash, or the empty slot for it.
func (m *merges) slot(left, right int32, hash uint64) *mergeSlot {
	for i := hash >> m.shift; ; i++ {
		s := &m.slots[i&uint64(len(m.slots)-1)]
		if s.next == left+1 && s.right == right || s.empty() {
			return s
		}
	}
}

// bit is where the filter has the bit of a hash: in that byte, with that mask.
func (m *merges) bit(hash uint64) (at uint64, mask uint8) {
	return hash >> m.shift & uint64(len(m.filter)-1), 1 << (hash >> (m.shift - 3) & 7)
}

func (m *merges) of(left, right int32) merge {
	hash := pairHash(left, right)
	if at, mask := m.bit(hash); m.filter[at]&mask == 0 {
		return never
	}
	if s := m.slot(left, right, hash); !s.empty() {
		return s.merge
	}
	return never
}

// has reports whether the pair is in the table.
func (m *merges) has(left, right int32) bool { return m.of(left, right) != never }

func (m *merges) set(left, right int32, to merge) {
	hash := pairHash(left, right)
	at, mask := m.bit(hash)
	m.filter[at] |= mask
	*m.slot(left, right, hash) = mergeSlot{left + 1, right, to}
}

// A word is the memory for merging the symbols of one word, and for decoding.
type word struct {
	ids    []int32
	merges []merge  // of each symbol with the one after it
	links  []link   // in a queued word, of each symbol
	queue  []uint64 // in a queued word, a heap of ranks and positions
	text   []byte   // of the word, as a byte-level vocabulary has it
	tokens []string // of a text that is decoded
	ends   []ending // of each beginning of a word of a unigram model

	recents *[recents]recentWord // by hash; nil at first
}

// A link gives the symbols before and after one; dead ones have a next of -1.
type link struct{ before, next int32 }

// Above these lengths, a queue is faster than a search of all merges each time, and a word is cut
// where no merge can cross.
const (
	queuedWord = 32
	longWord   = 96
)

// merge does all merges in ids, in place, and returns the rest.
func (w *word) merge(table *merges, ids []int32) []int32 {
	if len(ids) > queuedWord {
		return w.mergeQueued(table, ids)
	}
	todo := w.merges[:0]
	for i := 1; i < len(ids); i++ {
		todo = append(todo, table.of(ids[i-1], ids[i]))
	}
	w.merges = todo
	for {
		best, at := never, -1
		for i, m := range todo {
			if m.rank < best.rank {
				best, at = m, i
			}
		}
		if at < 0 {
			return ids
		}
		ids[at] = best.id
		ids = append(ids[:at+1], ids[at+2:]...)
		todo = append(todo[:at], todo[at+1:]...)
		if at > 0 {
			todo[at-1] = table.of(ids[at-1], ids[at])
		}
		if at < len(todo) {
			todo[at] = table.of(ids[at], ids[at+1])
		}
	}
}

// mergeQueued does the same with a queue of the merges that can be done.
func (w *word) mergeQueued(table *merges, ids []int32) []int32 {
	end := int32(len(ids))
	w.links, w.queue = w.links[:0], w.queue[:0]
	for i := range end {
		w.links = append(w.links, link{i - 1, i + 1})
	}
	for i := range end {
		w.offer(table, ids, i)
	}
	for len(w.queue) > 0 {
		top := w.pop()
		left, rank := int32(uint32(top)), int32(top>>32)
		right := w.links[left].next
		if right < 0 || right == end {
			continue
		}
		m := table.of(ids[left], ids[right])
		if m.rank != rank {
			continue // the symbols have changed since
		}
		next := w.links[right].next
		ids[left], w.links[left].next, w.links[right].next = m.id, next, -1
		if next < end {
			w.links[next].before = left
		}
		if before := w.links[left].before; before >= 0 {
			w.offer(table, ids, before)
		}
		w.offer(table, ids, left)
	}
	kept := ids[:0]
	for i := int32(0); i < end; i = w.links[i].next {
		kept = append(kept, ids[i])
	}
	return kept
}

// offer queues the merge of the symbol at left with the next one.
func (w *word) offer(table *merges, ids []int32, left int32) {
	right := w.links[left].next
	if int(right) >= len(ids) {
		return
	}
	m := table.of(ids[left], ids[right])
	if m.rank == maxRank {
		return
	}
	w.queue = append(w.queue, uint64(m.rank)<<32|uint64(uint32(left)))
	for i := len(w.queue) - 1; i > 0; {
		parent := (i - 1) / 2
		if w.queue[parent] <= w.queue[i] {
			return
		}
		w.queue[parent], w.queue[i] = w.queue[i], w.queue[parent]
		i = parent
	}
}

// pop takes the smallest value from the queue.
func (w *word) pop() uint64 {
	q := w.queue
	top, last := q[0], len(q)-1
	q[0] = q[last]
	w.queue = q[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			return top
		}
		if child+1 < last && q[child+1] < q[child] {
			child++
		}
		if q[i] <= q[child] {
			return top
		}
		q[i], q[child] = q[child], q[i]
		i = child
	}
}
