package reuse

import (
	"cmp"
	"container/heap"
	"container/list"
	"iter"
	"slices"
	"time"

	"github.com/servebench/servebench/dataset"
)

// A request is one turn of a session, and when the recording sends it.
type request struct {
	c    *dataset.Conversation
	turn int
	at   time.Duration // from the start of the trace
	ends time.Duration // when the recorded answer ends, at if that is not known
}

// inOrder yields the requests of src in the order of the recording, on its own clock: at their times,
// or their gaps after what they wait for. Sessions without times start one after another. It holds
// the sessions that are open on that clock. Sessions of src must come in the order of their times.
func inOrder(src dataset.Source) iter.Seq2[request, error] {
	return func(yield func(request, error) bool) {
		next, stop := iter.Pull2(src)
		defer stop()
		c, err, more := next()
		var open byTime
		number := 0
		var ends time.Duration // of all sessions before
		for more || len(open) > 0 {
			if more && err != nil {
				yield(request{}, err)
				return
			}
			if more {
				starts := ends
				if c.Due != nil {
					starts = dataset.Seconds(*c.Due)
				}
				if len(open) == 0 || starts <= open[0].left[0].at {
					list := recorded(c, starts)
					for _, r := range list {
						ends = max(ends, r.ends)
					}
					heap.Push(&open, opened{list, number})
					number++
					c, err, more = next()
					continue
				}
			}
			if !yield(open[0].left[0], nil) {
				return
			}
			if open[0].left = open[0].left[1:]; len(open[0].left) > 0 {
				heap.Fix(&open, 0)
			} else {
				heap.Pop(&open)
			}
		}
	}
}

// recorded is the requests of a session in the order of their times.
func recorded(c *dataset.Conversation, starts time.Duration) []request {
	list := make([]request, len(c.Turns))
	for i := range c.Turns {
		turn := &c.Turns[i]
		ready, at := starts, starts
		for _, wait := range c.WaitsOf(i) {
			before := &list[wait.Turn]
			ready, at = max(ready, before.ends), max(at, before.at)
		}
		switch {
		case turn.At == nil:
			at = dataset.Plus(ready, dataset.Seconds(turn.Gap))
		case c.Due == nil:
			at = max(at, dataset.Plus(starts, dataset.Seconds(*turn.At)))
		default:
			at = max(at, dataset.Seconds(*turn.At))
		}
		list[i] = request{c, i, at, dataset.Plus(at, dataset.Seconds(turn.Took))}
	}
	slices.SortStableFunc(list, func(a, b request) int { return cmp.Compare(a.at, b.at) })
	return list
}

// An opened session has requests left.
type opened struct {
	left   []request
	number int
}

// A byTime is a heap of sessions by the time of their next request.
type byTime []opened

func (h byTime) Len() int      { return len(h) }
func (h byTime) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h byTime) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].left[0].at, h[j].left[0].at), cmp.Compare(h[i].number, h[j].number)) < 0
}

// Push adds a session.
func (h *byTime) Push(session any) { *h = append(*h, session.(opened)) }

// Pop removes the last session.
func (h *byTime) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// A CacheUse is what a prefix cache would have of the prompts of a dataset. See Cache.
type CacheUse struct {
	Prompts  int           // tokens in all prompts
	Reusable int           // tokens that a cache without limit would have; −1 if that is not known
	BySize   []int         // tokens that caches of limited sizes would have; nil without blocks
	Span     time.Duration // from the start to the last recorded end
}

// UseOf measures caches: one without limit, and one of each size, in tokens, that forgets what was
// least recently used. The requests come in the order of the recording.
func UseOf(src dataset.Source, sizes []int) (CacheUse, error) {
	var use CacheUse
	var reuse Cache
	caches := make([]lru, len(sizes))
	for i, size := range sizes {
		caches[i] = lru{size: size, known: map[uint64]*list.Element{}}
	}
	use.BySize = make([]int, len(sizes))
	var hashes []uint64
	for r, err := range inOrder(src) {
		if err != nil {
			return use, err
		}
		turn := &r.c.Turns[r.turn]
		use.Prompts += turn.PromptLen
		use.Span = max(use.Span, r.ends)
		if tokens := reuse.Next(r.c, r.turn); tokens < 0 || use.Reusable < 0 {
			use.Reusable = -1
		} else {
			use.Reusable += tokens
		}
		if hashes = prefixes(turn, hashes[:0]); len(hashes) == 0 {
			use.BySize = nil
		}
		for i := range use.BySize {
			use.BySize[i] += caches[i].next(turn, hashes)
		}
	}
	return use, nil
}
