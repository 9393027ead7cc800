package main

import (
	"context"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"time"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/metrics"
)

// A lagJob sends requests at a rate.
type lagJob struct {
	Addr    netip.AddrPort // of the server; none is needed when this is the zero value
	Rate    int            // requests a second, as a Poisson process
	Seconds int
}

// A lag is how late they were sent, in milliseconds.
type lag struct{ P50, P99 float64 }

func (j lagJob) run() (any, error) {
	n := j.Rate * j.Seconds
	load := loadOn(j.Addr, n, 1)
	if !j.Addr.IsValid() {
		load.Target.Send = atOnce
	}
	var err error
	if load.Schedule, err = (loadgen.Arrivals{Rate: float64(j.Rate), Burstiness: 1}).Schedule(n); err != nil {
		return nil, err
	}
	late := make([]float64, 0, n)
	run := loadgen.Run{Loads: []loadgen.Load{load}}
	for rec, err := range run.Records(context.Background()) {
		if err == nil && rec.Class != metrics.OK {
			err = fmt.Errorf("request %d: %s: %s", rec.Index, rec.Class, rec.Error)
		}
		if err != nil {
			return nil, err
		}
		late = append(late, float64(rec.Lag())/1e6)
	}
	slices.Sort(late)
	return lag{percentile(late, 50), percentile(late, 99)}, nil
}

// atOnce is a Sender whose answer is there as soon as it is asked for.
func atOnce(context.Context, time.Time, *loadgen.Request, *metrics.Record) iter.Seq2[loadgen.Chunk, error] {
	return func(yield func(loadgen.Chunk, error) bool) { yield(loadgen.Chunk{At: time.Now()}, nil) }
}
