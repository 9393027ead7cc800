package main

import (
	"context"
	"net/netip"
	"time"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/metrics"
)

// A streamsJob holds many long streams at once.
type streamsJob struct {
	Addr    netip.AddrPort
	Streams int
	Tokens  int // of each stream
}

// A held is how that went.
type held struct {
	Memory float64 // bytes of resident memory a stream
	Failed int
	First  string // error
}

func (j streamsJob) run() (any, error) {
	if err := loadgen.CheckSockets(j.Streams); err != nil {
		return nil, err
	}
	before, err := residentMemory()
	if err != nil {
		return nil, err
	}
	var h held
	most := make(chan int)
	live := new(loadgen.Live)
	ctx, stop := context.WithCancel(context.Background())
	go func() { most <- mostMemory(ctx, live, j.Streams*j.Tokens/2) }()
	load := loadOn(j.Addr, j.Streams, j.Tokens)
	load.Live = live
	run := loadgen.Run{Loads: []loadgen.Load{load}}
	for rec, err := range run.Records(ctx) {
		if err != nil {
			stop()
			return nil, err
		}
		if rec.Class != metrics.OK {
			if h.Failed++; h.First == "" {
				h.First = rec.Error
			}
		}
	}
	stop()
	h.Memory = float64(<-most-before) / float64(j.Streams)
	return h, nil
}

// mostMemory is the most memory that this process had, from the time that so many
// chunks had come until ctx ends.
func mostMemory(ctx context.Context, live *loadgen.Live, chunks int) (most int) {
	every := time.NewTicker(20 * time.Millisecond)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return most
		case <-every.C:
		}
		if live.Chunks.Load() < int64(chunks) {
			continue
		}
		if now, err := residentMemory(); err == nil {
			most = max(most, now)
		}
	}
}
