package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// percentile is the smallest of sorted that at least p percent of them do not
// exceed; 0 when there are none.
func percentile(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}

// median is the mean of the two in the middle where their number is even.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// tick is the unit of /proc/stat, which is the same on all Linux architectures
// that Go runs on.
const tick = 10 * time.Millisecond

// parseBusy reads from the text of /proc/stat how long a CPU was not idle since
// the machine started, the time that a hypervisor kept from it included. The
// name is cpu0, or cpu for all together.
func parseBusy(stat, name string) (time.Duration, error) {
	for line := range strings.Lines(stat) {
		fields := strings.Fields(line)
		if len(fields) < 9 || fields[0] != name {
			continue
		}
		busy := 0
		// User, nice, system, then idle and iowait, then interrupts and
		// what was stolen. Guests' time is in the user's.
		for i, field := range fields[1:9] {
			ticks, err := strconv.Atoi(field)
			if err != nil {
				return 0, fmt.Errorf("/proc/stat: %s: %w", name, err)
			}
			if i != 3 && i != 4 {
				busy += ticks
			}
		}
		return time.Duration(busy) * tick, nil
	}
	return 0, fmt.Errorf("/proc/stat has no %s", name)
}

// spread shows the median of values and how far they lie apart.
func spread(values []float64) string {
	return fmt.Sprintf("%.2f (%.2f to %.2f)", median(values), slices.Min(values), slices.Max(values))
}
