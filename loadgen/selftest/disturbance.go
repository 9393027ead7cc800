package selftest

import (
	"fmt"
	"math"
	"time"

	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/evidence"
)

// A Disturbance is what else happened on the machine during a measurement. Others and Stolen are
// nil if the system does not report them.
type Disturbance struct {
	// Others is the CPU time of other processes, interrupts not counted.
	Others *float64 `json:"others_percent_of_core"`
	Stolen *float64 `json:"stolen_percent"` // of the machine's CPU time
	Clock  float64  `json:"clock_step_ms"`  // by which the wall clock was set
	Void   string   `json:"void"`           // why the measurement is void; empty if it is valid
}

// A Watch looks for what disturbs a measurement.
type Watch struct {
	began   time.Time
	machine host.MachineCPU
	pulse   *host.Pulse
}

// StartWatch begins to look.
func StartWatch() *Watch {
	return &Watch{time.Now(), host.ReadMachineCPU(), host.StartPulse()}
}

// Stop ends the watch. children is the CPU time of processes of the measurement that have ended.
func (w *Watch) Stop(children time.Duration) Disturbance {
	machine := host.ReadMachineCPU().Sub(w.machine)
	var seen evidence.Evidence
	w.pulse.Stop(&seen)
	d := Disturbance{Clock: rounded(metrics.Milliseconds(seen.Pauses.ClockStep))}
	d.judge(machine, seen.CPU.Used+children, time.Since(w.began))
	return d
}

// judge fills in what others took of the machine during a window of time, when the
// measurement itself used own CPU time, and whether that makes it void.
func (d *Disturbance) judge(machine host.MachineCPU, own, window time.Duration) {
	if machine.Total > 0 && window > 0 {
		d.Others = new(rounded(100 * float64(machine.Others(own)) / float64(window)))
		d.Stolen = new(rounded(100 * machine.StolenShare()))
	}
	switch {
	case d.Others != nil && *d.Others > othersLimit:
		d.Void = fmt.Sprintf("others took %.1f %% of a core", *d.Others)
	case d.Stolen != nil && *d.Stolen > stolenLimit:
		d.Void = fmt.Sprintf("%.1f %% of the CPU time was stolen", *d.Stolen)
	case math.Abs(d.Clock) > clockLimit:
		d.Void = fmt.Sprintf("the wall clock was set by %.1f ms", d.Clock)
	}
}
