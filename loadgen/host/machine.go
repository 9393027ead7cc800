package host

import (
	"bufio"
	"io"
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

// Busy is the time spent on any process, and in interrupts.
func (m MachineCPU) Busy() time.Duration { return m.Total - m.Idle - m.Stolen }

// Sub is the time spent between an earlier reading and m.
func (m MachineCPU) Sub(earlier MachineCPU) MachineCPU {
	return MachineCPU{m.Cores, m.Total - earlier.Total, m.Idle - earlier.Idle, m.Interrupts - earlier.Interrupts, m.Stolen - earlier.Stolen}
}

// StolenShare is the part of Total that was stolen, 0 to 1.
func (m MachineCPU) StolenShare() float64 {
	if m.Total <= 0 {
		return 0
	}
	return float64(m.Stolen) / float64(m.Total)
}

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
func parseCoreWait(text string) time.Duration {
	fields := strings.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	waited, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return time.Duration(waited)
}
