package tally

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestBusiestSecondIsThatOfEveryWindow(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		var s TimeSeries
		tokens := map[int64]int{} // by step
		for range 500 {
			at := time.Duration(random.Int64N(5e9)) - time.Second
			n := random.IntN(5)
			s.Add(at, n)
			tokens[int64(math.Floor(float64(at)/1e7))] += n
		}
		want := 0
		for first := int64(-200); first < 500; first++ {
			sum := 0
			for step := first; step < first+100; step++ {
				sum += tokens[step]
			}
			want = max(want, sum)
		}
		if got := s.BusiestSecond(); got != want {
			t.Fatalf("%d tokens, want %d", got, want)
		}
	}
}

func TestStepsWidenAndStayBounded(t *testing.T) {
	var s TimeSeries
	for i := range 10 {
		s.Add(time.Duration(i)*50*time.Millisecond, 1)
	}
	for _, day := range []struct {
		at    time.Duration
		width time.Duration
	}{
		{11*time.Hour + 30*time.Minute, 10 * time.Millisecond},
		{12 * time.Hour, 20 * time.Millisecond},
		{4 * 24 * time.Hour, 100 * time.Millisecond},
		{7 * 24 * time.Hour, 200 * time.Millisecond},
		{40 * 24 * time.Hour, time.Second},
		{365 * 24 * time.Hour, time.Second}, // nonsense, left out
		{math.MaxInt64, time.Second},
		{math.MinInt64, time.Second},
	} {
		s.Add(day.at, 3)
		if s.Width() != day.width || len(s.counts) > maxSteps || s.BusiestSecond() != 10 {
			t.Errorf("at %v: width %v, %d steps, %d in a second; want %v", day.at, s.Width(), len(s.counts), s.BusiestSecond(), day.width)
		}
	}
}

func TestNonsenseDoesNotBlurTheRest(t *testing.T) {
	var s TimeSeries
	s.Add(time.Second, 1)
	s.Add(math.MaxInt64, 1)
	if s.Width() != 10*time.Millisecond {
		t.Errorf("width %v", s.Width())
	}
}

func TestStepsBackwardsAreFewMoves(t *testing.T) {
	var s TimeSeries
	for i := range 100_000 {
		s.Add(-time.Duration(i)*10*time.Millisecond, 1)
	}
	if s.BusiestSecond() != 100 || len(s.counts) > 2*100_000+2 {
		t.Errorf("%d in a second, %d steps", s.BusiestSecond(), len(s.counts))
	}
}

func TestPeakConcurrencyIsThatOfEveryInstant(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for round := range 50 {
		var exact, folded InFlight
		type flight struct{ start, end time.Duration }
		var flights []flight
		for range 1 + random.IntN(60) {
			start := time.Duration(random.IntN(100)) * time.Millisecond
			f := flight{start, start + time.Duration(1+random.IntN(40))*time.Millisecond}
			flights = append(flights, f)
			exact.Add(f.start, f.end, 1000)
			folded.Add(f.start, f.end, 3)
		}
		want := 0
		for _, at := range flights {
			n := 0
			for _, f := range flights {
				if f.start <= at.start && at.start < f.end {
					n++
				}
			}
			want = max(want, n)
		}
		if got := exact.Peak(); got != want {
			t.Fatalf("round %d: %d in flight, want %d", round, got, want)
		}
		if got := folded.Peak(); got < want || got > len(flights) || len(folded.starts) > 3 {
			t.Fatalf("round %d: past the cap %d in flight, want at least %d", round, got, want)
		}
	}
}

func TestBusyIsTheTimeWithRequestsInFlight(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for round := range 50 {
		var exact, folded InFlight
		busy, touched := map[int]bool{}, map[int]bool{} // ms, and steps of 10 ms
		for range 1 + random.IntN(12) {
			start := random.IntN(300)
			end := start + random.IntN(40)
			for at := start; at <= end; at++ {
				busy[at] = busy[at] || at < end
				touched[at/10] = true
			}
			from, to := time.Duration(start)*time.Millisecond, time.Duration(end)*time.Millisecond
			exact.Add(from, to, 1000)
			folded.Add(from, to, 0)
		}
		want, steps := time.Duration(0), time.Duration(len(touched))*10*time.Millisecond
		for _, is := range busy {
			if is {
				want += time.Millisecond
			}
		}
		if exact.Any() != want || folded.Any() != steps {
			t.Fatalf("round %d: %v and, past the cap, %v, want %v and %v", round, exact.Any(), folded.Any(), want, steps)
		}
	}
	if n := new(InFlight).Any(); n != 0 {
		t.Errorf("busy for %v without a request", n)
	}
}

// Wide steps must not let starts and ends of a burst cancel each other out.
func TestABurstIsNotForgottenOnceStepsWiden(t *testing.T) {
	var f InFlight
	for range 1000 {
		f.Add(5*time.Millisecond, 6*time.Millisecond, 10)
	}
	for _, later := range []time.Duration{13 * time.Hour, 30 * 24 * time.Hour, math.MaxInt64 - time.Hour} {
		f.Add(later, later+time.Second, 10)
		if got := f.Peak(); got != 1000 || f.folded.starts.Width() != f.folded.ends.Width() {
			t.Errorf("after one at %v: %d in flight, steps of %v and %v", later, got, f.folded.starts.Width(), f.folded.ends.Width())
		}
	}
	f.Add(-time.Hour, 20*24*time.Hour, 10) // beside all of them
	if got := f.Peak(); got != 1001 {
		t.Errorf("%d in flight, want 1001", got)
	}
}

// Ends may lie closer together than starts.
func TestStartsAndEndsKeepOneWidth(t *testing.T) {
	var f flights
	f.add(0, 14*time.Hour)
	f.add(13*time.Hour, 14*time.Hour)
	if f.starts.Width() != f.ends.Width() || f.starts.Width() == 10*time.Millisecond || f.peak() != 2 {
		t.Errorf("steps of %v and %v, %d in flight", f.starts.Width(), f.ends.Width(), f.peak())
	}
}

func TestARequestThatNeverEndedWasNotInFlight(t *testing.T) {
	var f InFlight
	f.Add(time.Second, 0, 10)
	if f.Peak() != 0 || f.Busy != 0 {
		t.Errorf("%d in flight, busy for %v", f.Peak(), f.Busy)
	}
}

func TestMovedCountsGoToTheNearestStep(t *testing.T) {
	var from TimeSeries
	from.Add(0, 3)
	from.Add(50*time.Millisecond, 2)
	for later, want := range map[time.Duration]int64{-time.Millisecond: 0, 4 * time.Millisecond: 0, 6 * time.Millisecond: 1, -6 * time.Millisecond: -1} {
		var s TimeSeries
		s.Merge(&from, later)
		if s.origin != want || len(s.counts) != 6 || s.counts[0] != 3 || s.counts[5] != 2 {
			t.Errorf("%v later: %v from %d", later, s.counts, s.origin)
		}
	}
}
