package loadgen

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics"
)

// Shard says which part of a run is sent here, where several load generators share it,
// and when all of them begin.
type Shard struct {
	// Shard is the part; the zero value is the whole.
	dataset.Shard

	// StartAt is when the load begins, by the reference clock; zero for at once.
	StartAt time.Time

	// RunID is the whole run's; empty for one of its own.
	RunID string

	// ClockOffset is our wall clock less the reference clock; nil when the system is to say.
	ClockOffset *time.Duration
}

// start is StartAt by this machine's clock; zero for at once.
func (s *Shard) start() time.Time {
	if s.StartAt.IsZero() || s.ClockOffset == nil {
		return s.StartAt
	}
	return s.StartAt.Add(*s.ClockOffset)
}

// late says by how much a load that began at epoch came too late, if it did.
func (s *Shard) late(epoch time.Time) []string {
	late := epoch.Sub(s.start())
	if s.StartAt.IsZero() || late <= 0 {
		return nil
	}
	who := "the load"
	if s.Several() {
		who = fmt.Sprintf("shard %d", s.Index)
	}
	by := fmt.Sprintf("%.1f s", late.Seconds())
	if late < time.Second {
		by = fmt.Sprintf("%.1f ms", late.Seconds()*1e3)
	}
	return []string{fmt.Sprintf("%s began %s after --start-at", who, by)}
}

// Name is the shard's in file names.
func (s *Shard) Name() string { return fmt.Sprintf("shard%d", s.Index) }

// part is what is asked of the shard where c is asked of the whole run. A ramp, a
// curve and times of the dataset's own stay those of the whole.
func (s *Shard) part(c metrics.Config) metrics.Config {
	if !s.Several() {
		return c
	}
	c.NumPrompts, c.MaxConcurrency = s.Share(c.NumPrompts), s.Share(c.MaxConcurrency)
	c.RequestRate /= float64(s.Of)
	c.Label = cmp.Or(c.Label, c.Backend) + "-" + s.Name()
	c.Metadata = append(slices.Clone(c.Metadata), metrics.KV{Key: "shard", Value: fmt.Sprintf("%d/%d", s.Index, s.Of)})
	return c
}

// RunID is what was asked for as the id of the target's run; empty for any.
func (p *Plan) RunID() string {
	if p.Shard.RunID == "" || p.Target == "" {
		return p.Shard.RunID
	}
	return p.Shard.RunID + "-" + p.Target
}
