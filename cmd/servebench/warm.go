package main

import (
	"context"
	"fmt"
	"math"

	"github.com/servebench/servebench/loadgen"
)

// warm opens the connections that the load is going to need.
func (b *bench) warm(ctx context.Context) error {
	if !b.Traffic.Warm {
		return nil
	}
	opened, err := b.transport.Warm(ctx, b.Server.BaseURL, b.warmable())
	if err != nil {
		return interrupted(ctx, exitError{fmt.Errorf("--warm-connections: %w", err), exitNo})
	}
	b.say("opened %s beforehand", count(opened, "connection"))
	return nil
}

// warmable is how many connections are worth opening beforehand: what can be in
// flight at once or, where nothing bounds that, what is sent before a connection
// has lain unused for too long.
func (b *bench) warmable() int {
	if n := b.atOnce(); n > 0 {
		return n
	}
	rate := b.firstRate() / float64(max(b.Shard.Of, 1))
	return min(b.share(), max(1, int(math.Ceil(rate*loadgen.IdleTimeout.Seconds()))))
}
