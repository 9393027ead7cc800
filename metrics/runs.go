package metrics

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// readStream sums up each run of a record stream, in the order of their run
// lines. Shards of a run are merged on one clock. What is amiss with a run is
// among its warnings, and what is amiss with the stream among those of the last.
func readStream(stream *StreamReader, ask Ask) ([]*Summary, error) {
	runs := map[string]*run{}
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
	if n := len(sums); n > 0 {
		sums[n-1].Warnings = append(sums[n-1].Warnings, stream.warnings()...)
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

// unasked is what is taken for the configuration of a run without a run line:
// of what was asked for nothing is known, and vLLM's default metrics are reported.
func unasked() Config {
	c := unknownConfig()
	c.Metrics, c.Percentiles = []string{"ttft", "tpot", "itl"}, []float64{99}
	return c
}

func newRun(id string, ask Ask) *run {
	h := ask.header(&Header{Run: id, Config: unasked()})
	r := &run{id: id, ask: ask, header: h, collector: NewCollector(h), shards: map[int]*shard{}}
	r.collector.KeepOutcomes, r.collector.KeepTrace = ask.Outcomes, ask.Trace
	return r
}

func (r *run) take(e Entry) {
	sh := r.shards[e.Shard]
	if sh == nil {
		sh = &shard{}
		r.shards[e.Shard] = sh
	}
	switch {
	case e.Header != nil && sh.begun, e.End != nil && sh.end != nil:
		sh.clashes = true
	case e.Header != nil:
		if !r.begun {
			r.begun = true
			*r.header = *r.ask.header(e.Header)
			r.collector.KeepTrace = r.ask.Trace || e.Header.Group != "" || e.Header.Sampled
		}
		sh.begun = true
		sh.shift, sh.began = start(e.Header).Sub(start(r.header)), e.Header.Began()
	case e.End != nil:
		sh.end = e.End
	case e.Sample != nil:
		e.Sample.At += sh.shift
		r.collector.AddSample(e.Sample)
	default:
		sh.add(e.Record)
		e.Record.shift(sh.shift)
		r.collector.Add(e.Record)
	}
}

// start is when a shard began, by the reference clock.
func start(h *Header) time.Time { return h.Epoch.Add(-h.ClockOffset) }

func (r *run) summary() (*Summary, error) {
	indexes := sortedKeys(r.shards)
	var from, to time.Duration
	var incomplete, warnings []string
	missing := false
	tokens := ChunkTokens{}
	for i, index := range indexes {
		sh := r.shards[index]
		for _, warning := range sh.warnings() {
			incomplete = append(incomplete, fmt.Sprintf("run %s%s %s", r.id, r.shardName(index), warning))
		}
		if i == 0 || sh.begin() < from {
			from = sh.begin()
		}
		to = max(to, sh.begin()+sh.took())
		adopted, err := r.adopt(sh)
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", r.id, err)
		}
		missing = missing || !adopted
		tokens = tokens.plus(sh.tokens)
	}
	r.collector.witness.truth.Tokens = tokens
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
		incomplete = append(incomplete, fmt.Sprintf("run %s lacks %d of its %d shards", r.id, n-len(indexes), n))
	}
	s := r.collected(from, to, seconds)
	s.unwatched = max(r.header.Shards-len(indexes), 0)
	for _, index := range indexes {
		if err := s.include(r.shards[index].end); err != nil {
			return nil, fmt.Errorf("run %s: %w", r.id, err)
		}
	}
	if sh := r.shards[indexes[0]]; len(indexes) == 1 && sh.gapless && sh.end != nil && sh.end.PeakTokens > 0 {
		s.Truth.PeakTokens = sh.end.PeakTokens
	}
	s.Incomplete = incomplete
	s.Warnings = slices.Compact(slices.Concat(s.Warnings, incomplete, warnings))
	s.Judge()
	return s, nil
}

// collected is the Summary of the records, whose measured part was from one time to
// another and counts as so many seconds.
func (r *run) collected(from, to time.Duration, seconds float64) *Summary {
	s := r.collector.Summary(seconds)
	s.Began = from
	if r.begun {
		s.Date = r.header.Epoch.Add(to)
	}
	return s
}

func (r *run) shardName(index int) string {
	if r.header.Shards < 2 {
		return ""
	}
	return fmt.Sprintf(" shard %d of %d", index, r.header.Shards)
}

// adopt takes over what the end line of a shard says of chunks whose times its
// records do not have. It says whether ITL is then known.
func (r *run) adopt(sh *shard) (bool, error) {
	if !sh.gapless {
		return true, nil
	}
	if sh.end == nil {
		return false, nil
	}
	if sh.end.Tokens != nil {
		sh.tokens = *sh.end.Tokens
	}
	h, err := sh.end.histogram(tokenITLHistogram)
	if err != nil {
		return false, err
	}
	if h != nil {
		r.collector.witness.truth.ITL.adopt(h)
	}
	h, err = sh.end.histogram("itl")
	if h == nil || err != nil {
		return false, err
	}
	r.collector.adoptITL(h)
	return true, nil
}

// include adds what a shard's end line says and its records do not.
func (s *Summary) include(e *End) error {
	if e == nil {
		s.unwatched++
		return nil
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
	return s.includeEvidence(e)
}

// includeEvidence takes a shard's evidence to that of those before.
func (s *Summary) includeEvidence(e *End) error {
	switch {
	case e.Evidence == nil:
		s.unwatched++
	case s.Evidence == nil:
		whole := *e.Evidence
		s.Evidence = &whole
	default:
		s.Evidence.add(e.Evidence)
	}
	ages, err := e.histogram(ageHistogram)
	if ages != nil {
		s.Age.adopt(ages)
	}
	return err
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func sortedKeys[V any](m map[int]V) []int { return slices.Sorted(maps.Keys(m)) }
