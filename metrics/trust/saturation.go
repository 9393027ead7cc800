package trust

import (
	"cmp"
	"fmt"
	"math"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/verdict"
)

// saturated reports that this process used up its cores.
func (j *judge) saturated() bool {
	for _, find := range []func(*judge) (verdict.Check, bool){(*judge).busiestSecond, (*judge).meanCPU} {
		if c, found := find(j); found && !c.Fine() {
			return true
		}
	}
	return false
}

// split is a check of CPU time, with the numbers in its remedy if it failed.
func (j *judge) split(c verdict.Check) verdict.Check {
	if !c.Fine() {
		c.Remedy = j.spread()
	}
	return c
}

// spread is the remedy if this process used up its cores: how many chunks a second fill one, and
// over how many machines to split the load. A shard has a part of the cores and the chunks, so for
// shards there are no numbers.
func (j *judge) spread() string {
	e := j.seen
	chunks := float64(e.Stamps.Kernel + e.Stamps.User)
	if j.run.Source.Shards != nil || chunks == 0 || e.CPU.Used <= 0 || e.CPU.Watched <= 0 {
		return roomier
	}
	had := chunks / e.CPU.Watched.Seconds()
	one, by := chunks/e.CPU.Used.Seconds(), "by the CPU time of this run"
	used := max(e.CPU.Busiest, e.CPU.Used.Seconds()/e.CPU.Watched.Seconds()/float64(max(e.CPU.Cores, 1)))
	if v := e.Selftest; v != nil && v.PerCore > 0 {
		one, by = v.PerCore, "by the selftest of this machine"
		used = max(used, had/one/float64(max(e.CPU.Cores, 1)))
	}
	machines := max(2, math.Ceil(used/(meanCPULimit/100)))
	more := j.sharded(fmt.Sprintf("use more cores, less load, or %.0f machines with --shard and --run-id", machines))
	return fmt.Sprintf("%s: %s chunks/s fill one core, %s, and this run had %s on %s",
		cmp.Or(more, "use more cores, or less load"), about(one), by, about(had), metrics.Counted(e.CPU.Cores, "core"))
}

// about is v with two significant digits.
func about(v float64) string {
	if v <= 0 {
		return "0"
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-1)
	return fmt.Sprintf("%.0f", math.Round(v/unit)*unit)
}
