package plot

import (
	"math"

	"github.com/servebench/servebench/metrics/pool"
)

// memory is the chart of what the kvcached pools of the runs held; none without samples of a pool.
// The runs of several targets are on one clock. A single run also has what was in use.
func memory(runs []Run, colors []int) []Chart {
	c := Chart{
		Name: "pool", Title: "GPU memory held by kvcached's pools", X: Axis{Title: "Time since the start (s)"},
		Y:    Axis{Title: "Memory (MiB)"},
		Note: "Read ten times a second: KV cache in use, and pages kept ready.",
	}
	for i, r := range runs {
		course := pool.Of(r.Summary)
		if course == nil {
			continue
		}
		held, used := Series{Name: "held", Style: Step, Color: colors[i]},
			Series{Name: "in use", Style: Step, Color: colors[i] + 1}
		for k, at := range course.Readings {
			if k > 0 && k+1 < len(course.Readings) && shown(at, at.Held) == held.Y[len(held.Y)-1] &&
				shown(at, at.Used) == used.Y[len(used.Y)-1] {
				continue // a step lasts until the next
			}
			held.add(at.At.Seconds(), shown(at, at.Held))
			used.add(at.At.Seconds(), shown(at, at.Used))
		}
		if len(runs) > 1 {
			held.Name = seriesName(runs, i)
			c.Series = append(c.Series, held)
			continue
		}
		c.Series = append(c.Series, held, used)
		c.Limits = []Limit{{Name: "limit", At: float64(course.Limit) / pool.MiB}}
	}
	if c.Series == nil {
		return nil
	}
	c.fit(true)
	return []Chart{c}
}

// shown is a number of bytes in MiB, NaN if the pool could not be read.
func shown(r pool.Reading, bytes int64) float64 {
	if r.Unknown {
		return math.NaN()
	}
	return float64(bytes) / pool.MiB
}
