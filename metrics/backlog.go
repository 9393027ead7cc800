package metrics

import (
	"math"
	"slices"
	"time"
)

// The measures of a backlog. A run of 20 s has bins of 10 ms, one of a day bins of
// 82 s at most: a backlog that matters grows over a good part of the run.
const (
	backlogBins  = 2048
	backlogWidth = 10 * time.Millisecond
)

// A backlog counts by time how many requests were due, and how many of them have
// ended: the difference up to a time is the backlog then, the requests in flight and
// those that wait for a slot. When a run outgrows the bins they become twice as wide,
// so that it never takes more than 48 KiB. Each bin begins at a multiple of its
// width, so it does not matter in which order requests are added.
type backlog struct {
	Width  time.Duration `json:"width,omitempty"`  // of a bin
	Origin int64         `json:"origin,omitempty"` // the first bin's time in widths
	Bins   []backlogBin  `json:"bins,omitempty"`   // backlogBins at most
}

// A backlogBin is what there was of a backlog in a stretch of time. The later turns
// of a conversation are due when the turn before ends, so that they count as begun
// never: a conversation ends with its last turn.
type backlogBin struct {
	Began int           `json:"n,omitempty"` // conversations due
	Ended int           `json:"e,omitempty"` // that ended
	Took  time.Duration `json:"t,omitempty"` // from due to end, of all requests that were due then
}

func (b *backlogBin) add(other backlogBin) {
	b.Began += other.Began
	b.Ended += other.Ended
	b.Took += other.Took
}

// sound says whether b, which was read, is one that add can have made.
func (b *backlog) sound() bool {
	return b != nil && b.Width >= backlogWidth && len(b.Bins) <= backlogBins && max(b.Origin, -b.Origin) <= int64(math.MaxInt64/b.Width)
}

// mean is how long a request took.
func (b backlogBin) mean() time.Duration { return share(b.Took, b.Began) }

// add takes a request into account, measured or of the warm-up.
func (b *backlog) add(r *Record) {
	due := backlogBin{Began: 1, Took: r.End - r.Due}
	if r.Turn > 0 {
		due.Began, due.Ended = 0, -1
	}
	b.put(r.Due, due)
	b.put(r.End, backlogBin{Ended: 1})
}

func (b *backlog) put(at time.Duration, what backlogBin) {
	if len(b.Bins) == 0 {
		b.Width = max(b.Width, backlogWidth)
		b.Origin, b.Bins = floorDiv(int64(at), int64(b.Width)), []backlogBin{{}}
	}
	i := floorDiv(int64(at), int64(b.Width))
	for max(i, b.Origin+int64(len(b.Bins))-1)-min(i, b.Origin) >= backlogBins {
		b.widen()
		i = floorDiv(int64(at), int64(b.Width))
	}
	if short := b.Origin - i; short > 0 {
		b.Bins = slices.Insert(b.Bins, 0, make([]backlogBin, short)...)
		b.Origin = i
	}
	if short := i + 1 - b.Origin - int64(len(b.Bins)); short > 0 {
		b.Bins = append(b.Bins, make([]backlogBin, short)...)
	}
	b.Bins[i-b.Origin].add(what)
}

// widen makes the bins twice as wide.
func (b *backlog) widen() {
	origin := floorDiv(b.Origin, 2)
	wide := make([]backlogBin, floorDiv(b.Origin+int64(len(b.Bins))-1, 2)-origin+1)
	for i, bin := range b.Bins {
		wide[floorDiv(b.Origin+int64(i), 2)-origin].add(bin)
	}
	b.Width, b.Origin, b.Bins = 2*b.Width, origin, wide
}

// merge adds another backlog, whose clock began so much later: each bin where its
// middle lies then.
func (b *backlog) merge(other *backlog, later time.Duration) {
	for len(b.Bins) > 0 && b.Width < other.Width {
		b.widen()
	}
	b.Width = max(b.Width, other.Width)
	for i, bin := range other.Bins {
		if bin != (backlogBin{}) {
			b.put(time.Duration(other.Origin+int64(i))*other.Width+other.Width/2+later, bin)
		}
	}
}
