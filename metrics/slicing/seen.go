package slicing

import (
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/processes"
	"github.com/servebench/servebench/metrics/samples"
)

// see puts samples into the slices in which they were requested. Samples from outside the run tell
// where counters stood. It ignores the server's samples unless they are of one process: one replica
// says nothing about the others.
func (c *slicer) see(seen []*samples.Sample, one bool) {
	sums := make([]seeing, len(c.slices))
	same, replicas := each(seen, func(s *samples.Sample, before *samples.Server) {
		if c.whole.Holds(s.At) {
			sums[c.at(s.At)].add(s, before)
		}
	})
	for i := range sums {
		if !one || !same {
			sums[i].servers = nil
		}
		c.slices[i].Seen = sums[i].seen(replicas)
	}
}

// A Moment is what a server and its GPUs reported at one moment of a run. Counters are what they
// rose by since the moment before.
type Moment struct {
	At time.Duration
	metrics.Seen
	Failed bool // a request to the server failed
}

// Moments are the reports during the measured part, in order. There are none without a Trace.
// The reports of replicas that were requested in one round are one Moment.
func Moments(s *metrics.Summary) (all []Moment) {
	if s.Kept.Trace == nil {
		return nil
	}
	whole := s.Whole()
	var sums []*seeing
	round, asked := -1, map[string]bool{} // the latest moment of the server, by Sample.From
	same, replicas := each(s.Kept.Trace.Samples, func(sample *samples.Sample, before *samples.Server) {
		if !whole.Holds(sample.At) {
			return
		}
		if sample.Pool != nil {
			return
		}
		server := sample.Server != nil || sample.GPUs == nil
		if !server || round < 0 || asked[sample.From] {
			all, sums = append(all, Moment{At: sample.At}), append(sums, new(seeing))
		}
		at := len(all) - 1
		if server {
			if round < 0 || asked[sample.From] {
				round = at
				clear(asked)
			}
			at, asked[sample.From] = round, true
			all[at].Failed = all[at].Failed || sample.Server == nil
		}
		sums[at].add(sample, before)
	})
	for i, sum := range sums {
		if processes.Why(s) != "" || !same {
			sum.servers = nil
		}
		all[i].Seen = sum.seen(replicas)
	}
	return all
}

// each calls take with each sample and its server's previous report, nil at first. It returns
// whether each server was one process, and how many servers there are.
func each(
	seen []*samples.Sample, take func(s *samples.Sample, before *samples.Server),
) (same bool, servers int) {
	var all samples.Processes
	same = true
	for _, s := range seen {
		before := all.Last(s.From)
		same = all.Add(s) == "" && same
		take(s, before)
	}
	return same, all.Len()
}

// A seeing adds up the samples of one slice.
type seeing struct {
	memory, utilization, power mean
	servers                    map[string]*serverSeeing // by Sample.From
}

// A serverSeeing adds up what one server said, or one of its replicas.
type serverSeeing struct {
	running, waiting, kvCache  mean
	preemptions, queries, hits rise
}

// add adds a sample; before is its server's previous report.
func (s *seeing) add(sample *samples.Sample, before *samples.Server) {
	s.gpus(sample.GPUs)
	if sample.Server != nil {
		s.server(sample.From, sample.Server, before)
	}
}

// server adds what a server reported now; before is its previous report, nil at first.
func (s *seeing) server(from string, now, before *samples.Server) {
	if s.servers == nil {
		s.servers = map[string]*serverSeeing{}
	}
	if s.servers[from] == nil {
		s.servers[from] = new(serverSeeing)
	}
	if before == nil {
		before = new(samples.Server)
	}
	sum := s.servers[from]
	sum.running.add(now.Running)
	sum.waiting.add(now.Waiting)
	sum.kvCache.add(now.KVCache)
	sum.preemptions.add(before.Preemptions, now.Preemptions)
	sum.queries.add(before.PrefixQueries, now.PrefixQueries)
	sum.hits.add(before.PrefixHits, now.PrefixHits)
}

func (s *seeing) gpus(gpus []samples.GPU) {
	var memory, utilization, power mean
	for _, g := range gpus {
		memory.add(g.MemoryUsed)
		utilization.add(g.Utilization)
		power.add(g.Power)
	}
	s.memory.add(memory.total())
	s.utilization.add(utilization.value())
	s.power.add(power.total())
}

// seen is what that many replicas reported together: sums, and the mean share of their caches. What
// one of them did not report in that time is unknown for all.
func (s *seeing) seen(replicas int) metrics.Seen {
	seen := metrics.Seen{GPUMemory: s.memory.value(), GPUUtilization: s.utilization.value(), GPUPower: s.power.value()}
	if len(s.servers) < replicas {
		return seen
	}
	var running, waiting, kvCache, preemptions, queries, hits mean
	for _, one := range s.servers {
		running.add(one.running.value())
		waiting.add(one.waiting.value())
		kvCache.add(one.kvCache.value())
		preemptions.add(one.preemptions.value())
		queries.add(one.queries.value())
		hits.add(one.hits.value())
	}
	seen.Running, seen.Waiting, seen.Preemptions = running.totalOf(replicas), waiting.totalOf(replicas),
		preemptions.totalOf(replicas)
	if kvCache.n == replicas {
		seen.KVCache = kvCache.value()
	}
	if found, of := hits.totalOf(replicas), queries.totalOf(replicas); found != nil && of != nil && *of > 0 {
		seen.PrefixHits = new(*found / *of)
	}
	return seen
}

// A mean is the mean of values that may be missing.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(v *float64) {
	if v != nil {
		m.sum += *v
		m.n++
	}
}

func (m *mean) total() *float64 { return m.totalOf(m.n) }

// totalOf is the sum of n values, nil if there are fewer, or none.
func (m *mean) totalOf(n int) *float64 {
	if m.n != n || n == 0 {
		return nil
	}
	return &m.sum
}

func (m *mean) value() *float64 {
	if m.n == 0 {
		return nil
	}
	v := m.sum / float64(m.n)
	return &v
}

// A rise is the growth of a counter.
type rise struct {
	by    float64
	known bool
}

// add takes a counter's value and the previous one, if both are known.
func (r *rise) add(before, now *float64) {
	if before != nil && now != nil {
		r.by += *now - *before
		r.known = true
	}
}

func (r *rise) value() *float64 {
	if !r.known {
		return nil
	}
	return &r.by
}
