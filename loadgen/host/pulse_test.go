package host

import (
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/metrics/evidence"
)

func TestAStandstillIsABeatThatComesTooLate(t *testing.T) {
	start := time.Now()
	s := newStandstill(start)
	for _, at := range []time.Duration{
		10, 20, // on time
		49,  // 19 ms late: a busy scheduler
		80,  // 21 ms late
		210, // 120 ms late
		220,
	} {
		s.beat(start.Add(at*time.Millisecond), 0)
	}
	if s.times != 2 || s.total != 141*time.Millisecond || s.longest != 120*time.Millisecond {
		t.Errorf("%d times, %v, longest %v; want 2, 141ms, 120ms", s.times, s.total, s.longest)
	}
	if p99, p50 := s.late.ValueAtPercentile(99), s.late.ValueAtPercentile(50); p99 != s.late.Max() || p99 < 118e6 || p99 > 122e6 || p50 > 1000 {
		t.Errorf("beats were late by %d ns at p99 and %d ns at p50; want some 120 ms and 0", p99, p50)
	}
}

func TestAPulseOfAQuietProcessNoticesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := StartPulse()
		time.Sleep(2500 * time.Millisecond)
		var e evidence.Evidence
		p.Stop(&e)
		if e.CPU.Watched != 2500*time.Millisecond || e.CPU.Cores < 1 {
			t.Errorf("watched %v on %d cores", e.CPU.Watched, e.CPU.Cores)
		}
		if e.Pauses.Stalls != 0 || e.Pauses.Stalled != 0 || e.Pauses.LongestStall != 0 || e.Pauses.ClockStep != 0 {
			t.Errorf("in fake time there are no stalls and no steps: %+v", e)
		}
	})
}

func TestAPulseCountsCPUAndCollections(t *testing.T) {
	p := StartPulse()
	var kept [][]byte
	for before := processCPU(); before != 0 && processCPU() < before+20*time.Millisecond; {
		kept = append(kept[:len(kept)%64], make([]byte, 1<<20))
	}
	var e evidence.Evidence
	p.Stop(&e)
	if processCPU() == 0 {
		t.Skip("this system does not tell a process's CPU time")
	}
	if e.CPU.Used < 20*time.Millisecond || e.CPU.Busiest <= 0 {
		t.Errorf("CPU %v, busiest share %v", e.CPU.Used, e.CPU.Busiest)
	}
	if e.Pauses.GCs < 1 || e.Pauses.GCPaused <= 0 || e.Pauses.LongestGC <= 0 || e.Pauses.LongestGC > e.Pauses.GCPaused {
		t.Errorf("%d collections, %v, longest %v", e.Pauses.GCs, e.Pauses.GCPaused, e.Pauses.LongestGC)
	}
}

// A collection that ends while the watch begins counts in all numbers or in none.
func TestCollectionsAtTheStartAreCountedOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	for range 300 {
		var collecting sync.WaitGroup
		collecting.Go(runtime.GC)
		p := StartPulse()
		runtime.GC()
		var e evidence.Evidence
		p.Stop(&e)
		collecting.Wait()
		if e.Pauses.GCs < 1 || e.Pauses.GCPaused < e.Pauses.LongestGC || e.Pauses.LongestGC <= 0 {
			t.Fatalf("%d collections, %v, longest %v", e.Pauses.GCs, e.Pauses.GCPaused, e.Pauses.LongestGC)
		}
	}
}

// A collection that was under way when the watch began counts from then on.
func TestAPauseCountsAsFarAsItIsWatched(t *testing.T) {
	const ms = time.Millisecond
	var p pauses
	p.take(144*ms, 40*ms, 90*ms)
	if want := (pauses{longest: 40 * ms, waited: 90 * ms, before: 104 * ms}); p != want {
		t.Errorf("%+v, want %+v", p, want)
	}
	p.take(30*ms, 2000*ms, 500*ms)
	p.take(3999*ms, 9000*ms, 3500*ms)
	if want := (pauses{longest: 3999 * ms, waited: 3500 * ms, before: 104 * ms}); p != want {
		t.Errorf("%+v, want %+v", p, want)
	}
}

func TestWaitingForACoreIsReadAsTheKernelWritesIt(t *testing.T) {
	for text, want := range map[string]time.Duration{"860888 1205 1\n": 1205, "860888 0 1\n": 0, "": 0, "5\n": 0, "1 x 2\n": 0} {
		if got := parseCoreWait([]byte(text)); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestProcStatIsReadAsTheKernelWritesIt(t *testing.T) {
	const text = "cpu  4705 150 1120 16250 520 30 45 700 120 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n"
	m := parseMachineCPU(strings.NewReader(text))
	want := MachineCPU{Cores: 1, Total: 235200 * time.Millisecond, Idle: 167700 * time.Millisecond, Interrupts: 750 * time.Millisecond, Stolen: 7 * time.Second}
	if m != want || m.busy() != 60500*time.Millisecond {
		t.Errorf("got %+v, busy %v; want %+v", m, m.busy(), want)
	}
	later := MachineCPU{Total: want.Total + 10*time.Second, Idle: want.Idle, Stolen: want.Stolen + time.Second}
	if share := later.Sub(m).StolenShare(); share != 0.1 {
		t.Errorf("stolen share %v, want 0.1", share)
	}
	for _, text := range []string{"", "cpu 1 2\n", "intr 5 1 2 3 4 5 6 7 8 9\n", "cpu a b c d e f g h\n"} {
		if m := parseMachineCPU(strings.NewReader(text)); m != (MachineCPU{}) {
			t.Errorf("%q gave %+v", text, m)
		}
	}
}

func TestThePulseCountsTheLastCollection(t *testing.T) {
	ended := make(chan struct{})
	close(ended)
	now := time.Now()
	// One that has just looked, and whose watch is over.
	p := &Pulse{stop: make(chan struct{}), done: ended, start: now, looked: reading{at: now}, busiest: 0.5, stood: newStandstill(now)}
	runtime.GC()
	var e evidence.Evidence
	if p.Stop(&e); e.Pauses.LongestGC <= 0 || e.CPU.Busiest != 0.5 {
		t.Errorf("longest %v, busiest second %v; want the collection's, and 0.5", e.Pauses.LongestGC, e.CPU.Busiest)
	}
}

// What others had counts where they left hardly a core idle, and without interrupts.
func TestOthersCountWhereTheyFillTheMachine(t *testing.T) {
	const second = time.Second
	start := time.Unix(1, 0)
	for name, c := range map[string]struct {
		machine MachineCPU // of one second
		want    float64
	}{
		"others fill it":  {MachineCPU{Total: 2 * second, Idle: second / 10, Interrupts: second / 10}, 1.7},
		"a fifth is idle": {MachineCPU{Total: 2 * second, Idle: 2 * second / 5}, 0},
		"half is idle":    {MachineCPU{Total: 2 * second, Idle: second}, 0},
		"stolen":          {MachineCPU{Total: 2 * second, Stolen: second}, 0.9},
		"nobody tells":    {MachineCPU{}, 0},
	} {
		// The machine was idle before.
		m := c.machine
		m.Total, m.Idle = m.Total+100*second, m.Idle+100*second
		p := &Pulse{looked: reading{at: start, cpu: second, machine: MachineCPU{Total: 100 * second, Idle: 100 * second}}}
		p.share(reading{at: start.Add(second), cpu: second + second/10, machine: m})
		if math.Abs(p.others-c.want) > 1e-9 {
			t.Errorf("%s: others had %v cores, want %v", name, p.others, c.want)
		}
		// A rest of a few milliseconds says nothing.
		before := p.others
		if p.share(reading{at: start.Add(5 * time.Millisecond), cpu: 2 * second, machine: MachineCPU{Total: 10 * time.Millisecond}}); p.others != before {
			t.Errorf("%s: after a rest others had %v cores", name, p.others)
		}
	}
}

// The busiest second is the one with most, not the last one.
func TestTheBusiestSecondStays(t *testing.T) {
	const second = time.Second
	p := &Pulse{cores: 2, looked: reading{at: time.Unix(1, 0)}}
	var now reading
	for i, s := range []struct{ own, others time.Duration }{{second / 4, second}, {second / 2, 3 * second / 2}, {second / 10, second / 2}} {
		now = reading{p.looked.at.Add(second), p.looked.cpu + s.own, MachineCPU{Total: p.looked.machine.Total + s.own + s.others}, 0}
		p.share(now)
		p.looked = now
		if i == 2 && (p.busiest != 0.25 || p.others != 1.5) {
			t.Errorf("busiest %v, others %v", p.busiest, p.others)
		}
	}
}

// A server of the load on this machine is no other process.
func TestTheServerIsNoOtherProcess(t *testing.T) {
	const second = time.Second
	p := &Pulse{cores: 2, looked: reading{at: time.Unix(1, 0)}}
	p.share(reading{p.looked.at.Add(second), second / 4, MachineCPU{Total: 2 * second}, 3 * second / 2})
	if p.others != 0.25 || p.served != 1.5 {
		t.Errorf("others had %v cores, servers %v", p.others, p.served)
	}
}

// A second is a second, however late the beats come.
func TestAPulseLooksEverySecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		p := &Pulse{start: now, looked: reading{at: now}, stood: newStandstill(now)}
		defer p.waits.close()
		for range 9 { // late by 100 ms each
			time.Sleep(110 * time.Millisecond)
			if p.tick(); !p.looked.at.Equal(now) {
				t.Fatalf("looked after %v", p.looked.at.Sub(now))
			}
		}
		time.Sleep(110 * time.Millisecond)
		if p.tick(); p.looked.at.Sub(now) != 1100*time.Millisecond {
			t.Errorf("looked after %v, want 1.1s", p.looked.at.Sub(now))
		}
	})
}

// A stop in which threads waited for a core is told from one in which nothing could run.
func TestStopsAreToldByWhetherThreadsWaited(t *testing.T) {
	const ms = time.Millisecond
	start := time.Unix(1, 0)
	s := newStandstill(start)
	s.beat(start.Add(10*ms), ms)      // in time
	s.beat(start.Add(320*ms), 900*ms) // one thread waited from before
	s.beat(start.Add(830*ms), 4*ms)
	if s.times != 2 || s.total != 800*ms || s.waited != 304*ms || s.longest != 500*ms || s.longestWait != 4*ms {
		t.Errorf("%d stops of %v, waited %v; longest %v, waited %v", s.times, s.total, s.waited, s.longest, s.longestWait)
	}
}
