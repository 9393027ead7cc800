package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/metrics"
)

// share is how many conversations are sent here at most.
func (b *bench) share() int { return b.Shard.Share(b.n) }

// concurrency is how many requests may be in flight here at once; 0 for no limit.
func (b *bench) concurrency() int { return b.Shard.Share(b.config.MaxConcurrency) }

// name is the shard's in file names.
func (s *shardOptions) name() string { return fmt.Sprintf("shard%d", s.Index) }

// part is what is asked of the shard where c is asked of the whole run. A ramp, a
// curve and times of the dataset's own stay those of the whole.
func (s *shardOptions) part(c metrics.Config) metrics.Config {
	if !s.Several() {
		return c
	}
	c.NumPrompts, c.MaxConcurrency = s.Share(c.NumPrompts), s.Share(c.MaxConcurrency)
	c.RequestRate /= float64(s.Of)
	c.Label = cmp.Or(c.Label, c.Backend) + "-" + s.name()
	c.Metadata = append(slices.Clone(c.Metadata), metrics.KV{Key: "shard", Value: fmt.Sprintf("%d/%d", s.Index, s.Of)})
	return c
}

// streamed is the header of the record stream: that of the whole run, with the
// shard's place in it.
func (b *bench) streamed() *metrics.Header {
	h, s := *b.header, &b.Shard
	h.Config = b.config
	if s.Several() {
		h.Shard, h.Shards = s.Index, s.Of
		h.Host, _ = os.Hostname() // without one, the shard is known by its index
		h.ClockOffset, h.ClockError = host.Clock()
	}
	if s.ClockOffset != nil {
		h.ClockOffset, h.ClockError = *s.ClockOffset, 0
	}
	return &h
}

// tellPart says that what follows is not the whole run.
func (s *shardOptions) tellPart(talk io.Writer) {
	if s.Several() {
		fmt.Fprintf(talk, "what follows is the part of shard %d of %d alone: servebench report over the streams (-o) of all shards has the whole\n", s.Index, s.Of)
	}
}
