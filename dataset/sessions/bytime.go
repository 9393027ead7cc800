package sessions

import (
	"cmp"
	"container/heap"
	"container/list"
	"iter"
	"slices"
	"time"

	"github.com/servebench/servebench/dataset"
)

// A Request is one turn of a session, and when the recording sends it.
type Request struct {
	Conversation *dataset.Conversation
	Turn         int
	At           time.Duration // from the start of the trace
	Ends         time.Duration // when the recorded answer ends, At if that is not known
}

// ByTime yields the requests of src in the order of the recording, on its own clock: at their times,
// or their gaps after what they wait for. Sessions without times start one after another. It holds
// the sessions that are open on that clock. Sessions of src must come in the order of their times.
func ByTime(src dataset.Source) iter.Seq2[Request, error] {
	return func(yield func(Request, error) bool) {
		next, stop := iter.Pull2(src)
		defer stop()
		c, err, more := next()
		var open byTime
		number := 0
		var ends time.Duration // of all sessions before
		for more || len(open) > 0 {
			if more && err != nil {
				yield(Request{}, err)
				return
			}
			if more {
				starts := ends
				if c.Due != nil {
					starts = dataset.Seconds(*c.Due)
				}
				if len(open) == 0 || starts <= open[0].left[0].At {
					list := recorded(c, starts)
					for _, r := range list {
						ends = max(ends, r.Ends)
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
func recorded(c *dataset.Conversation, starts time.Duration) []Request {
	list := make([]Request, len(c.Turns))
	for i := range c.Turns {
		turn := &c.Turns[i]
		ready, at := starts, starts
		for _, wait := range c.WaitsOf(i) {
			before := &list[wait.Turn]
			ready, at = max(ready, before.Ends), max(at, before.At)
		}
		switch {
		case turn.At == nil:
			at = plus(ready, dataset.Seconds(turn.Gap))
		case c.Due == nil:
			at = max(at, plus(starts, dataset.Seconds(*turn.At)))
		default:
			at = max(at, dataset.Seconds(*turn.At))
		}
		list[i] = Request{c, i, at, plus(at, dataset.Seconds(turn.Took))}
	}
	slices.SortStableFunc(list, func(a, b Request) int { return cmp.Compare(a.At, b.At) })
	return list
}

// An opened session has requests left.
type opened struct {
	left   []Request
	number int
}

// A byTime is a heap of sessions by the time of their next request.
type byTime []opened

func (h byTime) Len() int      { return len(h) }
func (h byTime) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h byTime) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].left[0].At, h[j].left[0].At), cmp.Compare(h[i].number, h[j].number)) < 0
}

// Push adds a session.
func (h *byTime) Push(session any) { *h = append(*h, session.(opened)) }

// Pop removes the last session.
func (h *byTime) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// A CacheUse is what a prefix cache would have of the prompts of a dataset. See Reuse.
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
	var reuse Reuse
	caches := make([]lru, len(sizes))
	for i, size := range sizes {
		caches[i] = lru{size: size, known: map[uint64]*list.Element{}}
	}
	use.BySize = make([]int, len(sizes))
	var hashes []uint64
	for r, err := range ByTime(src) {
		if err != nil {
			return use, err
		}
		turn := &r.Conversation.Turns[r.Turn]
		use.Prompts += turn.PromptLen
		use.Span = max(use.Span, r.Ends)
		if tokens := reuse.Next(r.Conversation, r.Turn); tokens < 0 || use.Reusable < 0 {
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
