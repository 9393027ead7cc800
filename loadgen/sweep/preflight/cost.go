package preflight

import (
	"fmt"
	"math"
	"strings"

	"github.com/servebench/servebench/loadgen/sweep"
	"github.com/servebench/servebench/metrics"
)

// repeats checks that servebench compare can give a verdict. Repeats of simulated servers cost no GPU,
// so too few of them are only noted.
func repeats(l *look) []Finding {
	few := l.plan.TooFew()
	switch {
	case few == "" && len(l.plan.Arms) > 1 && l.plan.Search == nil && l.plan.Sequential == nil:
		return []Finding{fine("repeats", "%d", l.plan.Repeats)}
	case few == "":
		return nil
	case l.plan.Simulated():
		return []Finding{note("repeats", "%s", few)}
	}
	return []Finding{missing("repeats", "raise repeats in the file", "%s", few)}
}

// spare is how much more of the disk has to be free than the records are expected to take.
const spare = 2

// disk checks that the records have room.
func disk(l *look) []Finding {
	cost, err := l.plan.Cost(l.dir)
	free, known := l.machine.Disk(l.dir)
	switch {
	case err != nil:
		return []Finding{missing("folder", "choose another one with -o", "%v", err)}
	case !known:
		return []Finding{note("disk", "the records take about %s; what is free is not known", size(cost.Bytes))}
	case free < spare*cost.Bytes:
		return []Finding{missing("disk", "choose another folder with -o", "the records take about %s, and %s are free",
			size(cost.Bytes), size(free))}
	}
	return []Finding{fine("disk", "the records take about %s, and twice as much is free", size(cost.Bytes))}
}

// size is a number of bytes.
func size(bytes int64) string {
	if bytes < 1e9 {
		return fmt.Sprintf("%.0f MB", math.Ceil(float64(bytes)/1e6))
	}
	return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
}

// duration forecasts the time of the runs that are left.
func duration(l *look) []Finding {
	cost, err := l.plan.Cost(l.dir)
	if err != nil || cost.Runs == 0 {
		return nil
	}
	unknown := ""
	if !l.plan.Simulated() && !strings.Contains(cost.Assuming, "finished") {
		unknown = "; how fast these servers are is not known before the first run"
	}
	return []Finding{note("time", "about %s for %s, assuming %s%s", sweep.Roughly(cost.Time),
		metrics.Counted(cost.Runs, "run"), cost.Assuming, unknown)}
}
