package host

import (
	"runtime"
	"runtime/debug"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/servebench/servebench/metrics"
)

const (
	// beatEvery is how often a Pulse wakes up.
	beatEvery = 10 * time.Millisecond
	// overdue is how late a beat must be to count as a stop of the process. Less is normal on a
	// busy scheduler.
	overdue = 20 * time.Millisecond
	// beatsToLook is the number of beats between readings of CPU time and collections.
	beatsToLook = 100
)

// A Pulse watches the process that makes a load: whether it was stopped, how much CPU it used, how
// long garbage collections stopped it. It says nothing about a request; it distinguishes an
// accurate run from a run that measured itself.
type Pulse struct {
	stop chan struct{}
	done chan struct{}

	start   time.Time
	stood   standstill
	cpu     time.Duration // at the start
	machine MachineCPU    // likewise
	gc      debug.GCStats

	lookedAt   time.Time // for the busiest second
	lookedCPU  time.Duration
	lookedWait time.Duration // wait for cores until then
	busiest    float64
	pauses     pauses
}

// pauses are the garbage-collection pauses during the watch.
type pauses struct {
	longest time.Duration
	waited  time.Duration // for cores by the process's threads, in the second of the longest
	before  time.Duration // the part of the first collection before the watch
}

// StartPulse begins to watch. Call Stop.
func StartPulse() *Pulse {
	now, cpu := time.Now(), processCPU()
	p := &Pulse{
		stop: make(chan struct{}), done: make(chan struct{}),
		start: now, stood: newStandstill(now), cpu: cpu, machine: ReadMachineCPU(),
		lookedAt: now, lookedCPU: cpu, lookedWait: coreWait(),
	}
	debug.ReadGCStats(&p.gc)
	go p.watch()
	return p
}

func (p *Pulse) watch() {
	defer close(p.done)
	ticker := time.NewTicker(beatEvery)
	defer ticker.Stop()
	for n := 1; ; n++ {
		select {
		case <-ticker.C:
		case <-p.stop:
			return
		}
		p.stood.beat(time.Now())
		if n%beatsToLook == 0 {
			p.look()
		}
	}
}

// look reads what happened since the previous look.
func (p *Pulse) look() {
	now, cpu := time.Now(), processCPU()
	if took := now.Sub(p.lookedAt); took > 0 {
		share := float64(cpu-p.lookedCPU) / float64(took) / float64(runtime.GOMAXPROCS(0))
		p.busiest = max(p.busiest, share)
	}
	var gc debug.GCStats
	waited := p.lookAtGC(&gc)
	p.lookedAt, p.lookedCPU, p.lookedWait = now, cpu, waited
}

// lookAtGC reads the collections since the previous look. It returns how long threads have waited
// for cores.
func (p *Pulse) lookAtGC(gc *debug.GCStats) (waited time.Duration) {
	debug.ReadGCStats(gc)
	waited = coreWait()
	for i, ended := range gc.PauseEnd {
		if ended.After(p.lookedAt) {
			p.pauses.take(gc.Pause[i], ended.Sub(p.start), waited-p.lookedWait)
		}
	}
	return waited
}

// take adds a pause, the sum of one collection, that ended at an instant of the watch. waited is
// how long threads waited for cores around that time.
func (s *pauses) take(pause, ended, waited time.Duration) {
	if before := pause - ended; before > 0 {
		s.before = before
		pause = ended
	}
	if pause > s.longest {
		s.longest, s.waited = pause, waited
	}
}

// Stop ends the watch and fills in what happened since StartPulse.
func (p *Pulse) Stop(e *metrics.Evidence) {
	close(p.stop)
	<-p.done
	now := time.Now()
	p.stood.beat(now)
	var gc debug.GCStats
	p.lookAtGC(&gc)
	// A rest of a few milliseconds would be the busiest second of any load.
	if p.busiest == 0 || now.Sub(p.lookedAt) > time.Second/2 {
		p.look()
	}

	e.Cores = runtime.GOMAXPROCS(0)
	e.Watched = now.Sub(p.start)
	e.CPU = processCPU() - p.cpu
	e.BusiestCPU = p.busiest
	machine := ReadMachineCPU().Sub(p.machine)
	e.Machine, e.StolenCPU = machine.Cores, machine.StolenShare()
	e.Stalls, e.Stalled, e.LongestStall = p.stood.times, p.stood.total, p.stood.longest
	e.WakeP99 = time.Duration(p.stood.late.ValueAtPercentile(99))
	e.GCs = int(gc.NumGC - p.gc.NumGC)
	e.GCPaused = gc.PauseTotal - p.gc.PauseTotal - p.pauses.before
	e.LongestGC, e.GCWait = p.pauses.longest, p.pauses.waited
	// A step of the wall clock moves it relative to the monotonic clock; a change of its rate moves
	// both.
	e.ClockStep = (now.Round(0).Sub(p.start.Round(0)) - e.Watched).Round(time.Microsecond)
}

// A standstill adds up how late beats came.
type standstill struct {
	last           time.Time
	times          int
	total, longest time.Duration
	late           *hdrhistogram.Histogram // how late each beat was, in nanoseconds
}

func newStandstill(now time.Time) standstill {
	return standstill{last: now, late: hdrhistogram.New(int64(time.Microsecond), int64(time.Hour), 2)}
}

func (s *standstill) beat(now time.Time) {
	late := now.Sub(s.last) - beatEvery
	s.last = now
	// It is in range, so this cannot fail.
	_ = s.late.RecordValue(int64(min(max(0, late), time.Hour)))
	if late < overdue {
		return
	}
	s.times++
	s.total += late
	s.longest = max(s.longest, late)
}
