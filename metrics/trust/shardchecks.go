package trust

import (
	"fmt"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
)

// This file checks a run that was put together from shards.

func (j *judge) shards() (metrics.Check, bool) {
	s := j.Shards
	if s == nil {
		return metrics.Check{}, false
	}
	c := metrics.Check{Name: "shards", Figure: float64(s.Sound), Unit: "shards", Limit: float64(s.Of), AtLeast: true}
	c.Text = fmt.Sprintf("all %d shards are there", s.Of)
	if len(s.Faults) > 0 {
		c.Figure = min(c.Figure, c.Limit-1) // a fault may be with one that is too many
		c.Text = strings.Join(s.Faults, "; ")
	}
	return c, true
}

func (j *judge) shardStarts() (metrics.Check, bool) {
	s := j.Shards
	if s == nil || s.Late == nil {
		return metrics.Check{}, false
	}
	took := j.Seconds * float64(time.Second/time.Millisecond)
	c := metrics.Check{Name: "shard starts", Figure: metrics.Milliseconds(s.Apart()), Unit: "ms", Limit: max(startsLimit, startsLimitOfRun/100*took), Remedy: "--start-at, and clocks that agree"}
	c.Text = fmt.Sprintf("shards began %s apart, %s last", showMS(c.Figure), s.Last)
	return c, true
}
