package trust

import (
	"fmt"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
)

// What follows are checks of a run that was put together from shards.

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

// noteQueues says that a limit which shards have a part of each is not one queue.
func (j *judge) noteQueues() string {
	n, limit := j.Header.Shards, j.Header.Config.MaxConcurrency
	if n < 2 || limit <= 0 {
		return ""
	}
	return fmt.Sprintf("--max-concurrency %d was split over %d shards: each has its own queue, "+
		"so the order in which waiting requests get their slots is approximately first in, first out", limit, n)
}
