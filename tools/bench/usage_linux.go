package main

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A usage is what CPUs had been used for at a moment.
type usage struct {
	at   time.Time
	own  time.Duration // by this process and its children that have ended
	busy time.Duration // by anybody, or kept back by a hypervisor, on the CPU looked at
}

// usageOf looks at one CPU: cpu0, or cpu for all together.
func usageOf(cpu string) (usage, error) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return usage{}, err
	}
	busy, err := parseBusy(string(stat), cpu)
	return usage{time.Now(), processTime() + childrenTime(), busy}, err
}

// since is the usage after an earlier one. What others took of the CPU is in
// shares of the time between.
func (u usage) since(earlier usage) (own time.Duration, others float64) {
	own = u.own - earlier.own
	return own, max(0, float64(u.busy-earlier.busy-own)/float64(u.at.Sub(earlier.at)))
}

// processTime is the CPU time that this process has used.
func processTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		panic(fmt.Sprintf("clock_gettime: %v", err)) // every Linux that Go runs on has the clock
	}
	return time.Duration(t.Nano())
}

// childrenTime is the CPU time that children have used, those of them that have
// ended.
func childrenTime() time.Duration {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_CHILDREN, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// residentMemory is how much memory this process has, in bytes.
func residentMemory() (int, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	var size, resident int
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		return 0, fmt.Errorf("/proc/self/statm: %w", err)
	}
	return resident * os.Getpagesize(), nil
}
