package sim_test

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
)

// A statistic is a number of a block.
type statistic struct {
	name, kind string // kind: rate, mean (or median) or p99
	of         func(*metrics.Summary) float64
}

// statistics are what all blocks have; extras what one has beside them.
func statistics() (all, extras []statistic) {
	all = []statistic{
		{"duration", "rate", func(s *metrics.Summary) float64 { return s.When.Seconds }},
		{"out tok/s", "rate", func(s *metrics.Summary) float64 { return s.Rates.Output }},
		{"total tok/s", "rate", func(s *metrics.Summary) float64 { return s.Rates.Total }},
	}
	for _, m := range metrics.Metrics[:3] {
		name := strings.ToUpper(m.Name)
		all = append(all,
			statistic{"mean " + name, "mean", func(s *metrics.Summary) float64 { return m.Of(s).Mean() }},
			statistic{"median " + name, "mean", func(s *metrics.Summary) float64 { return m.Of(s).Median() }},
			statistic{"P99 " + name, "p99", func(s *metrics.Summary) float64 { return m.Of(s).Percentile(99) }})
	}
	for _, m := range metrics.Metrics[:4] {
		name := strings.ToUpper(m.Name)
		for _, p := range []float64{75, 90, 95} {
			extras = append(extras, statistic{fmt.Sprintf("P%v %s", p, name), "p99",
				func(s *metrics.Summary) float64 { return m.Of(s).Percentile(p) }})
		}
	}
	return all, append(extras,
		statistic{"mean E2EL", "mean", func(s *metrics.Summary) float64 { return s.E2EL.Mean() }},
		statistic{"median E2EL", "mean", func(s *metrics.Summary) float64 { return s.E2EL.Median() }},
		statistic{"P99 E2EL", "p99", func(s *metrics.Summary) float64 { return s.E2EL.Percentile(99) }})
}

// A comparison is a block beside its simulation.
type comparison struct {
	*plan
	name   string
	cells  []cell
	extras []cell // empty when the block has none
}

// A cell is one statistic of both.
type cell struct {
	*statistic
	seed, simulated float64
}

// compare sets a block beside the mean of simulated runs.
func compare(p *plan, name string, seed *metrics.Summary, runs []*metrics.Summary) comparison {
	mean := func(s *statistic) (sum float64) {
		for _, run := range runs {
			sum += s.of(run) / float64(len(runs))
		}
		return sum
	}
	if name == "" {
		name = p.name
	}
	c := comparison{plan: p, name: name}
	all, extras := statistics()
	for _, s := range all {
		c.cells = append(c.cells, cell{&s, s.of(seed), mean(&s)})
	}
	for _, s := range extras {
		if x := (cell{&s, s.of(seed), mean(&s)}); x.counts() {
			c.extras = append(c.extras, x)
		}
	}
	return c
}

// counts says whether the block has the statistic in more than its last digit.
func (c *cell) counts() bool { return c.seed > .05 }

func (c *cell) off() float64 { return c.simulated/c.seed - 1 }

func (c *cell) String() string {
	if !c.counts() {
		return "–"
	}
	return fmt.Sprintf("%s → %s (%+.0f)", digits(c.seed), digits(c.simulated), 100*c.off())
}

func digits(v float64) string {
	switch {
	case v >= 1000:
		return fmt.Sprintf("%.0f", v)
	case v >= 100:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// row is the comparison as a row of a table.
func (c *comparison) row() string {
	cells := []string{c.name}
	for _, x := range c.cells {
		cells = append(cells, x.String())
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// misses are the cells beyond their tolerance.
func (c *comparison) misses() (found []string) {
	for _, x := range slices.Concat(c.cells, c.extras) {
		if limit := c.allowed(x.statistic); x.counts() && math.Abs(x.off()) > limit {
			found = append(found, fmt.Sprintf("%s: %s: %s, allowed are %.0f %%", c.name, x.statistic.name, &x, 100*limit))
		}
	}
	return found
}
