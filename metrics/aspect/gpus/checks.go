package gpus

import (
	"fmt"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/gpu"
	"github.com/servebench/servebench/metrics/verdict"
)

const (
	// Heat or a power brake halves the clocks of a GPU, or worse, and comes and goes with the weather.
	// One sample is forgiven, so that a short run is not SUSPECT for a spike.
	slowedLimit = 5.0 // % of the samples of a GPU under load
	// Large prefills bring a good card to its power cap, as its makers intend. If it stays there, its
	// clocks depend on the chip and its temperature, and another card has other numbers.
	cappedLimit = 50.0 // % likewise
)

// What to do about it.
const (
	cooler   = "let the GPU cool down, check its fans, or lower its clocks (nvidia-smi -lgc)"
	powered  = "check the power supply of the machine"
	uncapped = "raise the power limit (nvidia-smi -pl), or lower the clocks for all runs (nvidia-smi -lgc)"
)

// worstClocks is the GPU with the largest share of samples that count counts, in percent.
func worstClocks(s *metrics.Summary, count func(*gpu.Clocks) int) (worst *gpu.Clocks, share float64) {
	clocks := of(s).clocks
	for i := range clocks {
		c := &clocks[i]
		if of := verdict.Percent(count(c), c.Samples); c.Samples > 0 && (worst == nil || of > share) {
			worst, share = c, of
		}
	}
	return worst, share
}

// CheckSlowed finds a GPU that heat or a power brake slowed down.
func CheckSlowed(s *metrics.Summary) (verdict.Check, bool) {
	worst, share := worstClocks(s, func(c *gpu.Clocks) int { return c.Slowed })
	if worst == nil {
		return verdict.Check{}, false
	}
	reasons := worst.Reasons & gpu.Slowdown
	c := verdict.Check{Name: "GPU slowdown", Figure: share, Unit: "%",
		Limit:  max(slowedLimit, verdict.Percent(1, worst.Samples)),
		Remedy: powered}
	if reasons.Hot() {
		c.Remedy = cooler
	}
	c.Text = fmt.Sprintf("%s was slowed down in %s of %s under load", worst, verdict.ShowPercent(share),
		metrics.Counted(worst.Samples, "sample"))
	if reasons != 0 {
		c.Text += ": " + reasons.String()
	}
	return c, true
}

// CheckCapped finds a GPU that stayed at its power cap.
func CheckCapped(s *metrics.Summary) (verdict.Check, bool) {
	worst, share := worstClocks(s, func(c *gpu.Clocks) int { return c.Capped })
	if worst == nil {
		return verdict.Check{}, false
	}
	c := verdict.Check{Name: "GPU power cap", Figure: share, Unit: "%", Limit: cappedLimit, Remedy: uncapped}
	c.Text = fmt.Sprintf("%s was at its power cap in %s of %s under load", worst, verdict.ShowPercent(share),
		metrics.Counted(worst.Samples, "sample"))
	return c, true
}
