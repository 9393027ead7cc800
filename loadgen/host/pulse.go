package host

import (
	"math"
	"runtime/debug"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/servebench/servebench/metrics/evidence"
)

const (
	// beatEvery is how often a Pulse wakes up.
	beatEvery = 10 * time.Millisecond
	// overdue is how late a beat must be to count as a stop of the process. Less is normal on a
	// busy scheduler.
	overdue = 20 * time.Millisecond
	// lookEvery is the time between readings of CPU time and collections. A number of beats would
	// be longer the later they come, since a ticker drops ticks.
	lookEvery = time.Second
)

// A Pulse watches the process that makes a load: whether it was stopped, how much CPU it used, how
// long garbage collections stopped it. It says nothing about a request; it distinguishes an
// accurate run from a run that measured itself.
type Pulse struct {
	stop chan struct{}
	done chan struct{}

	start     time.Time
	cores     float64 // that the process can use
	stood     standstill
	cpu       time.Duration // at the start
	serversAt time.Duration // likewise, of the servers
	machine   MachineCPU    // likewise
	gc        debug.GCStats

	looked  reading // when last looked
	busiest float64
	others  float64 // cores of other processes in their busiest second
	served  float64 // cores of the servers in that second
	servers []int   // processes of the servers on this machine
	quota   quotaUse
	waits   coreWait
	waited  time.Duration // for cores since the last look
	pauses  pauses

	collected int64 // collections up to the last look
}

// A reading is what the process and its machine had used at a time.
type reading struct {
	at      time.Time
	cpu     time.Duration
	machine MachineCPU
	servers time.Duration
}

func (p *Pulse) read() reading {
	return reading{time.Now(), processCPU(), ReadMachineCPU(), cpuOf(p.servers)}
}

// pauses are the garbage-collection pauses during the watch.
type pauses struct {
	longest time.Duration
	waited  time.Duration // for cores, in the second of the longest
	before  time.Duration // the part of the first collection before the watch
}

// StartPulse begins to watch. What belongs to those servers of the load is no other process; 0 is an unknown
// one. Call Stop.
func StartPulse(servers ...int) *Pulse {
	p := &Pulse{servers: FamilyOf(servers...).members()}
	first := p.read()
	*p = Pulse{
		servers: p.servers, quota: readQuota(),
		stop: make(chan struct{}), done: make(chan struct{}),
		start: first.at, cores: cores(), stood: newStandstill(first.at), cpu: first.cpu, serversAt: first.servers,
		machine: first.machine, looked: first,
	}
	p.waits.refresh()
	debug.ReadGCStats(&p.gc)
	p.collected = p.gc.NumGC
	go p.watch()
	return p
}

func (p *Pulse) watch() {
	defer close(p.done)
	ticker := time.NewTicker(beatEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-p.stop:
			return
		}
		p.tick()
	}
}

// tick notes a beat, and looks if that is due.
func (p *Pulse) tick() {
	p.beat()
	if time.Since(p.looked.at) >= lookEvery {
		p.look()
	}
}

// beat notes how late it is, and for how long a thread had no core since the previous beat.
func (p *Pulse) beat() {
	waited := p.waits.longest()
	p.waited += waited
	p.stood.beat(time.Now(), waited)
}

// look reads what happened since the previous look. It returns the reading, and the
// collections so far.
func (p *Pulse) look() (now reading, gc debug.GCStats) {
	now = p.read()
	p.share(now)
	debug.ReadGCStats(&gc)
	for i := range min(int(gc.NumGC-p.collected), len(gc.Pause)) { // the newest are first
		p.pauses.take(gc.Pause[i], gc.PauseEnd[i].Sub(p.start), p.waited)
	}
	p.collected = gc.NumGC
	p.waits.refresh()
	p.looked, p.waited = now, 0
	return now, gc
}

// share notes who had the cores since the previous look.
func (p *Pulse) share(now reading) {
	took, own := now.at.Sub(p.looked.at), now.cpu-p.looked.cpu
	// A rest of a few milliseconds would be the busiest second of any load.
	if took < time.Second/2 && (took <= 0 || p.busiest > 0) {
		return
	}
	p.busiest = max(p.busiest, float64(own)/float64(took)/p.cores)
	served := max(0, now.servers-p.looked.servers)
	machine := now.machine.Sub(p.looked.machine)
	if others := float64(machine.Others(own+served)) / float64(took); machine.full() &&
		others+float64(served)/float64(took) > p.others+p.served {
		p.others, p.served = others, float64(served)/float64(took)
	}
}

// take adds a pause, the sum of one collection, that ended at an instant of the watch. waited is
// how long threads waited for cores around that time, one after the other.
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
func (p *Pulse) Stop(e *evidence.Evidence) {
	close(p.stop)
	<-p.done
	p.beat()
	last, gc := p.look()
	p.waits.close()

	cpu := &e.CPU
	cpu.Cores = int(math.Ceil(p.cores))
	cpu.Watched = last.at.Sub(p.start)
	cpu.Used = last.cpu - p.cpu
	cpu.Busiest = p.busiest
	machine := last.machine.Sub(p.machine)
	cpu.Machine, cpu.Stolen = machine.Cores, machine.StolenShare()
	cpu.Others = machine.Others(cpu.Used + max(0, last.servers-p.serversAt))
	cpu.BusiestOthers, cpu.BusiestServers = p.others, p.served
	cpu.Quota, cpu.Throttled = p.quota.used()

	pauses := &e.Pauses
	pauses.Stalls, pauses.Stalled, pauses.LongestStall = p.stood.times, p.stood.total, p.stood.longest
	pauses.StallWait, pauses.LongestStallWait = p.stood.waited, p.stood.longestWait
	pauses.WakeP99 = time.Duration(p.stood.late.ValueAtPercentile(99))
	pauses.GCs = int(gc.NumGC - p.gc.NumGC)
	pauses.GCPaused = gc.PauseTotal - p.gc.PauseTotal - p.pauses.before
	pauses.LongestGC, pauses.GCWait = p.pauses.longest, p.pauses.waited
	// Setting the wall clock moves it against the monotonic one; steering its
	// rate moves both alike.
	pauses.ClockStep = (last.at.Round(0).Sub(p.start.Round(0)) - cpu.Watched).Round(time.Microsecond)
}

// A standstill adds up how late beats came.
type standstill struct {
	last           time.Time
	times          int
	total, longest time.Duration
	waited         time.Duration           // part of total in which threads had no core
	longestWait    time.Duration           // likewise of longest
	late           *hdrhistogram.Histogram // how late each beat was, in nanoseconds
}

func newStandstill(now time.Time) standstill {
	return standstill{last: now, late: hdrhistogram.New(int64(time.Microsecond), int64(time.Hour), 2)}
}

func (s *standstill) beat(now time.Time, waited time.Duration) {
	late := now.Sub(s.last) - beatEvery
	s.last = now
	// It is in range, so this cannot fail.
	_ = s.late.RecordValue(int64(min(max(0, late), time.Hour)))
	if late < overdue {
		return
	}
	s.times++
	s.total += late
	waited = min(waited, late)
	s.waited += waited
	if late > s.longest {
		s.longest, s.longestWait = late, waited
	}
}
