package stream

import (
	"fmt"
	"maps"
	"slices"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/gpus"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/trust"
)

// readStream sums up each run of a record stream, in the order of their run lines. It merges the
// shards of a run on one clock. Faults of a run are among its warnings, faults of the stream among
// the last run's.
func readStream(stream *Reader, ask metrics.Ask) ([]*metrics.Summary, error) {
	runs := map[string]*run{}
	stream.lend = true // a Collector keeps no record
	for e, err := range stream.Entries() {
		if err != nil {
			return nil, err
		}
		if runs[e.Run] == nil {
			runs[e.Run] = &run{id: e.Run, ask: ask, shards: map[int]*shard{}}
		}
		runs[e.Run].take(e)
	}
	byFirstLine := func(a, b *run) int { return stream.runs[a.id] - stream.runs[b.id] }
	var sums []*metrics.Summary
	for _, run := range slices.SortedFunc(maps.Values(runs), byFirstLine) {
		s, err := run.summary()
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", run.id, err)
		}
		sums = append(sums, s)
	}
	gpus.Split(sums)
	if n := len(sums); n > 0 {
		sums[n-1].Ending.Warnings = append(sums[n-1].Ending.Warnings, stream.warnings()...)
	}
	return sums, nil
}

// A run is assembled from its shards. Each shard is summed up separately, so the order of their
// lines does not matter. At the end, the Collectors are merged in the order of the shards.
type run struct {
	id     string
	ask    metrics.Ask
	shards map[int]*shard
}

func (r *run) take(e Entry) {
	sh := r.shards[e.Shard]
	if sh == nil {
		sh = newShard(e.Run, e.Shard, r.ask)
		r.shards[e.Shard] = sh
	}
	sh.take(e, r.ask)
}

func (r *run) summary() (*metrics.Summary, error) {
	shards := slices.SortedFunc(maps.Values(r.shards), func(a, b *shard) int { return a.index - b.index })
	r.shards = nil // so that their Collectors go before other runs are summed up
	m, err := merge(shards)
	if err != nil {
		return nil, err
	}
	s := m.summary()
	if m.noITL {
		// Without a quoted value, ITL is unknown, instead of 0 or the ITL of some requests.
		s.ITL = metrics.Distribution{Quoted: metrics.NewQuote()}
	}
	if err := includeEnds(s, shards); err != nil {
		return nil, err
	}
	name := "run " + r.id
	if m.sharded {
		name += ":"
	}
	for _, fault := range m.faults() {
		s.Ending.Incomplete = append(s.Ending.Incomplete, name+" "+fault)
	}
	s.Ending.Warn(s.Ending.Incomplete...)
	if m.noITL {
		s.Ending.Warn(fmt.Sprintf("run %s: itl is unknown: the stream holds no single arrival times", r.id))
	}
	s.Ending.Warnings = slices.Compact(s.Ending.Warnings)
	m.forget(s)
	s.Settle()
	trust.Judge(s)
	return s, nil
}

// forget removes single requests from s if some shard did not keep them.
func (m *merged) forget(s *metrics.Summary) {
	if s.Kept.Trace == nil || !m.untraced {
		return
	}
	s.Kept.Trace.Records = record.Packed{}
	if len(s.Kept.Trace.Samples) == 0 {
		s.Kept.Trace = nil
	}
}

// includeEnds adds what the shards' end lines have and their records do not.
func includeEnds(s *metrics.Summary, shards []*shard) error {
	hosts := map[string]int{} // cores of the shards on each host
	for _, sh := range shards {
		e := sh.end()
		if e == nil {
			s.Source.Unwatched++
			continue
		}
		host := sh.header.Host
		_, beside := hosts[host]
		if err := s.Include(e, beside && host != ""); err != nil {
			return err
		}
		if e.Evidence == nil {
			continue
		}
		hosts[host] += e.Evidence.CPU.Cores
		if host != "" && e.Evidence.CPU.Machine > 0 {
			// Shards that are not bound to cores share the machine's.
			hosts[host] = min(hosts[host], e.Evidence.CPU.Machine)
		}
	}
	if s.Evidence != nil {
		s.Evidence.CPU.Cores = 0
		for _, cores := range hosts {
			s.Evidence.CPU.Cores += cores
		}
	}
	return nil
}
