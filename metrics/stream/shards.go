package stream

import (
	"fmt"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
)

// mostNamed bounds the missing shards that are named.
const mostNamed = 10

// missing are how many shards are not there, and the first of them.
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

// of is how many shards make the run, as far as one knows.
func (m *merged) of() int { return max(m.header.Shards, 1) }

// faults are what is amiss with the run and with its shards.
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
		all = append(all, "lacks "+strings.TrimPrefix(metrics.Counted(n, "shard"), fmt.Sprint(n)+" ")+" "+listed(named)+fmt.Sprintf(" of %d", m.of()))
	}
	for _, sh := range m.shards {
		for _, fault := range m.faultsOf(sh) {
			all = append(all, sh.name()+" "+fault)
		}
	}
	return all
}

// faultsOf are the faults of a shard, and how it differs from the first.
func (m *merged) faultsOf(sh *shard) []string {
	found := sh.faults(true)
	if !sh.begun() {
		return found
	}
	if n := max(sh.header.Shards, 1); n != m.of() {
		found = append(found, fmt.Sprintf("is one of %d, and not of %d", n, m.of()))
	}
	if flags := differences(m.header, sh.header); len(flags) > 0 {
		found = append(found, "was asked for something else: "+listed(flags))
	}
	return found
}

// facts are what a report says of the shards.
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

// ShardFlags are the flags in which shards of a run may differ: they name the shard,
// tell its clock, its GPUs or say where it writes.
var ShardFlags = []string{
	"shard", "run-id", "start-at", "clock-offset", "record-to", "record", "hlog", "result-dir", "result-filename", "save-result",
	"save-detailed", "append-result", "plot-timeline", "plot-dataset-stats", "gpu-metrics", "metrics-addr", "disable-tqdm", "label", "metadata", "config",
}

// differences are the flags that were different for two shards, each with its
// dashes. Without any flags nothing is known.
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
