package stream

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
)

// A merged is a run made from the shards that are there.
type merged struct {
	shards    []*shard // by their index, at least one
	header    *metrics.Header
	collector *metrics.Collector
	sharded   bool
	begun     bool            // there was a run line
	noITL     bool            // ITL of some shard is unknown
	untraced  bool            // some shard has no Trace
	zero      time.Time       // start of the run's clock, by the reference clock
	window    metrics.Window  // the measured part
	late      *metrics.Window // how late the shards' first requests were; nil if unknown
	first     string          // the shard with the earliest first request
	last      string
}

// merge combines shards. The header is the header of the lowest shard that has one. Offset 0 of the
// run is when all shards agreed to start, or else when that shard did.
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

// begin makes the Collector that receives the Collectors of several shards.
func (m *merged) begin(first *metrics.Header) {
	header := *first
	if !header.StartAt.IsZero() {
		m.zero = header.StartAt
		header.Epoch = m.zero.Add(header.ClockOffset)
	}
	m.header, m.collector = &header, aspect.Collector(&header)
	for _, sh := range m.shards {
		m.collector.Keep.Outcomes = m.collector.Keep.Outcomes || sh.collector.Keep.Outcomes
		m.collector.Keep.Timings = m.collector.Keep.Timings || sh.collector.Keep.Timings
		m.collector.Keep.Trace = m.collector.Keep.Trace || sh.collector.Keep.Trace
	}
}

// join adds a shard. It drops the shard's Collector, so that many shards need no more memory than
// one.
func (m *merged) join(sh *shard) error {
	known, err := sh.finish()
	if err != nil {
		return err
	}
	sh.records = sh.collector.Requests()
	m.noITL = m.noITL || !known
	m.untraced = m.untraced || !sh.collector.Keep.Trace
	if m.sharded {
		m.look(sh)
		m.collector.Merge(sh.collector, m.later(sh))
		sh.collector = nil
	}
	return nil
}

// look notes how late a shard's first request was.
func (m *merged) look(sh *shard) {
	if !sh.sent.Any {
		return
	}
	late := sh.sent.First - sh.due.First + m.later(sh)
	if m.late == nil || late < m.late.From {
		m.first = sh.name()
	}
	if m.late == nil || late >= m.late.To {
		m.last = sh.name()
	}
	m.late = widened(m.late, late)
}

// widened is w extended to include at; for nil it is only at.
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
	s.When.Began = m.window.From
	if m.begun {
		s.When.Date = m.header.Epoch.Add(m.window.To)
	}
	if m.sharded {
		s.Source.Shards = m.facts()
		s.Source.Unwatched, _ = m.missing()
	}
	return s
}

// mostNamed bounds the number of missing shards that are named.
const mostNamed = 10

// missing is the number of missing shards, and the names of the first.
func (m *merged) missing() (n int, named []string) {
	n = m.of()
	for _, sh := range m.shards {
		if sh.index >= 0 && sh.index < m.of() {
			n--
		}
	}
	for i := 0; len(named) < min(n, mostNamed); i++ {
		if !slices.ContainsFunc(m.shards, func(sh *shard) bool { return sh.index == i }) {
			named = append(named, fmt.Sprint(i))
		}
	}
	return n, named
}

// of is the number of shards of the run, as far as known.
func (m *merged) of() int { return max(m.header.Shards, 1) }

// faults are what is wrong with the run and its shards.
func (m *merged) faults() []string {
	if !m.sharded {
		return m.shards[0].faults(false)
	}
	var all []string
	n, named := m.missing()
	if n > len(named) {
		named = append(named, fmt.Sprintf("%d more", n-len(named)))
	}
	if n > 0 {
		all = append(all, "the files lack "+strings.TrimPrefix(metrics.Counted(n, "shard"), fmt.Sprint(n)+" ")+" "+
			listed(named)+fmt.Sprintf(" of %d", m.of()))
	}
	for _, sh := range m.shards {
		for _, fault := range m.faultsOf(sh) {
			all = append(all, sh.name()+" "+fault)
		}
	}
	return all
}

// faultsOf are the faults of a shard, and its differences from the first.
func (m *merged) faultsOf(sh *shard) []string {
	found := sh.faults(true)
	if !sh.begun() {
		return found
	}
	if n := max(sh.header.Shards, 1); n != m.of() {
		found = append(found, fmt.Sprintf("belongs to a run of %d shards, not %d", n, m.of()))
	}
	if flags := differences(m.header, sh.header); len(flags) > 0 {
		found = append(found, "has other parameters: "+listed(flags))
	}
	return found
}

// facts are what a report shows about the shards.
func (m *merged) facts() *metrics.Shards {
	s := &metrics.Shards{Of: m.of(), Faults: m.faults(), Last: m.last, Late: m.late}
	if m.first == m.last {
		s.Late = nil
	}
	for _, sh := range m.shards {
		if len(m.faultsOf(sh)) == 0 {
			s.Sound++
		}
		s.Hosts = append(s.Hosts, sh.hosts()...)
		if sh.header.ClockError > 0 {
			s.Offsets = widened(s.Offsets, sh.header.ClockOffset)
			s.Error = max(s.Error, sh.header.ClockError)
			continue
		}
		unclocked := sh.hosts()
		if unclocked == nil {
			unclocked = []string{sh.name()}
		}
		s.Unclocked = append(s.Unclocked, unclocked...)
	}
	for _, names := range []*[]string{&s.Hosts, &s.Unclocked} {
		slices.Sort(*names)
		*names = slices.Compact(*names)
	}
	return s
}

// ShardFlags are the flags in which shards of a run may differ: they name the shard, its clock, its
// GPUs or its output.
var ShardFlags = []string{
	"shard", "run-id", "start-at", "clock-offset", "record-to", "record", "compress", "hlog", "result-dir",
	"result-filename", "save-result",
	"save-detailed", "append-result", "plot-timeline", "plot-dataset-stats", "gpu-metrics", "metrics-addr",
	"disable-tqdm", "label", "metadata", "config",
}

// differences are the flags that differ between two shards, each with its dashes. A shard without
// flags differs in none.
func differences(one, other *metrics.Header) []string {
	if one.Flags == nil || other.Flags == nil {
		return nil
	}
	values := map[string]string{}
	for _, kv := range one.Flags {
		values[kv.Key] = kv.Value
	}
	var found []string
	for _, kv := range other.Flags {
		if value, is := values[kv.Key]; !is || value != kv.Value {
			found = append(found, "--"+kv.Key)
		}
		delete(values, kv.Key)
	}
	for name := range values {
		found = append(found, "--"+name)
	}
	slices.Sort(found)
	return slices.DeleteFunc(found, func(flag string) bool { return slices.Contains(ShardFlags, flag[2:]) })
}
