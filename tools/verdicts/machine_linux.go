package main

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	sampled  = 400 * time.Millisecond
	mostIdle = 0.2 // cores that others may use on an idle machine
)

// awaitIdle waits until nothing else uses the machine, for some time at most.
func awaitIdle(ctx context.Context, most time.Duration) {
	for start := time.Now(); time.Since(start) < most; {
		before := used()
		if !sleep(ctx, sampled) || (used()-before).Seconds() < mostIdle*sampled.Seconds() {
			return
		}
	}
}

// used is the CPU time that this machine has used since it started; 0 if it does not tell.
func used() (all time.Duration) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	for i, field := range strings.Fields(line) {
		// The line is: cpu user nice system idle iowait irq softirq steal guest guest_nice. Guests are in user and nice.
		if i == 0 || i == 4 || i == 5 || i > 8 {
			continue
		}
		ticks, _ := strconv.Atoi(field)
		all += time.Duration(ticks) * 10 * time.Millisecond
	}
	return all
}

// loadAverage is how many threads wanted a core in the last minute, on average, or 0.
func loadAverage() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	first, _, _ := strings.Cut(string(text), " ")
	average, _ := strconv.ParseFloat(first, 64)
	return average
}
