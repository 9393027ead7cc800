package selftest

import (
	"fmt"
	"math"
	"time"

	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/metrics"
)

// A Disturbance is what else happened on the machine while something was measured.
// Others and Stolen are nil where the system does not tell.
type Disturbance struct {
	// Others is the CPU time of other processes, interrupts not counted.
	Others *float64 `json:"others_percent_of_core"`
	Stolen *float64 `json:"stolen_percent"` // of the machine's CPU time
	Clock  float64  `json:"clock_step_ms"`  // that the wall clock was set by
	Void   string   `json:"void"`           // why the measurement says nothing; empty when it does
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

// Stop ends the watch. Besides this process, the measurement may have used the CPU
// in processes that have ended: children is their CPU time.
func (w *Watch) Stop(children time.Duration) Disturbance {
	machine := host.ReadMachineCPU().Sub(w.machine)
	var seen metrics.Evidence
	w.pulse.Stop(&seen)
	d := Disturbance{Clock: rounded(metrics.Milliseconds(seen.ClockStep))}
	d.judge(machine, seen.CPU+children, time.Since(w.began))
	return d
}

// judge fills in what others took of the machine during a window of time, when the
// measurement itself used own CPU time, and whether that makes it void. Interrupts are
// left out: nearly all of them are packets of the measurement.
func (d *Disturbance) judge(machine host.MachineCPU, own, window time.Duration) {
	if machine.Total > 0 && window > 0 {
		others := max(machine.Busy()-machine.Interrupts-own, 0)
		d.Others = new(rounded(100 * float64(others) / float64(window)))
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
