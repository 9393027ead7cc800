package backlog

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

const msec = time.Millisecond

// total is what is in all bins.
func (b *bins) total() (all bin) {
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
	var want bins
	for i := range 5 {
		var b bins
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
	var b bins
	const week = 7 * 24 * time.Hour
	for due := time.Duration(0); due < week; due += time.Minute {
		b.add(&record.Record{Times: record.Times{Due: due, End: due + time.Second}})
	}
	if all := b.total(); len(b.Bins) > mostBins || len(b.Bins) < mostBins/4 || all != (bin{7 * 24 * 60, 7 * 24 * 60, 7 * 24 * 60 * time.Second}) {
		t.Errorf("%d bins of %v: %+v", len(b.Bins), b.Width, all)
	}
	// Nonsense in a file is no trouble.
	for _, at := range []time.Duration{math.MaxInt64, math.MinInt64, -time.Second} {
		b.add(&record.Record{Times: record.Times{Due: at, End: at}})
	}
	if len(b.Bins) > mostBins {
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
		var first, second bins
		const later = 3137 * time.Millisecond
		for i, r := range records {
			if i%2 == 0 && r.Times.Due < 50*time.Second {
				first.add(r)
				continue
			}
			moved := *r
			moved.Shift(-later)
			second.add(&moved)
		}
		first.merge(&second, later)
		if got := first.growth(0); !got.Grows() || math.Abs(got.Growth-whole.Growth) > 0.02*whole.Growth {
			t.Errorf("%g s: the growth is %+v, of the whole %+v", seconds, got, whole)
		}
		var none bins
		if none.merge(&first, 0); none.total() != first.total() {
			t.Errorf("%+v, want %+v", none.total(), first.total())
		}
	}
}

// A conversation is in the backlog until its last turn ends: 20 a second of three turns
// each keep 12 of them going.
func TestConversationIsOneInTheBacklog(t *testing.T) {
	var b bins
	for i := range 400 {
		due := time.Duration(i) * 50 * msec
		for turn := range 3 {
			r := &record.Record{Index: i, Turn: turn, Times: record.Times{Due: due, End: due + 200*msec}}
			b.add(r)
			due = r.Times.End
		}
	}
	if got := b.growth(0); !got.Judged || math.Abs(got.Growth) > 0.05 || math.Abs(got.Offered-20) > 0.1 {
		t.Errorf("%+v", got)
	}
	if all := b.total(); all.Began != 400 || all.Ended != 400 {
		t.Errorf("%+v", all)
	}
	// And a server for one conversation at a time, 600 ms each, does not keep up.
	var slow bins
	free := time.Duration(0)
	for i := range 400 {
		due := time.Duration(i) * 50 * msec
		free = max(free, due)
		for turn := range 3 {
			free += 200 * msec
			slow.add(&record.Record{Index: i, Turn: turn, Times: record.Times{Due: due, End: free}})
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
	c := metrics.NewCollector(&metrics.Header{WarmUp: 5 * time.Second, Config: metrics.Config{RequestRate: 2 * q.capacity()}}, Kind)
	for _, r := range q.serve(2*q.capacity(), 10, 3) {
		if r.Times.Due < 5*time.Second {
			r.Phase = record.WarmUp
		}
		r.Times.Slot, r.Times.Sent = r.Times.Due, r.Times.Due
		c.Add(r)
	}
	s := c.Summary(10)
	if b := Of(s); !b.Grows() || b.Over.From < 5*time.Second {
		t.Errorf("%+v", b)
	}
}

// A queueing is a server as queueing theory has it, G/G/k: requests of random sizes
// that are due at random times wait for one of its slots, first in, first out.
type queueing struct {
	slots int                        // 0 for as many as it takes
	mean  float64                    // seconds that a request takes in its slot
	size  func(r *rand.Rand) float64 // of a request, 1 in the mean
	gap   func(r *rand.Rand) float64 // between two that are due, 1 in the mean
}

// A variate is a random number of mean 1.
type variate func(r *rand.Rand) float64

func constant(*rand.Rand) float64      { return 1 }
func exponential(r *rand.Rand) float64 { return r.ExpFloat64() }
func varied(r *rand.Rand) float64      { return math.Exp(0.5*r.NormFloat64() - 0.125) }

// bursty has 5.5 times the variance of an exponential one.
func bursty(r *rand.Rand) float64 {
	if r.IntN(5) == 0 {
		return 4 * r.ExpFloat64()
	}
	return r.ExpFloat64() / 4
}

// capacity is in requests a second.
func (q queueing) capacity() float64 { return float64(q.slots) / q.mean }

// serve is what a run does that has so many requests due a second, for so long. As in
// vLLM's client the last is due at the end.
func (q queueing) serve(rate, seconds float64, seed uint64) []*record.Record {
	r := rand.New(rand.NewPCG(seed, 13))
	due := make([]float64, int(rate*seconds))
	at := 0.0
	for i := range due {
		at += q.gap(r)
		due[i] = at
	}
	var records []*record.Record
	free := make([]float64, max(q.slots, 1))
	for _, d := range due {
		d *= seconds / at
		slot := slices.Index(free, slices.Min(free))
		begin := max(d, free[slot])
		end := begin + q.mean*q.size(r)
		if q.slots > 0 {
			free[slot] = end
		} else {
			end -= begin - d
		}
		records = append(records, &record.Record{Index: len(records), Times: record.Times{Due: duration(d), Sent: duration(d), End: duration(end)}})
	}
	return records
}

func duration(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

// grown is the growth of the backlog in a run.
func grown(records []*record.Record) Trend {
	var b bins
	for _, r := range records {
		b.add(r)
	}
	return b.growth(0)
}

// The servers of these tests, by slots and seconds a request: 20 to 73 requests a second.
var queues = []queueing{{slots: 1, mean: 0.05}, {slots: 6, mean: 0.25}, {slots: 16, mean: 0.25}, {slots: 32, mean: 1}, {slots: 22, mean: 0.3}}

func (q queueing) with(size, gap variate) queueing {
	q.size, q.gap = size, gap
	return q
}

// Runs at 50 to 90 % of what the server can do, with requests that are due evenly, at
// random and in bursts, for 5 s and for 30 s: one in a thousand may be taken for
// overloaded, and hardly one is.
func TestServerThatKeepsUpIsNotOverloaded(t *testing.T) {
	runs, judged, wrong := 0, 0, 0
	for _, q := range queues {
		for _, size := range []variate{constant, varied, exponential} {
			for _, gap := range []variate{constant, exponential, bursty} {
				for _, seconds := range []float64{5, 30} {
					for seed, share := range []float64{0.5, 0.6, 0.7, 0.8, 0.85, 0.9} {
						q := q.with(size, gap)
						b := grown(q.serve(share*q.capacity(), seconds, uint64(seed)))
						runs++
						if b.Judged {
							judged++
						}
						if b.Grows() {
							wrong++
							t.Logf("%d slots of %g s at %g %% for %g s: %+v", q.slots, q.mean, share*100, seconds, b)
						}
					}
				}
			}
		}
	}
	t.Logf("%d of %d runs called overloaded, %d judged", wrong, runs, judged)
	if wrong*1000 > runs || judged*10 < runs*9 {
		t.Errorf("%d of %d runs called overloaded, %d judged", wrong, runs, judged)
	}
}

// At 1.1 times what the server can do it takes half a minute to tell, at twice that 5 s,
// however much more it is than that.
func TestOverloadIsSeen(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	for _, load := range []struct {
		times, seconds float64
		gap            variate
		least          float64 // share of runs
	}{
		{1.1, 30, constant, 0.9}, {1.1, 30, exponential, 0.9}, {2, 5, constant, 0.95}, {2, 5, exponential, 0.95}, {2, 5, bursty, 0.95},
		{20, 5, exponential, 0.95}, {2, 3600, bursty, 1},
	} {
		t.Run(fmt.Sprintf("%g times for %g s", load.times, load.seconds), func(t *testing.T) {
			runs, seen := 0, 0
			for _, q := range queues {
				for seed := range uint64(12) {
					if load.seconds > 60 && seed > 0 {
						continue
					}
					q := q.with([]variate{constant, varied}[seed%2], load.gap)
					b := grown(q.serve(load.times*q.capacity(), load.seconds, seed))
					runs++
					if !b.Grows() {
						t.Logf("%d slots of %g s, seed %d: %+v", q.slots, q.mean, seed, b)
						continue
					}
					seen++
					if want := (load.times - 1) * q.capacity(); b.Growth < 0.3*want || b.Growth > 2*want {
						t.Errorf("%d slots of %g s: the backlog grows by %.1f a second, want %.1f", q.slots, q.mean, b.Growth, want)
					}
				}
			}
			t.Logf("%d of %d runs", seen, runs)
			if float64(seen) < load.least*float64(runs) {
				t.Errorf("%d of %d runs are called overloaded", seen, runs)
			}
		})
	}
}

// A server that is as quick however many requests it has fills up at first, with all
// that is due until the first have ended. That is no backlog, but for one run in a
// hundred, of those that last a few times as long as a request.
func TestFillingUpIsNoOverload(t *testing.T) {
	runs, wrong := 0, 0
	for _, size := range []variate{constant, varied, exponential} {
		for _, gap := range []variate{constant, exponential} {
			for _, seconds := range []float64{2, 4, 6, 8, 10, 15, 20, 30, 60} {
				for seed := range uint64(5) {
					q := queueing{mean: 5}.with(size, gap)
					runs++
					if b := grown(q.serve(20, seconds, seed)); b.Grows() {
						wrong++
						t.Logf("%g s, seed %d: %+v", seconds, seed, b)
					}
				}
			}
		}
	}
	if wrong*100 > runs {
		t.Errorf("%d of %d runs are called overloaded", wrong, runs)
	}
}

// A batching is a server that works in steps, as vLLM does: the more requests share a
// step, the longer it takes.
type batching struct {
	base, each float64 // seconds of a step, and for each request in it
	tokens     int     // of an answer, in the mean: a step gives each request one
	slots      int
}

// capacity is in requests a second.
func (b batching) capacity() float64 {
	return float64(b.slots) / float64(b.tokens) / (b.base + b.each*float64(b.slots))
}

// serve has requests end as the server does, due as q has it.
func (b batching) serve(q queueing, rate, seconds float64, seed uint64) []*record.Record {
	records := q.serve(rate, seconds, seed)
	r := rand.New(rand.NewPCG(seed, 14))
	left := make([]int, len(records))
	var running []int
	now := 0.0
	for next := 0; next < len(records) || len(running) > 0; {
		if len(running) == 0 {
			now = max(now, records[next].Times.Due.Seconds())
		}
		for next < len(records) && len(running) < b.slots && records[next].Times.Due.Seconds() <= now {
			left[next] = max(1, int(float64(b.tokens)*q.size(r)))
			running = append(running, next)
			next++
		}
		now += b.base + b.each*float64(len(running))
		running = slices.DeleteFunc(running, func(i int) bool {
			left[i]--
			records[i].Times.End = duration(now)
			return left[i] == 0
		})
	}
	return records
}

// A server that is slower the more it has to do takes a good part of a run to fill up,
// and its requests take ever longer meanwhile. At up to 95 % of what it can do one run in
// two hundred is taken for overloaded.
func TestServerThatFillsUpSlowlyIsNotOverloaded(t *testing.T) {
	if testing.Short() {
		t.Skip("720 queues: in go test without -short")
	}
	runs, wrong := 0, 0
	for _, b := range []batching{{0.01, 0.001, 100, 128}, {0.006, 0.0002, 300, 256}, {0.01, 0.0005, 50, 64}, {0.008, 0.0001, 100, 256}, {0.01, 0.002, 50, 256}} {
		for _, share := range []float64{0.8, 0.9, 0.95} {
			for _, seconds := range []float64{10, 20, 60} {
				for seed := range uint64(8) {
					for _, size := range []variate{constant, varied} {
						q := queueing{size: size, gap: []variate{constant, exponential}[seed%2]}
						runs++
						if g := grown(b.serve(q, share*b.capacity(), seconds, seed)); g.Grows() {
							wrong++
							t.Logf("%+v at %g %% for %g s: %+v", b, share*100, seconds, g)
						}
					}
				}
			}
		}
	}
	if wrong*200 > runs {
		t.Errorf("%d of %d runs are called overloaded", wrong, runs)
	}
}

// A run whose answers take a good part of it cannot be judged. That later requests
// took longer is said all the same.
func TestLaterRequestsThatTookLongerAreTold(t *testing.T) {
	short := queueing{slots: 8, mean: 2, size: varied, gap: exponential}
	b := grown(short.serve(20, 6, 1))
	if b.Judged || b.Late < b.Early*3/2 || b.Early == 0 {
		t.Errorf("five times what the server can do, for three answers' time: %+v", b)
	}
	calm := queueing{size: varied, gap: exponential, mean: 2}
	if b := grown(calm.serve(20, 6, 1)); b.Judged || b.Late != 0 {
		t.Errorf("a server that takes all at once: %+v", b)
	}
}
