//go:build soak && linux

package main

import (
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"
)

// A footprint is the memory of a process, second by second.
type footprint []footstep

type footstep struct {
	at       time.Duration // since the first answer
	answered int64         // requests
	resident int64         // bytes
}

// watchMemory takes down the memory of a process from its first answer until it has
// ended, with what that came to.
func watchMemory(pid int, answered *atomic.Int64, ended <-chan error) (f footprint, err error) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var began time.Time
	for {
		select {
		case err := <-ended:
			return f, err
		case <-tick.C:
		}
		n := answered.Load()
		if n == 0 {
			continue
		}
		if began.IsZero() {
			began = time.Now()
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		if err != nil {
			continue // it has just ended
		}
		var size, resident int64
		if _, err := fmt.Sscan(string(text), &size, &resident); err != nil || resident == 0 {
			continue
		}
		f = append(f, footstep{time.Since(began), n, resident * int64(os.Getpagesize())})
	}
}

// print shows some thirty steps.
func (f footprint) print() {
	fmt.Println("second  requests    MB")
	for i := 0; i < len(f); i += max(1, len(f)/30) {
		fmt.Printf("%6.0f  %8d  %4d\n", f[i].at.Seconds(), f[i].answered, f[i].resident>>20)
	}
}

// until is what there was before a time.
func (f footprint) until(at time.Duration) footprint {
	i := slices.IndexFunc(f, func(s footstep) bool { return s.at >= at })
	if i < 0 {
		return f
	}
	return f[:i]
}

func (f footprint) most() (resident int64) {
	for _, s := range f {
		resident = max(resident, s.resident)
	}
	return resident
}

// slope is that of the straight line which fits best, in bytes a request.
func (f footprint) slope() float64 {
	var n, x, y, xx, xy float64
	for _, s := range f {
		a, b := float64(s.answered), float64(s.resident)
		n, x, y, xx, xy = n+1, x+a, y+b, xx+a*a, xy+a*b
	}
	return (n*xy - x*y) / (n*xx - x*x)
}
