package main

import (
	"context"
	"fmt"
	"time"

	"github.com/servebench/servebench/loadgen/engine"
)

// start is StartAt by this machine's clock; zero for at once.
func (s *shardOptions) start() time.Time {
	if s.StartAt.IsZero() || s.ClockOffset == nil {
		return s.StartAt
	}
	return s.StartAt.Add(*s.ClockOffset)
}

// warmLead is how long before the start connections are opened: time enough for
// many, and too short for a server to drop them.
const warmLead = 2 * time.Second

// awaitStart waits until it is time to open connections.
func (t *trial) awaitStart(ctx context.Context) {
	start := t.benches[0].Shard.start()
	if left := time.Until(start); !start.IsZero() && left > 0 {
		fmt.Fprintf(t.talk, "ready: the load begins at %s, in %.1f s\n", start.Format(time.RFC3339Nano), left.Seconds())
		engine.Sleep(ctx, start.Add(-warmLead))
	}
}

// late says by how much a load that began at an instant came too late, if it did.
func (s *shardOptions) late(epoch time.Time) []string {
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
