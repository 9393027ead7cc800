package stream

import (
	"slices"
	"time"

	"github.com/servebench/servebench/metrics"
)

// A merged is a run put together from the shards that are there.
type merged struct {
	shards    []*shard // by their index, at least one
	header    *metrics.Header
	collector *metrics.Collector
	sharded   bool
	begun     bool            // a run line was there
	noITL     bool            // of some shard it is not known
	untraced  bool            // of some shard no Trace was kept
	zero      time.Time       // of the run's clock, by the reference clock
	window    metrics.Window  // the measured part
	late      *metrics.Window // how late the shards' first requests were; nil for none
	first     string          // the shard whose was first
	last      string
}

// merge puts shards together. The header is the lowest shard's that has one.
// Offset 0 of the run is when all were to start, where that was agreed upon, and
// else when that shard did.
func merge(shards []*shard) (*merged, error) {
	m := &merged{shards: shards, header: shards[0].header, collector: shards[0].collector}
	first := shards[0]
	if i := slices.IndexFunc(shards, (*shard).begun); i >= 0 {
		first, m.begun = shards[i], true
	}
	m.sharded = first.header.Shards > 1 || len(shards) > 1
	m.zero = first.header.Start()
	if m.sharded {
		m.begin(first.header)
	}
	for _, sh := range shards {
		if err := m.join(sh); err != nil {
			return nil, err
		}
	}
	for i, sh := range shards {
		from := m.later(sh) + sh.header.Began()
		to := from + sh.took()
		if i == 0 {
			m.window = metrics.Window{From: from, To: to}
		}
		m.window = metrics.Window{From: min(m.window.From, from), To: max(m.window.To, to)}
	}
	return m, nil
}

// begin makes the Collector that several shards' go into.
func (m *merged) begin(first *metrics.Header) {
	header := *first
	if !header.StartAt.IsZero() {
		m.zero = header.StartAt
		header.Epoch = m.zero.Add(header.ClockOffset)
	}
	m.header, m.collector = &header, metrics.NewCollector(&header)
	for _, sh := range m.shards {
		m.collector.KeepOutcomes = m.collector.KeepOutcomes || sh.collector.KeepOutcomes
		m.collector.KeepLastings = m.collector.KeepLastings || sh.collector.KeepLastings
		m.collector.KeepTrace = m.collector.KeepTrace || sh.collector.KeepTrace
	}
}

// join takes a shard in. It drops the shard's own Collector, so that many need no more
// memory than one.
func (m *merged) join(sh *shard) error {
	known, err := sh.finish()
	if err != nil {
		return err
	}
	sh.records = sh.collector.Requests()
	m.noITL = m.noITL || !known
	m.untraced = m.untraced || !sh.collector.KeepTrace
	if m.sharded {
		m.look(sh)
		m.collector.Merge(sh.collector, m.later(sh))
		sh.collector = nil
	}
	return nil
}

// look notes how late a shard's first request was.
func (m *merged) look(sh *shard) {
	late, known := sh.collector.FirstLate()
	if !known {
		return
	}
	late += m.later(sh)
	if m.late == nil || late < m.late.From {
		m.first = sh.name()
	}
	if m.late == nil || late >= m.late.To {
		m.last = sh.name()
	}
	m.late = widened(m.late, late)
}

// widened is w with a time in it; of nil it is that time alone.
func widened(w *metrics.Window, at time.Duration) *metrics.Window {
	if w == nil {
		return &metrics.Window{From: at, To: at}
	}
	return &metrics.Window{From: min(w.From, at), To: max(w.To, at)}
}

// later is when the clock of a shard began, on the clock of the run.
func (m *merged) later(sh *shard) time.Duration {
	if !sh.begun() {
		return 0
	}
	return sh.header.Start().Sub(m.zero)
}

func (m *merged) summary() *metrics.Summary {
	took := m.window.Seconds()
	if end := m.shards[0].end(); len(m.shards) == 1 && end != nil {
		took = end.Seconds
	}
	s := m.collector.Summary(took)
	s.Began = m.window.From
	if m.begun {
		s.Date = m.header.Epoch.Add(m.window.To)
	}
	if m.sharded {
		s.Shards = m.facts()
		s.Unwatched, _ = m.missing()
	}
	return s
}
