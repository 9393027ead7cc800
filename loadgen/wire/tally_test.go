package wire

import (
	"reflect"
	"syscall"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/evidence"
)

func TestResetForgetsAllButWarmedConnections(t *testing.T) {
	tally := new(Tally)
	tally.open()
	tally.warm()
	tally.refused(syscall.EMFILE)
	tally.Chunk(Arrival{kernel: true, Age: time.Second}, true)
	tally.Chunk(Arrival{}, false)
	tally.protocol.Store(new(string))
	tally.closed.Add(1)
	if e := seenBy(tally); e.Stamps.Kernel != 1 || e.Stamps.User != 1 || e.Stamps.SharedReads != 1 || e.Connections.Opened != 1 {
		t.Errorf("%+v", e)
	}
	tally.Reset()
	if e := seenBy(tally); !reflect.DeepEqual(e, evidence.Evidence{Connections: evidence.Connections{Warmed: 1}}) || tally.Ages().TotalCount() != 0 {
		t.Errorf("after the reset %+v and %d ages", e, tally.Ages().TotalCount())
	}
}

// What came together is not late if we read in time, and what we read late may have come apart.
func TestOnlyALateReadMakesItsChunksLate(t *testing.T) {
	start := time.Now()
	arrival := func(after, age, reach time.Duration) Arrival {
		return Arrival{At: start.Add(after - age), Age: age, Reach: reach, kernel: true}
	}
	const ms = time.Millisecond
	tally := new(Tally)
	for _, test := range []struct {
		what   string
		a      Arrival
		chunks bool // the read's chunks are counted
		want   time.Duration
	}{
		{"read in time, though the bytes may be old", arrival(0, ms/10, 25*ms), true, 0},
		{"read late", arrival(20*ms, 5*ms, 25*ms), false, 20 * ms},
		{"read late, with bytes of one moment", arrival(20*ms, 5*ms, 5*ms+ms/20), false, 0},
		{"read late", arrival(20*ms, 5*ms, 25*ms), true, 20 * ms},
		{"soon after another late read", arrival(30*ms, ms/10, 25*ms+ms/10), true, 25 * ms},
		{"long after the last late read", arrival(31*ms, ms/10, 25*ms+ms/10), true, 0},
		{"without a stamp of the kernel", Arrival{At: start.Add(20 * ms)}, true, 0},
	} {
		if test.chunks {
			tally.Chunk(test.a, false)
		}
		if got := tally.Late(test.a); got != test.want {
			t.Errorf("%s: %v, want %v", test.what, got, test.want)
		}
	}
	if got := (*Tally)(nil).Late(arrival(0, 5*ms, 25*ms)); got != 20*ms {
		t.Errorf("without a tally %v, want 20ms", got)
	}
}

func TestNoTallyCountsNothing(t *testing.T) {
	var tally *Tally
	tally.Reset()
	tally.refused(syscall.EMFILE)
	if e := seenBy(tally); !reflect.DeepEqual(e, evidence.Evidence{}) || tally.Ages().TotalCount() != 0 {
		t.Errorf("%+v", e)
	}
}

// Vain attempts end the trial for most chances, and one that gains something pays for several.
func TestWhatSeldomPaysIsSeldomTried(t *testing.T) {
	chances := func(s *trial, n int, gains bool) (tried int) {
		for range n {
			if s.worth() {
				tried++
				s.tried(gains)
			}
		}
		return tried
	}
	s := new(trial)
	for _, c := range []struct {
		gains         bool
		chances, want int
	}{
		{false, mostDebt, mostDebt},
		{false, 10 * doubtEvery, 10},
		{true, doubtEvery, 1}, // the last of them
		{true, 100, 100},
		{false, mostDebt, mostDebt},
		{false, doubtEvery, 1},
	} {
		if got := chances(s, c.chances, c.gains); got != c.want {
			t.Errorf("%d of %d chances were tried, want %d", got, c.chances, c.want)
		}
	}
	if got := chances(nil, 1000, false); got != 1000 {
		t.Errorf("without a trial, %d of 1000 were tried", got)
	}
}

// To ask for each short request would cost as much as a read.
func TestTheKernelIsAskedForDisorderNowAndThen(t *testing.T) {
	c := new(stampedConn)
	for _, at := range []struct{ last, counted time.Duration }{
		{0, 1}, {time.Millisecond, 1}, {countEvery, 1}, {countEvery + 1, countEvery + 1}, {2 * countEvery, countEvery + 1}, {3 * countEvery, 3 * countEvery},
	} {
		if c.last = at.last; c.disorder() != 0 || c.counted != at.counted {
			t.Errorf("at %v: asked at %v, want %v", at.last, c.counted, at.counted)
		}
	}
}
