package spans

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
)

const msec = time.Millisecond

// waterfallRecord is a request that took 5 ms for its slot, 1 for our lag, 3 to connect, 2 to write,
// 40 until its first chunk, 60 until its last and 4 until its end.
func waterfallRecord() *record.Record {
	r := &record.Record{
		Times: record.Times{Due: 100 * msec, Slot: 105 * msec, Sent: 106 * msec, Wrote: 111 * msec, Last: 211 * msec, End: 215 * msec}, Tokens: record.Tokens{Out: 3},
		Conn: record.Conn{New: true, DNS: msec, Connect: msec, TLS: msec},
	}
	for _, at := range []time.Duration{151 * msec, 180 * msec, 211 * msec} {
		r.Answer.Chunks.Append(at)
	}
	return r
}

// atOnce is an answer that came whole.
func atOnce(at time.Duration) record.Stamps {
	var s record.Stamps
	s.Append(at)
	return s.Ends()
}

func TestTheSpansOfARequest(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*record.Record)
		want   Spans
	}{
		"undivided": {func(*record.Record) {}, Spans{5 * msec, msec, 3 * msec, 2 * msec, 0, 0, 0, 40 * msec, 60 * msec, 4 * msec}},
		"divided by the server": {
			func(r *record.Record) {
				r.Server = &record.ServerTimes{QueueMS: new(10.5), TTFTMS: new(20.0), GenerationMS: new(59.0)}
			},
			Spans{5 * msec, msec, 3 * msec, 2 * msec, 10500 * time.Microsecond, 20 * msec, 9500 * time.Microsecond, 0, 60 * msec, 4 * msec},
		},
		"its server claims more than we waited": {
			func(r *record.Record) { r.Server = &record.ServerTimes{QueueMS: new(30.0), TTFTMS: new(20.0)} },
			Spans{5 * msec, msec, 3 * msec, 2 * msec, 30 * msec, 20 * msec, -10 * msec, 0, 60 * msec, 4 * msec},
		},
		"without the queue": {
			func(r *record.Record) { r.Server = &record.ServerTimes{TTFTMS: new(20.0)} },
			Spans{5 * msec, msec, 3 * msec, 2 * msec, 0, 0, 0, 40 * msec, 60 * msec, 4 * msec},
		},
		"with times that no request takes": {
			func(r *record.Record) { r.Server = &record.ServerTimes{QueueMS: new(-1.0), TTFTMS: new(1e300)} },
			Spans{5 * msec, msec, 3 * msec, 2 * msec, 0, 0, 0, 40 * msec, 60 * msec, 4 * msec},
		},
		"with a slot before it was due": {
			func(r *record.Record) { r.Times.Slot = 90 * msec },
			Spans{0, 6 * msec, 3 * msec, 2 * msec, 0, 0, 0, 40 * msec, 60 * msec, 4 * msec},
		},
		"with an unknown write": {
			func(r *record.Record) { r.Times.Wrote = 0 },
			Spans{5 * msec, msec, 3 * msec, 0, 0, 0, 0, 42 * msec, 60 * msec, 4 * msec},
		},
		"whose write returned late": {
			func(r *record.Record) { r.Times.Wrote, r.Times.FirstByte = 160*msec, 112*msec },
			Spans{5 * msec, msec, 3 * msec, 3 * msec, 0, 0, 0, 39 * msec, 60 * msec, 4 * msec},
		},
		"whole": {
			func(r *record.Record) {
				r.Answer.Chunks, r.Answer.Unstreamed = atOnce(211*msec), true
				r.Server = &record.ServerTimes{QueueMS: new(10.0), TTFTMS: new(20.0)}
			},
			Spans{5 * msec, msec, 3 * msec, 2 * msec, 0, 0, 0, 100 * msec, 0, 4 * msec},
		},
		"whole, and its server reports all": {
			func(r *record.Record) {
				r.Answer.Chunks, r.Answer.Unstreamed = atOnce(211*msec), true
				r.Server = &record.ServerTimes{QueueMS: new(10.0), TTFTMS: new(20.0), GenerationMS: new(60.0)}
			},
			Spans{5 * msec, msec, 3 * msec, 2 * msec, 10 * msec, 20 * msec, 10 * msec, 0, 60 * msec, 4 * msec},
		},
	} {
		r := waterfallRecord()
		c.change(r)
		got, completed := OfRequest(r)
		if !completed || got != c.want {
			t.Errorf("a request %s: %v, %v; want %v", name, got, completed, c.want)
		}
		if got.Total() != r.Times.End-r.Times.Due || got.TTFT() != r.TTFT() && !r.Answer.Unstreamed {
			t.Errorf("a request %s: %v in all, TTFT %v", name, got.Total(), got.TTFT())
		}
	}
	failed := waterfallRecord()
	failed.Result.Class = record.Truncated
	if _, completed := OfRequest(failed); completed {
		t.Error("a failed request has spans")
	}
}

// All nanoseconds are in a span, whatever the request did.
func TestMeansOfSpansAddUpToTheWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	whole, merged, part := metrics.NewCollector(&metrics.Header{}, Kind), metrics.NewCollector(&metrics.Header{}, Kind), metrics.NewCollector(&metrics.Header{}, Kind)
	var total, first time.Duration
	completed := 0
	for i := range 1000 {
		ns := func() time.Duration { return time.Duration(rng.Int64N(int64(time.Second))) }
		r := &record.Record{Index: i, Conn: record.Conn{Connect: ns() / 1000}, Times: record.Times{Due: ns()}, Tokens: record.Tokens{Out: 2}}
		r.Times.Slot = r.Times.Due + ns()
		r.Times.Sent = r.Times.Slot + ns()
		r.Times.Wrote = r.Times.Sent + ns()
		r.Answer.Chunks.Append(r.Times.Wrote + ns())
		r.Answer.Chunks.Append(r.Answer.Chunks.Last() + ns())
		r.Times.Last = r.Answer.Chunks.Last()
		r.Times.End = r.Times.Last + ns()
		switch i % 4 {
		case 1:
			r.Server = &record.ServerTimes{QueueMS: new(rng.Float64() * 1000), TTFTMS: new(rng.Float64() * 300)}
		case 2:
			r.Result.Class = record.Reset
		}
		if r.Result.Class == record.OK {
			completed++
			total += r.Times.End - r.Times.Due
			first += r.TTFT()
		}
		whole.Add(r)
		if i%2 == 0 {
			merged.Add(r)
		} else {
			part.Add(r)
		}
	}
	merged.Merge(part, time.Hour)
	for name, s := range map[string]*metrics.Summary{"one stream": whole.Summary(10), "two shards": merged.Summary(10)} {
		w := Of(s)
		if w.Requests != completed || w.Divided != 250 || w.Negative < 10 || w.Spans.Total() != total || w.Spans.TTFT() != first || *w != *Of(whole.Summary(10)) {
			t.Errorf("%s: %+v; want %d requests, %v and %v", name, w, completed, total, first)
		}
		sum := 0.0
		for span := range w.Spans.All() {
			sum += w.Mean(span)
		}
		if mean := metrics.Milliseconds(total) / float64(completed); math.Abs(sum-mean) > 1e-9*mean {
			t.Errorf("%s: the means add up to %v, want %v", name, sum, mean)
		}
	}
}

func TestHistogramsOfTheServerDivideTheMeans(t *testing.T) {
	summary := func(times *samples.Totals, change func(*record.Record)) *Waterfall {
		h := new(metrics.Header)
		c := metrics.NewCollector(h, Kind)
		for range 4 {
			r := waterfallRecord()
			if change(r); r.Answer.Unstreamed {
				h.Config.Whole = true
			}
			c.Add(r)
		}
		s := c.Summary(1)
		s.Evidence = &evidence.Evidence{Server: evidence.Server{Times: times}}
		return Of(s)
	}
	counted := &samples.Totals{Queue: samples.Total{Seconds: 0.050, Requests: 5}, Prefill: samples.Total{Seconds: 0.150, Requests: 5}, Generation: samples.Total{Seconds: 0.250, Requests: 5}}
	streamed, answered := func(*record.Record) {}, func(r *record.Record) {
		r.Answer.Chunks, r.Answer.Unstreamed = atOnce(211*msec), true
	}
	for name, c := range map[string]struct {
		times   *samples.Totals
		change  func(*record.Record)
		want    Spans // of one request
		counted int64
	}{
		"a stream":             {counted, streamed, Spans{5 * msec, msec, 3 * msec, 2 * msec, 10 * msec, 30 * msec, 0, 0, 60 * msec, 4 * msec}, 5},
		"a whole answer":       {counted, answered, Spans{5 * msec, msec, 3 * msec, 2 * msec, 10 * msec, 30 * msec, 10 * msec, 0, 50 * msec, 4 * msec}, 5},
		"no histograms":        {nil, streamed, Spans{5 * msec, msec, 3 * msec, 2 * msec, 0, 0, 0, 40 * msec, 60 * msec, 4 * msec}, 0},
		"of few of them":       {&samples.Totals{Queue: samples.Total{Seconds: 0.05, Requests: 3}, Prefill: samples.Total{Seconds: 0.15, Requests: 3}}, streamed, Spans{5 * msec, msec, 3 * msec, 2 * msec, 0, 0, 0, 40 * msec, 60 * msec, 4 * msec}, 0},
		"without a generation": {&samples.Totals{Queue: samples.Total{Seconds: 0.05, Requests: 4}, Prefill: samples.Total{Seconds: 0.15, Requests: 4}}, answered, Spans{5 * msec, msec, 3 * msec, 2 * msec, 0, 0, 0, 100 * msec, 0, 4 * msec}, 0},
		"times of each request": {
			counted, func(r *record.Record) { r.Server = &record.ServerTimes{QueueMS: new(0.0), TTFTMS: new(25.0)} },
			Spans{5 * msec, msec, 3 * msec, 2 * msec, 0, 25 * msec, 15 * msec, 0, 60 * msec, 4 * msec}, 0,
		},
	} {
		got := summary(c.times, c.change)
		for span := range c.want.All() {
			if got.Mean(span) != metrics.Milliseconds(c.want[span]) {
				t.Errorf("%s: %v is %v ms, want %v", name, span, got.Mean(span), c.want[span])
			}
		}
		if got.Counted != c.counted || got.Requests != 4 {
			t.Errorf("%s: %d counted, %d requests", name, got.Counted, got.Requests)
		}
	}
}

// A server counts each answer of a request: with two to each, twice as many as there are requests. Fewer
// are not of all of them.
func TestTheServerCountsEachAnswer(t *testing.T) {
	for counted, want := range map[int64]int64{4: 0, 7: 0, 8: 8} {
		c := metrics.NewCollector(&metrics.Header{Config: metrics.Config{Traits: metrics.Traits{Answers: 2}}}, Kind)
		for i := range 4 {
			r := waterfallRecord()
			r.Index = i
			c.Add(r)
		}
		s := c.Summary(1)
		s.Evidence = &evidence.Evidence{Server: evidence.Server{Times: &samples.Totals{Queue: samples.Total{Seconds: 0.05, Requests: counted}, Prefill: samples.Total{Seconds: 0.15, Requests: counted}}}}
		if got := Of(s).Counted; got != want {
			t.Errorf("of %d: %d counted, want %d", counted, got, want)
		}
	}
}
