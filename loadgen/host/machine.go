package host

import (
	"bufio"
	"bytes"
	"io"
	"math"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// MachineCPU is the time that all CPUs of the machine together spent, since it started. It is zero
// if the system does not report it.
type MachineCPU struct {
	Cores      int           // CPUs that are online
	Total      time.Duration // of all CPUs
	Idle       time.Duration // part of Total without work, waiting for disks included
	Interrupts time.Duration // part of Total in interrupts, deferred ones included: mostly packets
	Stolen     time.Duration // part of Total that a hypervisor gave to other machines
}

// busy is the time spent on any process, and in interrupts.
func (m MachineCPU) busy() time.Duration { return m.Total - m.Idle - m.Stolen }

// Sub is the time spent between an earlier reading and m.
func (m MachineCPU) Sub(earlier MachineCPU) MachineCPU {
	return MachineCPU{m.Cores, m.Total - earlier.Total, m.Idle - earlier.Idle, m.Interrupts - earlier.Interrupts,
		m.Stolen - earlier.Stolen}
}

// StolenShare is the part of Total that was stolen, 0 to 1.
func (m MachineCPU) StolenShare() float64 {
	if m.Total <= 0 {
		return 0
	}
	return float64(m.Stolen) / float64(m.Total)
}

// Others is the CPU time of all processes but this one, which used own. It leaves out
// interrupts: under a load nearly all of them are its packets.
func (m MachineCPU) Others(own time.Duration) time.Duration {
	return max(m.busy()-m.Interrupts-own, 0)
}

// full says whether hardly a core was idle.
func (m MachineCPU) full() bool { return m.Total > 0 && float64(m.Idle) < fullIdle*float64(m.Total) }

// fullIdle is the share of idle time below which a machine has no core to give.
const fullIdle = 0.15

// parseMachineCPU reads Linux's /proc/stat. Its first line has user, nice, system,
// idle, iowait, irq, softirq and steal, in hundredths of a second, and a line for each
// CPU follows. What guests used is part of user.
func parseMachineCPU(r io.Reader) MachineCPU {
	lines := bufio.NewScanner(r)
	lines.Scan()
	fields := strings.Fields(lines.Text())
	var m MachineCPU
	if len(fields) < 9 || fields[0] != "cpu" {
		return m
	}
	for i, field := range fields[1:9] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return MachineCPU{}
		}
		spent := time.Duration(ticks) * (time.Second / 100)
		m.Total += spent
		switch i {
		case 3, 4:
			m.Idle += spent
		case 5, 6:
			m.Interrupts += spent
		case 7:
			m.Stolen += spent
		}
	}
	for lines.Scan() && strings.HasPrefix(lines.Text(), "cpu") {
		m.Cores++
	}
	return m
}

// parseCoreWait reads Linux's /proc/PID/task/TID/schedstat: nanoseconds on a core, nanoseconds
// ready to run without a core, and the number of times on a core.
func parseCoreWait(text []byte) time.Duration {
	_, rest, _ := bytes.Cut(text, []byte(" "))
	field, _, _ := bytes.Cut(rest, []byte(" "))
	waited, err := strconv.ParseInt(string(field), 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(waited)
}

// Cores are how many cores this process can use at once, rounded up: GOMAXPROCS, or less if the quota of
// its container gives it less. Go itself stays at 2 or more under a smaller quota, and a GOMAXPROCS in
// the environment may be more than there are.
func Cores() int { return int(math.Ceil(cores())) }

// cores are the Cores, not rounded.
func cores() float64 {
	n := float64(min(runtime.GOMAXPROCS(0), runtime.NumCPU()))
	if given, known := quota(); known {
		n = min(n, given)
	}
	return n
}
