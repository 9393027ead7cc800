package slicing

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/gpus"
	"github.com/servebench/servebench/metrics/aspect/processes"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
)

const msec = time.Millisecond

var epoch = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// traced sums up a run of so many seconds, and keeps its Trace.
func traced(c metrics.Config, seconds float64, records ...*record.Record) *metrics.Summary {
	collector := metrics.NewCollector(&metrics.Header{Config: c})
	collector.Keep.Trace = true
	for _, r := range records {
		collector.Add(r)
	}
	return collector.Summary(seconds)
}

// refused is a request from when it is sent to when it fails, in milliseconds.
func refused(sent, end float64) *record.Record {
	at := func(ms float64) time.Duration { return time.Duration(ms * float64(msec)) }
	return &record.Record{Times: record.Times{Due: at(sent), Slot: at(sent), Sent: at(sent), End: at(end)}, Result: record.Result{Class: record.Status, Error: "no"}}
}

// sentAt is a request sent, due and given its slot at so many milliseconds, with
// one token a chunk.
func sentAt(sent float64, chunks ...float64) *record.Record {
	at := time.Duration(sent * float64(msec))
	return arrived(record.Record{Times: record.Times{Due: at, Slot: at, Sent: at}, Tokens: record.Tokens{In: 10, Out: len(chunks)}}, chunks...)
}

// arrived is a completed request whose chunks came at these milliseconds after
// the start of the run.
func arrived(r record.Record, chunks ...float64) *record.Record {
	for _, at := range chunks {
		r.Answer.Chunks.Append(time.Duration(at * float64(msec)))
	}
	r.Times.Last = max(r.Times.Last, r.Answer.Chunks.Last())
	r.Times.End = max(r.Times.End, r.Times.Last)
	if r.Times.FirstContent == 0 {
		r.Times.FirstContent = r.Answer.Chunks.First()
	}
	return &r
}

// requests are made-up records, sent over ten seconds.
func requests(n int) []*record.Record {
	random := rand.New(rand.NewPCG(1, 2))
	records := make([]*record.Record, n)
	for i := range records {
		r := &record.Record{Index: i, Tokens: record.Tokens{In: 100}, Times: record.Times{Due: time.Duration(random.Int64N(1e10))}}
		r.Times.Slot = r.Times.Due + time.Duration(random.Int64N(1e8))
		r.Times.Sent = r.Times.Slot + time.Duration(random.Int64N(1e6))
		at := r.Times.Sent + time.Duration(random.Int64N(1e9))
		r.Tokens.Out = 1 + random.IntN(60)
		for range r.Tokens.Out {
			r.Answer.Chunks.Append(at)
			at += time.Duration(random.ExpFloat64() * 1e7)
		}
		r.Times.Last = r.Answer.Chunks.Last()
		r.Times.End = r.Times.Last
		records[i] = r
	}
	return records
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-3*math.Abs(b) }

func TestASliceHasWhatWasCompleteInIt(t *testing.T) {
	warm := sentAt(100, 200, 1100)
	warm.Phase = record.WarmUp
	s := traced(metrics.Config{}, 2.5, warm,
		sentAt(0, 400, 1000, 2400), // through three slices
		sentAt(500, 700),           // of one token
		sentAt(1000, 1200, 1999),
		refused(900, 1100),
		sentAt(2000, 2500), // to the end of the run
	)
	got, err := Slice(s, time.Second)
	if err != nil || len(got) != 3 {
		t.Fatalf("%d slices, %v", len(got), err)
	}
	nan := math.NaN()
	for i, want := range []metrics.Slice{
		{Window: metrics.Window{From: 0, To: time.Second}, Sent: 3, Completed: 1, InFlight: 1 + 0.2 + 0.1, Input: 10, Output: 2,
			TTFT: metrics.Spread{N: 2, Mean: 300, P99: 398}, TPOT: metrics.Spread{N: 0, Mean: nan, P99: nan}, ITL: metrics.Spread{N: 0, Mean: nan, P99: nan}, E2EL: metrics.Spread{N: 1, Mean: 200, P99: 200}},
		{Window: metrics.Window{From: time.Second, To: 2 * time.Second}, Sent: 1, Completed: 1, Failed: 1, InFlight: 1 + 0.999 + 0.1, Input: 10, Output: 3,
			TTFT: metrics.Spread{N: 1, Mean: 200, P99: 200}, TPOT: metrics.Spread{N: 1, Mean: 799, P99: 799}, ITL: metrics.Spread{N: 2, Mean: 699.5, P99: 799*0.99 + 6}, E2EL: metrics.Spread{N: 1, Mean: 999, P99: 999}},
		{Window: metrics.Window{From: 2 * time.Second, To: 2500 * msec}, Sent: 1, Completed: 2, InFlight: 0.8 + 1, Input: 20, Output: 2,
			TTFT: metrics.Spread{N: 1, Mean: 500, P99: 500}, TPOT: metrics.Spread{N: 1, Mean: 1000, P99: 1000}, ITL: metrics.Spread{N: 1, Mean: 1400, P99: 1400}, E2EL: metrics.Spread{N: 2, Mean: 1450, P99: 2400 - 0.01*1900}},
	} {
		have := got[i]
		for _, pair := range [][2]metrics.Spread{{have.TTFT, want.TTFT}, {have.TPOT, want.TPOT}, {have.ITL, want.ITL}, {have.E2EL, want.E2EL}} {
			for _, v := range [][2]float64{{float64(pair[0].N), float64(pair[1].N)}, {pair[0].Mean, pair[1].Mean}, {pair[0].P99, pair[1].P99}} {
				if !near(v[0], v[1]) && !(math.IsNaN(v[0]) && math.IsNaN(v[1])) {
					t.Errorf("slice %d: %+v, want %+v", i, pair[0], pair[1])
				}
			}
		}
		if !near(have.InFlight, want.InFlight) {
			t.Errorf("slice %d: %v in flight, want %v", i, have.InFlight, want.InFlight)
		}
		have.TTFT, have.TPOT, have.ITL, have.E2EL, have.InFlight = want.TTFT, want.TPOT, want.ITL, want.E2EL, want.InFlight
		have.TPOT, want.TPOT, have.ITL, want.ITL = metrics.Spread{}, metrics.Spread{}, metrics.Spread{}, metrics.Spread{} // NaN is not itself
		if !reflect.DeepEqual(have, want) {
			t.Errorf("slice %d: %+v, want %+v", i, have, want)
		}
	}
}

func TestSlicesAddUpToTheRun(t *testing.T) {
	run := traced(metrics.Config{RequestRate: 5}, 12, requests(200)...)
	parts, err := Slice(run, 70*msec)
	if err != nil {
		t.Fatal(err)
	}
	sent, completed, output, ttfts, itls, busy := 0, 0, 0, 0, 0, 0.0
	for _, p := range parts {
		sent, completed, output = sent+p.Sent, completed+p.Completed, output+p.Output
		ttfts, itls = ttfts+p.TTFT.N, itls+p.ITL.N
		busy += p.InFlight * p.Seconds()
	}
	if len(parts) != 172 || sent != 200 || completed != 200 || output != run.Totals.Output || ttfts != 200 || itls != run.ITL.Len() ||
		!near(busy, run.Truth.MeanConcurrency*12) {
		t.Errorf("%d slices: %d sent, %d completed, %d tokens, %d and %d latencies, %v s busy", len(parts), sent, completed, output, ttfts, itls, busy)
	}
}

func TestSlicesBeginWithTheMeasuredPart(t *testing.T) {
	c := metrics.NewCollector(&metrics.Header{Epoch: epoch, Delay: 2 * time.Second, WarmUp: 3 * time.Second})
	c.Keep.Trace = true
	c.Add(sentAt(5500, 5600))
	s := c.Summary(1.5)
	if !s.When.Date.Equal(epoch.Add(6500 * msec)) {
		t.Errorf("ended at %v", s.When.Date)
	}
	parts, _ := Slice(s, time.Second)
	if len(parts) != 2 || parts[0].Window != (metrics.Window{From: 5 * time.Second, To: 6 * time.Second}) || parts[1].To != 6500*msec || parts[0].Completed != 1 {
		t.Errorf("%+v", parts)
	}
}

func TestThereAreOnlySoManySlices(t *testing.T) {
	run := traced(metrics.Config{}, 100.001, sentAt(0, 1))
	if parts, err := Slice(run, 1000*time.Microsecond); err == nil || !strings.Contains(err.Error(), "100001 slices of 1ms: at most 100000 are allowed, so take 1.00001ms or more") || parts != nil {
		t.Errorf("%d slices, %v", len(parts), err)
	}
	if parts, err := Slice(run, 1001*time.Microsecond); err != nil || len(parts) == 0 {
		t.Errorf("%d slices, %v", len(parts), err)
	}
	run.Kept.Trace = nil
	if parts, err := Slice(run, time.Second); parts != nil || err != nil {
		t.Errorf("without a trace: %v, %v", parts, err)
	}
}

// v is a number that is known.
func v(f float64) *float64 { return &f }

func TestSamplesJoinTheSliceInWhichTheyWereTaken(t *testing.T) {
	run := traced(metrics.Config{}, 3, sentAt(0, 1))
	server := func(at float64, s samples.Server) *samples.Sample {
		return &samples.Sample{At: time.Duration(at * float64(time.Second)), Server: &s}
	}
	run.Kept.Trace.Samples = []*samples.Sample{
		server(-0.5, samples.Server{Running: v(99), Preemptions: v(5), PrefixQueries: v(100), PrefixHits: v(0)}),
		server(0.2, samples.Server{Running: v(2), Waiting: v(0), KVCache: v(0.5), Preemptions: v(7), PrefixQueries: v(200), PrefixHits: v(50)}),
		{At: 300 * msec, GPUs: []samples.GPU{{MemoryUsed: v(100), Utilization: v(0.5), Power: v(70)}, {Index: 1, MemoryUsed: v(300), Utilization: v(1)}}},
		{At: 400 * msec, Error: "no answer"},
		server(0.8, samples.Server{Running: v(4), Preemptions: v(7), PrefixQueries: v(300), PrefixHits: v(50)}),
		{At: 900 * msec, GPUs: []samples.GPU{{MemoryUsed: v(200), Power: v(90)}}},
		server(1.5, samples.Server{Running: v(8), Preemptions: v(8), PrefixQueries: v(300), PrefixHits: v(50)}),
		server(3.5, samples.Server{Running: v(99)}),
	}
	parts, err := Slice(run, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []metrics.Seen{
		{Running: v(3), Waiting: v(0), KVCache: v(0.5), PrefixHits: v(0.25), Preemptions: v(2), GPUMemory: v(300), GPUUtilization: v(0.75), GPUPower: v(80)},
		{Running: v(8), Preemptions: v(1)},
		{},
	} {
		if !reflect.DeepEqual(parts[i].Seen, want) {
			t.Errorf("slice %d: %+v, want %+v", i, parts[i].Seen, want)
		}
	}
}

// sampledAt is what a replica said.
func sampledAt(seconds float64, from string, s samples.Server) *samples.Sample {
	return &samples.Sample{At: time.Duration(seconds * float64(time.Second)), From: from, Server: &s}
}

func TestReplicasAddUp(t *testing.T) {
	run := traced(metrics.Config{}, 3, sentAt(0, 1))
	a, b := "http://a:8000", "http://b:8000"
	run.Kept.Trace.Samples = []*samples.Sample{
		sampledAt(0.1, a, samples.Server{Running: v(2), Waiting: v(1), KVCache: v(0.5), Preemptions: v(0), PrefixQueries: v(9000), PrefixHits: v(8000), Start: v(1)}),
		sampledAt(0.2, b, samples.Server{Running: v(10), Waiting: v(0), KVCache: v(0.25), Preemptions: v(7), PrefixQueries: v(100), PrefixHits: v(0), Start: v(2)}),
		sampledAt(0.5, a, samples.Server{Running: v(4), Waiting: v(1), KVCache: v(0.5), Preemptions: v(1), PrefixQueries: v(9100), PrefixHits: v(8050), Start: v(1)}),
		sampledAt(0.6, b, samples.Server{Running: v(12), Waiting: v(0), KVCache: v(0.25), Preemptions: v(9), PrefixQueries: v(400), PrefixHits: v(50), Start: v(2)}),
		sampledAt(1.1, a, samples.Server{Running: v(5), Start: v(1)}),
		{At: 1200 * msec, From: b, Error: "no answer"},
		sampledAt(2.1, a, samples.Server{Preemptions: v(2), Start: v(1)}),
		sampledAt(2.2, b, samples.Server{Preemptions: v(9), Start: v(2)}),
	}
	parts, err := Slice(run, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []metrics.Seen{
		{Running: v(14), Waiting: v(1), KVCache: v(0.375), PrefixHits: v(0.25), Preemptions: v(3)},
		{},
		{Preemptions: v(1)},
	} {
		if !reflect.DeepEqual(parts[i].Seen, want) {
			t.Errorf("slice %d: %+v, want %+v", i, parts[i].Seen, want)
		}
	}
}

// Behind a load balancer the samples of one URL are of several servers, which is not
// to be taken for what one of them did.
func TestSamplesOfSeveralProcessesAreOfNone(t *testing.T) {
	for name, c := range map[string]struct {
		second samples.Server
		from   string
		mixed  string
	}{
		"one":         {samples.Server{Running: v(2), Preemptions: v(3), Start: v(1.7e9)}, "", ""},
		"two starts":  {samples.Server{Running: v(2), Start: v(1.7e9 + 2.5)}, "", "it comes from processes that started at 2023-11-14T22:13:20.000000Z and at 2023-11-14T22:13:22.500000Z"},
		"preemptions": {samples.Server{Preemptions: v(2)}, "", "its count of preemptions went back from 3 to 2"},
		"queries":     {samples.Server{PrefixQueries: v(99)}, "", "its count of prompt tokens looked up in the prefix cache went back from 100 to 99"},
		"hits":        {samples.Server{PrefixHits: v(9)}, "", "its count of prompt tokens found in the prefix cache went back from 10 to 9"},
		"tokens":      {samples.Server{Generated: v(0)}, "", "its count of tokens generated went back from 5 to 0"},
		"a replica":   {samples.Server{Generated: v(0)}, "http://a:8000", "at http://a:8000 its count of tokens generated went back from 5 to 0"},
	} {
		h := &metrics.Header{Epoch: epoch}
		collector := metrics.NewCollector(h, gpus.Kind, processes.Kind)
		collector.Keep.Trace = true
		collector.Add(sentAt(0, 1))
		collector.AddSample(sampledAt(0.1, c.from, samples.Server{Running: v(4), Preemptions: v(3), PrefixQueries: v(100), PrefixHits: v(10), Generated: v(5), Start: v(1.7e9)}))
		collector.AddSample(&samples.Sample{At: 200 * msec, GPUs: []samples.GPU{{Power: v(70)}}})
		collector.AddSample(sampledAt(0.3, c.from, samples.Server{Running: v(4)}))
		collector.AddSample(sampledAt(0.4, c.from, c.second))
		s := collector.Summary(1)
		parts, err := Slice(s, time.Second)
		if err != nil || processes.Of(s).Mixed != c.mixed || (parts[0].Seen.Running == nil) != (c.mixed != "") || *parts[0].Seen.GPUPower != 70 {
			t.Errorf("%s: %q, %+v, %v", name, processes.Of(s).Mixed, parts[0].Seen, err)
		}
	}
}

// An answer that came whole has no TTFT and no TPOT, and its tokens count when it came.
func TestAWholeAnswerHasNoFirstChunkInASlice(t *testing.T) {
	whole := sentAt(0, 800)
	whole.Answer.Unstreamed, whole.Tokens.Out = true, 40
	parts, err := Slice(traced(metrics.Config{}, 2, whole, sentAt(100, 300, 500)), 2*time.Second)
	if err != nil || parts[0].TTFT.N != 1 || parts[0].TPOT.N != 1 || parts[0].E2EL.N != 2 || parts[0].Output != 42 {
		t.Errorf("slices %+v, %v", parts, err)
	}
}
