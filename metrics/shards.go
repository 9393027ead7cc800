package metrics

import (
	"time"
)

// Shards describes a run that several load generators made together.
type Shards struct {
	Of     int      // shards of the run
	Sound  int      // those that are there once, whole, and with the same parameters
	Faults []string // what is wrong with the others
	Hosts  []string // machines that they ran on, in order, each once; empty if unknown

	// Late is how late the first and the last shard sent their first measured request, by the clock
	// of the run and their schedules. It is nil for fewer than two.
	Late *Window
	Last string // name of the last shard

	// Offsets are the least and the greatest known offset of a shard's clock, nil if none is known;
	// Error bounds their error. Unclocked are the machines, or else the shards, without a known
	// offset.
	Offsets   *Window
	Error     time.Duration
	Unclocked []string
}

// Apart is the time between the first and the last shard's first request.
func (s *Shards) Apart() time.Duration {
	if s.Late == nil {
		return 0
	}
	return s.Late.To - s.Late.From
}
