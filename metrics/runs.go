package metrics

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"time"
)

// ReadStream sums up each run of a record stream, in the order of their run
// lines. Shards of a run are merged on one clock. What is amiss with a run is
// among its warnings, and what is amiss with the stream among those of the last.
func ReadStream(r io.Reader, ask Ask) ([]*Summary, error) {
	runs := map[string]*run{}
	stream := NewStreamReader(r)
	for e, err := range stream.Entries() {
		if err != nil {
			return nil, err
		}
		if runs[e.Run] == nil {
			runs[e.Run] = newRun(e.Run, ask)
		}
		runs[e.Run].take(e)
	}
	byFirstLine := func(a, b *run) int { return stream.runs[a.id] - stream.runs[b.id] }
	var sums []*Summary
	for _, run := range slices.SortedFunc(maps.Values(runs), byFirstLine) {
		s, err := run.summary()
		if err != nil {
			return nil, err
		}
		sums = append(sums, s)
	}
	if n := len(sums); n > 0 && stream.Damaged > 0 {
		sums[n-1].Warnings = append(sums[n-1].Warnings, fmt.Sprintf("%d lines of the stream were torn or damaged and are left out", stream.Damaged))
	}
	return sums, nil
}

// A run is being put together from its shards.
type run struct {
	id        string
	ask       Ask
	begun     bool    // a run line was there
	header    *Header // the first run line's, under the ask
	collector *Collector
	shards    map[int]*shard
}

// vllmDefaults is what a run is taken for that does not say.
func vllmDefaults() Config {
	return Config{
		RequestRate: math.Inf(1),
		Burstiness:  1,
		Metrics:     []string{"ttft", "tpot", "itl"},
		Percentiles: []float64{99},
	}
}

// A shard is what is known so far of one shard of a run.
type shard struct {
	begun   bool          // its run line was there
	shift   time.Duration // its clock's zero on the run's clock
	last    time.Duration // latest end of a record, on its own clock
	gapless bool          // it has records without single chunk times
	end     *End
}

func newRun(id string, ask Ask) *run {
	h := ask.header(&Header{Run: id, Config: vllmDefaults()})
	r := &run{id: id, ask: ask, header: h, collector: NewCollector(h), shards: map[int]*shard{}}
	r.collector.KeepOutcomes = ask.Outcomes
	return r
}

func (r *run) take(e Entry) {
	sh := r.shards[e.Shard]
	if sh == nil {
		sh = &shard{}
		r.shards[e.Shard] = sh
	}
	switch {
	case e.Header != nil:
		if !r.begun {
			r.begun = true
			*r.header = *r.ask.header(e.Header)
		}
		sh.begun = true
		sh.shift = start(e.Header).Sub(start(r.header))
	case e.End != nil:
		sh.end = e.End
	default:
		sh.last = max(sh.last, e.Record.End)
		sh.gapless = sh.gapless || e.Record.Chunks.gapless()
		e.Record.shift(sh.shift)
		r.collector.Add(e.Record)
	}
}

// start is when a shard began, by the reference clock.
func start(h *Header) time.Time { return h.Epoch.Add(-h.ClockOffset) }

func (r *run) summary() (*Summary, error) {
	indexes := sortedKeys(r.shards)
	var from, to time.Duration
	var warnings []string
	missing := false
	for i, index := range indexes {
		sh := r.shards[index]
		took, warning := sh.took()
		if warning != "" {
			warnings = append(warnings, fmt.Sprintf("run %s%s %s", r.id, r.shardName(index), warning))
		}
		if i == 0 || sh.shift < from {
			from = sh.shift
		}
		to = max(to, sh.shift+took)
		adopted, err := r.adopt(sh)
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", r.id, err)
		}
		missing = missing || !adopted
	}
	seconds := (to - from).Seconds()
	if only := r.shards[indexes[0]].end; len(indexes) == 1 && only != nil {
		seconds = only.Seconds
	}
	if missing {
		// With nothing to quote, ITL is not known rather than nought.
		r.collector.sum.ITL.quoted = newQuote()
		warnings = append(warnings, fmt.Sprintf("run %s: itl is not known, because the stream holds no single arrival times", r.id))
	}
	if n := r.header.Shards; n > 1 && len(indexes) < n {
		warnings = append(warnings, fmt.Sprintf("run %s: only %d of %d shards are there", r.id, len(indexes), n))
	}
	s := r.collector.Summary(seconds)
	for _, index := range indexes {
		s.include(r.shards[index].end)
	}
	s.Warnings = slices.Compact(append(s.Warnings, warnings...))
	return s, nil
}

func (r *run) shardName(index int) string {
	if r.header.Shards < 2 {
		return ""
	}
	return fmt.Sprintf(" shard %d of %d", index, r.header.Shards)
}

// took is how long the shard ran, and what there is to say of it.
func (sh *shard) took() (time.Duration, string) {
	switch {
	case sh.end == nil:
		return sh.last, "was cut: it has no end line, so its duration is the end of the last request"
	case !sh.begun:
		return seconds(sh.end.Seconds), "has no run line, so what it was asked for is not known"
	}
	return seconds(sh.end.Seconds), ""
}

// adopt takes the ITL histogram of a shard whose records do not have them. It
// says whether ITL is then known.
func (r *run) adopt(sh *shard) (bool, error) {
	if !sh.gapless {
		return true, nil
	}
	if sh.end == nil {
		return false, nil
	}
	h, err := sh.end.histogram("itl")
	if h == nil || err != nil {
		return false, err
	}
	r.collector.adoptITL(h)
	return true, nil
}

// include adds what a shard's end line says and its records do not.
func (s *Summary) include(e *End) {
	if e == nil {
		return
	}
	s.Interrupted = s.Interrupted || e.Interrupted
	// The server's counters are of all shards' traffic: one shard's are enough.
	s.SpecDecode = cmp.Or(s.SpecDecode, e.SpecDecode)
	s.Diffusion = cmp.Or(s.Diffusion, e.Diffusion)
	s.Probes = s.Probes.merge(e.Probes)
	s.RateChanges = append(s.RateChanges, e.RateChanges...)
	for _, w := range e.Warnings {
		if !slices.Contains(s.Warnings, w) {
			s.Warnings = append(s.Warnings, w)
		}
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func sortedKeys[V any](m map[int]V) []int { return slices.Sorted(maps.Keys(m)) }
