package main

import (
	"context"
	"fmt"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics"
)

// rehearse makes the first request once if the ready check is on, and the
// warm-up requests, all of them copies of the first, as vLLM's client does.
func (b *bench) rehearse(ctx context.Context) error {
	first, err := b.firstRequest()
	if err != nil {
		return err
	}
	fmt.Fprintln(b.out, "Starting initial single prompt test run...")
	if b.Traffic.ReadyCheck <= 0 {
		b.print(11, 0, "Skipping endpoint ready check.")
	} else if err := b.checkReady(ctx, first); err != nil {
		return err
	}
	if n := b.Shard.Share(b.Traffic.Warmups); n > 0 {
		b.print(11, 1, "Warming up with %d requests...", n)
		b.warmUps(ctx, first, n)
		b.print(11, 1, "Warmup run completed.")
	}
	return ctx.Err()
}

// firstRequest is the first of the dataset, without an id.
func (b *bench) firstRequest() (*engine.Request, error) {
	c, err := b.first()
	if err != nil {
		return nil, err
	}
	nameless := *c
	nameless.ID = ""
	return b.target.Encode(&nameless, 0)
}

// readyInterval is how long vLLM's client waits between two tries.
const readyInterval = 5 * time.Second

// checkReady sends the first request until it is answered.
func (b *bench) checkReady(ctx context.Context, first *engine.Request) error {
	b.print(10, 1, "Waiting for endpoint to become up in %.0f seconds", b.Traffic.ReadyCheck.Seconds())
	limited, cancel := context.WithTimeout(ctx, b.Traffic.ReadyCheck)
	defer cancel()
	last, refused := "it did not answer", false
	for {
		rec := b.target.Once(limited, first)
		switch {
		case rec.Class == metrics.OK:
			end := "\n"
			if !b.Results.VLLMVersion.Since(11, 0) {
				end = " " // the next line was the same one
			}
			fmt.Fprint(b.out, "Initial test run completed.", end)
			return nil
		case rec.Class != metrics.Cancelled:
			last, refused = rec.Error, rec.Class == metrics.Status
		}
		if engine.Sleep(limited, time.Now().Add(readyInterval)) != nil {
			if refused {
				last += b.unlisted(ctx)
			}
			return exitError{fmt.Errorf("%s%s was not ready within %s: %s", b.Server.BaseURL, b.Server.Endpoint, b.Traffic.ReadyCheck, last), exitNo}
		}
	}
}

// warmUps sends n warm-up requests, as many at once as the load may have. What
// comes of them is not looked at.
func (b *bench) warmUps(ctx context.Context, first *engine.Request, n int) {
	source := func(yield func(*dataset.Conversation, error) bool) {
		for range n {
			if !yield(&dataset.Conversation{Turns: make([]dataset.Turn, 1)}, nil) {
				return
			}
		}
	}
	target := b.target
	target.Encode = func(*dataset.Conversation, int) (*engine.Request, error) { return first, nil }
	load := engine.Load{Target: target, Source: source, Concurrency: b.concurrency()}
	run := engine.Run{Loads: []engine.Load{load}}
	for range run.Records(ctx) {
	}
}
