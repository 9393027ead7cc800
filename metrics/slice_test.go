package metrics

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestASliceHasWhatWasCompleteInIt(t *testing.T) {
	warm := sentAt(100, 200, 1100)
	warm.Phase = WarmUp
	s := traced(Config{}, 2.5, warm,
		sentAt(0, 400, 1000, 2400), // through three slices
		sentAt(500, 700),           // of one token
		sentAt(1000, 1200, 1999),
		refused(900, 1100),
		sentAt(2000, 2500), // to the end of the run
	)
	got, err := s.Slice(time.Second)
	if err != nil || len(got) != 3 {
		t.Fatalf("%d slices, %v", len(got), err)
	}
	nan := math.NaN()
	for i, want := range []Slice{
		{Window: Window{0, time.Second}, Sent: 3, Completed: 1, InFlight: 1 + 0.2 + 0.1, Input: 10, Output: 2,
			TTFT: Spread{2, 300, 398}, TPOT: Spread{0, nan, nan}, ITL: Spread{0, nan, nan}, E2EL: Spread{1, 200, 200}},
		{Window: Window{time.Second, 2 * time.Second}, Sent: 1, Completed: 1, Failed: 1, InFlight: 1 + 0.999 + 0.1, Input: 10, Output: 3,
			TTFT: Spread{1, 200, 200}, TPOT: Spread{1, 799, 799}, ITL: Spread{2, 699.5, 799*0.99 + 6}, E2EL: Spread{1, 999, 999}},
		{Window: Window{2 * time.Second, 2500 * msec}, Sent: 1, Completed: 2, InFlight: 0.8 + 1, Input: 20, Output: 2,
			TTFT: Spread{1, 500, 500}, TPOT: Spread{1, 1000, 1000}, ITL: Spread{1, 1400, 1400}, E2EL: Spread{2, 1450, 2400 - 0.01*1900}},
	} {
		have := got[i]
		for _, pair := range [][2]Spread{{have.TTFT, want.TTFT}, {have.TPOT, want.TPOT}, {have.ITL, want.ITL}, {have.E2EL, want.E2EL}} {
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
		have.TPOT, want.TPOT, have.ITL, want.ITL = Spread{}, Spread{}, Spread{}, Spread{} // NaN is not itself
		if !reflect.DeepEqual(have, want) {
			t.Errorf("slice %d: %+v, want %+v", i, have, want)
		}
	}
}

func TestSlicesAddUpToTheRun(t *testing.T) {
	run := traced(Config{RequestRate: 5}, 12, requests(200)...)
	parts, err := run.Slice(70 * msec)
	if err != nil {
		t.Fatal(err)
	}
	sent, completed, output, ttfts, itls, busy := 0, 0, 0, 0, 0, 0.0
	for _, p := range parts {
		sent, completed, output = sent+p.Sent, completed+p.Completed, output+p.Output
		ttfts, itls = ttfts+p.TTFT.N, itls+p.ITL.N
		busy += p.InFlight * p.Seconds()
	}
	if len(parts) != 172 || sent != 200 || completed != 200 || output != run.TotalOutput || ttfts != 200 || itls != run.ITL.Len() ||
		!near(busy, run.Truth.MeanConcurrency*12) {
		t.Errorf("%d slices: %d sent, %d completed, %d tokens, %d and %d latencies, %v s busy", len(parts), sent, completed, output, ttfts, itls, busy)
	}
}

func TestSlicesBeginWithTheMeasuredPart(t *testing.T) {
	c := NewCollector(&Header{Epoch: epoch, Delay: 2 * time.Second, WarmUp: 3 * time.Second})
	c.KeepTrace = true
	c.Add(sentAt(5500, 5600))
	s := c.Summary(1.5)
	if !s.Date.Equal(epoch.Add(6500 * msec)) {
		t.Errorf("ended at %v", s.Date)
	}
	parts, _ := s.Slice(time.Second)
	if len(parts) != 2 || parts[0].Window != (Window{5 * time.Second, 6 * time.Second}) || parts[1].To != 6500*msec || parts[0].Completed != 1 {
		t.Errorf("%+v", parts)
	}
}

func TestThereAreOnlySoManySlices(t *testing.T) {
	run := traced(Config{}, 100.001, sentAt(0, 1))
	if parts, err := run.Slice(1000 * time.Microsecond); err == nil || !strings.Contains(err.Error(), "100001 slices of 1ms: there may be 100000, of 1.00001ms or more") || parts != nil {
		t.Errorf("%d slices, %v", len(parts), err)
	}
	if parts, err := run.Slice(1001 * time.Microsecond); err != nil || len(parts) == 0 {
		t.Errorf("%d slices, %v", len(parts), err)
	}
	run.Trace = nil
	if parts, err := run.Slice(time.Second); parts != nil || err != nil {
		t.Errorf("without a trace: %v, %v", parts, err)
	}
}

// v is a number that is known.
func v(f float64) *float64 { return &f }

func TestSamplesJoinTheSliceInWhichTheyWereTaken(t *testing.T) {
	run := traced(Config{}, 3, sentAt(0, 1))
	server := func(at float64, s ServerSample) *Sample {
		return &Sample{At: time.Duration(at * float64(time.Second)), Server: &s}
	}
	run.Trace.Samples = []*Sample{
		server(-0.5, ServerSample{Running: v(99), Preemptions: v(5), PrefixQueries: v(100), PrefixHits: v(0)}),
		server(0.2, ServerSample{Running: v(2), Waiting: v(0), KVCache: v(0.5), Preemptions: v(7), PrefixQueries: v(200), PrefixHits: v(50)}),
		{At: 300 * msec, GPUs: []GPUSample{{MemoryUsed: v(100), Utilization: v(0.5), Power: v(70)}, {Index: 1, MemoryUsed: v(300), Utilization: v(1)}}},
		{At: 400 * msec, Error: "no answer"},
		server(0.8, ServerSample{Running: v(4), Preemptions: v(7), PrefixQueries: v(300), PrefixHits: v(50)}),
		{At: 900 * msec, GPUs: []GPUSample{{MemoryUsed: v(200), Power: v(90)}}},
		server(1.5, ServerSample{Running: v(8), Preemptions: v(1), PrefixQueries: v(300), PrefixHits: v(50)}), // began again
		server(3.5, ServerSample{Running: v(99)}),
	}
	parts, err := run.Slice(time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Seen{
		{Running: v(3), Waiting: v(0), KVCache: v(0.5), PrefixHits: v(0.25), Preemptions: v(2), GPUMemory: v(300), GPUUtilization: v(0.75), GPUPower: v(80)},
		{Running: v(8), Preemptions: v(1)},
		{},
	} {
		if !reflect.DeepEqual(parts[i].Seen, want) {
			t.Errorf("slice %d: %+v, want %+v", i, parts[i].Seen, want)
		}
	}
}
