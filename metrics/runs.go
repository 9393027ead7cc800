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

// A shard is what is known so far of one shard of a run.
type shard struct {
	begun   bool          // its run line was there
	clashes bool          // there was another run or end line, and a different one
	records int           // that were measured
	shift   time.Duration // its clock's zero on the run's clock
	last    time.Duration // latest end of a record, on its own clock
	gapless bool          // it has records without single chunk times
	end     *End
}

func newRun(id string, ask Ask) *run {
	h := ask.header(&Header{Run: id, Config: unasked()})
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
	case e.Header != nil && sh.begun, e.End != nil && sh.end != nil:
		sh.clashes = true
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
		if e.Record.Phase != WarmUp {
			sh.records++
		}
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
		for _, warning := range sh.warnings() {
			warnings = append(warnings, fmt.Sprintf("run %s%s %s", r.id, r.shardName(index), warning))
		}
		if i == 0 || sh.shift < from {
			from = sh.shift
		}
		to = max(to, sh.shift+sh.took())
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
		warnings = append(warnings, fmt.Sprintf("run %s lacks %d of its %d shards", r.id, n-len(indexes), n))
	}
	s := r.collector.Summary(seconds)
	if r.begun {
		s.Date = r.header.Epoch.Add(to)
	}
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

// took is how long the shard ran.
func (sh *shard) took() time.Duration {
	if sh.end == nil {
		return sh.last
	}
	return seconds(sh.end.Seconds)
}

// warnings are what there is to say of the shard, each after its name.
func (sh *shard) warnings() []string {
	var w []string
	if !sh.begun {
		w = append(w, "has no run line, so what it was asked for is not known")
	}
	if sh.clashes {
		w = append(w, "has run or end lines that differ: the first of each stands")
	}
	if sh.end == nil {
		w = append(w, "was cut: it has no end line, so its duration is the end of the last request")
	} else if n := sh.end.Completed + sh.end.Failed; n != sh.records {
		w = append(w, fmt.Sprintf("counts %s in its end line, but the stream holds %d", counted(n, "request"), sh.records))
	}
	return w
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
	s.addEvidence(e.Evidence)
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

// addEvidence takes the evidence of another shard to that of those before.
func (s *Summary) addEvidence(e *Evidence) {
	switch {
	case e == nil:
	case s.Evidence == nil:
		whole := *e
		s.Evidence = &whole
	default:
		s.Evidence.add(e)
	}
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func sortedKeys[V any](m map[int]V) []int { return slices.Sorted(maps.Keys(m)) }
