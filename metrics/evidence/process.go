package evidence

import (
	"cmp"
	"time"
)

// CPU is what the process and others took of the machine's cores.
type CPU struct {
	// Cores are the cores that the process may use at once, Machine the cores of its machine; 0 if
	// unknown. For several shards Machine is of the machine that Others is of.
	Cores   int `json:"cores,omitempty"`
	Machine int `json:"machine,omitempty"`
	// Watched is how long the process was watched, and Used the CPU time that it took in that time.
	Watched time.Duration `json:"watched,omitempty"`
	Used    time.Duration `json:"used,omitempty"`
	// Busiest is the share of its cores that it used in its busiest second, 0 to 1.
	Busiest float64 `json:"busiest,omitempty"`
	// Stolen is the share of the machine's CPU time that a hypervisor kept, 0 to 1.
	Stolen float64 `json:"stolen,omitempty"`

	// Others is the CPU time of all other processes of the machine in that time, interrupts
	// not counted. BusiestOthers is how many cores they had in the second in which they had
	// most and hardly a core was idle; 0 if there was no such second.
	Others        time.Duration `json:"others,omitempty"`
	BusiestOthers float64       `json:"busiest_others,omitempty"`
	// BusiestServers is how many cores the servers of the load that run on this machine had in that second.
	// Neither of the others includes them.
	BusiestServers float64 `json:"busiest_servers,omitempty"`

	// Quota is how many cores the CPU quota of the process's container gives it, 0 without one, and
	// Throttled how long that quota stopped it.
	Quota     float64       `json:"quota,omitempty"`
	Throttled time.Duration `json:"throttled,omitempty"`

	// MayPrioritize says that chrt --rr 10 could have given the process a real-time priority, which
	// it did not have.
	MayPrioritize bool `json:"may_prioritize,omitempty"`
}

func (c *CPU) add(other *CPU) {
	c.Watched = max(c.Watched, other.Watched)
	c.Used += other.Used
	c.Busiest = max(c.Busiest, other.Busiest)
	c.Stolen = max(c.Stolen, other.Stolen)
	// Cores of others are many or few by their machine.
	if cmp.Or(cmp.Compare(other.othersShare(), c.othersShare()), cmp.Compare(other.Others, c.Others)) > 0 {
		c.Machine, c.Others = other.Machine, other.Others
		c.BusiestOthers, c.BusiestServers = other.BusiestOthers, other.BusiestServers
	}
	if other.Throttled > c.Throttled {
		c.Quota, c.Throttled = other.Quota, other.Throttled
	}
	c.MayPrioritize = c.MayPrioritize || other.MayPrioritize
}

// othersShare is the share of its machine that other processes had in their busiest second.
func (c *CPU) othersShare() float64 { return c.BusiestOthers / float64(max(c.Machine, 1)) }

// Pauses are times in which the process did not run, or ran late.
type Pauses struct {
	// Stalls is how often the whole process was stopped, Stalled for how long in all.
	Stalls       int           `json:"stalls,omitempty"`
	Stalled      time.Duration `json:"stalled,omitempty"`
	LongestStall time.Duration `json:"longest_stall,omitempty"`
	// StallWait is the part of Stalled for which a thread of the process could have run and had
	// no core, and LongestStallWait that part of LongestStall.
	StallWait        time.Duration `json:"stall_wait,omitempty"`
	LongestStallWait time.Duration `json:"longest_stall_wait,omitempty"`
	// WakeP99 is how late the process woke up for a timer, 99th percentile.
	WakeP99 time.Duration `json:"wake_p99,omitempty"`
	// GCs are garbage collections, GCPaused their pauses in all, LongestGC the longest one.
	GCs       int           `json:"gcs,omitempty"`
	GCPaused  time.Duration `json:"gc_paused,omitempty"`
	LongestGC time.Duration `json:"longest_gc,omitempty"`
	// GCWait is how long threads of the process had no core in the second of LongestGC.
	GCWait time.Duration `json:"gc_wait,omitempty"`
	// ClockStep is by how much the wall clock was set.
	ClockStep time.Duration `json:"clock_step,omitempty"`
}

func (p *Pauses) add(other *Pauses) {
	if other.Stalled > p.Stalled {
		p.Stalls, p.Stalled, p.StallWait = other.Stalls, other.Stalled, other.StallWait
	}
	if other.LongestStall > p.LongestStall {
		p.LongestStall, p.LongestStallWait = other.LongestStall, other.LongestStallWait
	}
	p.WakeP99 = max(p.WakeP99, other.WakeP99)
	p.GCs += other.GCs
	p.GCPaused = max(p.GCPaused, other.GCPaused)
	if other.LongestGC > p.LongestGC {
		p.LongestGC, p.GCWait = other.LongestGC, other.GCWait
	}
	if other.ClockStep.Abs() > p.ClockStep.Abs() {
		p.ClockStep = other.ClockStep
	}
}
