package metrics

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

// total is what is in all bins.
func (b *backlog) total() (all backlogBin) {
	for _, bin := range b.Bins {
		all.add(bin)
	}
	return all
}

// Shards and lines of a stream come in any order, and make the same backlog.
func TestBacklogHoldsInAnyOrder(t *testing.T) {
	q := queues[1].with(varied, exponential)
	records := q.serve(2*q.capacity(), 60, 1)
	r := rand.New(rand.NewPCG(1, 2))
	var want backlog
	for i := range 5 {
		var b backlog
		for _, r := range records {
			b.add(r)
		}
		if want.Bins == nil {
			want = b
		}
		if !reflect.DeepEqual(b, want) {
			t.Errorf("order %d gives %v bins of %v from %d, want %d of %v from %d", i, len(b.Bins), b.Width, b.Origin, len(want.Bins), want.Width, want.Origin)
		}
		r.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
	}
}

// However long the run, the bins do not become more, and nothing is lost.
func TestBacklogOfAWeekIsSmall(t *testing.T) {
	var b backlog
	const week = 7 * 24 * time.Hour
	for due := time.Duration(0); due < week; due += time.Minute {
		b.add(&Record{Due: due, End: due + time.Second})
	}
	if all := b.total(); len(b.Bins) > backlogBins || len(b.Bins) < backlogBins/4 || all != (backlogBin{7 * 24 * 60, 7 * 24 * 60, 7 * 24 * 60 * time.Second}) {
		t.Errorf("%d bins of %v: %+v", len(b.Bins), b.Width, all)
	}
	// Nonsense in a file is no trouble.
	for _, at := range []time.Duration{math.MaxInt64, math.MinInt64, -time.Second} {
		b.add(&Record{Due: at, End: at})
	}
	if len(b.Bins) > backlogBins {
		t.Errorf("%d bins", len(b.Bins))
	}
}

// Shards that began apart make the growth of the whole together, to within the width of
// a bin.
func TestBacklogsMerge(t *testing.T) {
	for _, seconds := range []float64{8, 100} { // bins of one width, or of another each
		q := queues[2].with(constant, constant)
		records := q.serve(2*q.capacity(), seconds, 1)
		whole := grown(records)
		var first, second backlog
		const later = 3137 * time.Millisecond
		for i, r := range records {
			if i%2 == 0 && r.Due < 50*time.Second {
				first.add(r)
				continue
			}
			moved := *r
			moved.shift(-later)
			second.add(&moved)
		}
		first.merge(&second, later)
		if got := first.growth(0); !got.Grows() || math.Abs(got.Growth-whole.Growth) > 0.02*whole.Growth {
			t.Errorf("%g s: the growth is %+v, of the whole %+v", seconds, got, whole)
		}
		var none backlog
		if none.merge(&first, 0); none.total() != first.total() {
			t.Errorf("%+v, want %+v", none.total(), first.total())
		}
	}
}

// A conversation is in the backlog until its last turn ends: 20 a second of three turns
// each keep 12 of them going.
func TestConversationIsOneInTheBacklog(t *testing.T) {
	var b backlog
	for i := range 400 {
		due := time.Duration(i) * 50 * msec
		for turn := range 3 {
			r := &Record{Index: i, Turn: turn, Due: due, End: due + 200*msec}
			b.add(r)
			due = r.End
		}
	}
	if got := b.growth(0); !got.Judged || math.Abs(got.Growth) > 0.05 || math.Abs(got.Offered-20) > 0.1 {
		t.Errorf("%+v", got)
	}
	if all := b.total(); all.Began != 400 || all.Ended != 400 {
		t.Errorf("%+v", all)
	}
	// And a server for one conversation at a time, 600 ms each, does not keep up.
	var slow backlog
	free := time.Duration(0)
	for i := range 400 {
		due := time.Duration(i) * 50 * msec
		free = max(free, due)
		for turn := range 3 {
			free += 200 * msec
			slow.add(&Record{Index: i, Turn: turn, Due: due, End: free})
			due = free
		}
	}
	if got := slow.growth(0); !got.Grows() || math.Abs(got.Growth-18.3) > 0.2 {
		t.Errorf("%+v, want a growth of 18.3", got)
	}
}

// A backlog of the warm-up goes on growing in the measured part, which begins with it.
func TestBacklogOfTheWarmUp(t *testing.T) {
	q := queues[1].with(constant, exponential)
	c := NewCollector(&Header{WarmUp: 5 * time.Second, Config: Config{RequestRate: 2 * q.capacity()}})
	for _, r := range q.serve(2*q.capacity(), 10, 3) {
		if r.Due < 5*time.Second {
			r.Phase = WarmUp
		}
		r.Slot, r.Sent = r.Due, r.Due
		c.Add(r)
	}
	s := c.Summary(10)
	if b := s.Truth.Backlog; !b.Grows() || b.Over.From < 5*time.Second {
		t.Errorf("%+v", b)
	}
}

// A backlog that was read is taken only if it can be one.
func TestUnsoundBacklogIsLeftOut(t *testing.T) {
	for text, want := range map[string]bool{
		`null`: false, `{}`: false, `{"width":1}`: false, `{"width":10000000}`: true, `{"width":10000000,"origin":-922337203685477}`: false,
		`{"width":20000000,"origin":3,"bins":[{"n":1},{"e":1,"t":5}]}`: true,
	} {
		var b *backlog
		if err := json.Unmarshal([]byte(text), &b); err != nil {
			t.Fatal(err)
		}
		if b.sound() != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
}
