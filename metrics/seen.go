package metrics

// Seen is what a server and its GPUs said of themselves within a Slice: means of
// the Samples taken then, and what counters rose by between the last before and
// the last of them. What was not said is nil.
type Seen struct {
	Running, Waiting *float64 // requests
	KVCache          *float64 // share in use, 0 to 1
	PrefixHits       *float64 // share of the prompt tokens that were in the prefix cache, 0 to 1
	Preemptions      *float64
	GPUMemory        *float64 // MiB in use, of all GPUs
	GPUUtilization   *float64 // share of the time, 0 to 1, in the mean over GPUs
	GPUPower         *float64 // W, of all GPUs
}

// see puts the samples into the slices in which they were asked for. Those taken
// outside the run tell where counters stood. Unless the server's are of one process,
// nothing of them is put there: one of its replicas says nothing of the others.
func (c *slicer) see(samples []*Sample, one bool) {
	sums := make([]seeing, len(c.slices))
	var all processes
	for _, s := range samples {
		inside := c.whole.holds(s.At)
		sum := new(seeing)
		if inside {
			sum = &sums[c.at(s.At)]
			sum.gpus(s.GPUs)
		}
		before := all.last[s.From]
		one = all.add(s) == "" && one
		if s.Server != nil {
			sum.server(s.From, s.Server, before)
		}
	}
	for i := range sums {
		if !one {
			sums[i].servers = nil
		}
		c.slices[i].Seen = sums[i].seen(len(all.last))
	}
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

// server adds what a server said now, and said before; before is nil at first.
func (s *seeing) server(from string, now, before *ServerSample) {
	if s.servers == nil {
		s.servers = map[string]*serverSeeing{}
	}
	if s.servers[from] == nil {
		s.servers[from] = new(serverSeeing)
	}
	if before == nil {
		before = new(ServerSample)
	}
	sum := s.servers[from]
	sum.running.add(now.Running)
	sum.waiting.add(now.Waiting)
	sum.kvCache.add(now.KVCache)
	sum.preemptions.add(before.Preemptions, now.Preemptions)
	sum.queries.add(before.PrefixQueries, now.PrefixQueries)
	sum.hits.add(before.PrefixHits, now.PrefixHits)
}

func (s *seeing) gpus(gpus []GPUSample) {
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

// seen is what so many replicas said together: sums, and the mean share of their
// caches. What one of them did not say in that time is not known of all.
func (s *seeing) seen(replicas int) Seen {
	seen := Seen{GPUMemory: s.memory.value(), GPUUtilization: s.utilization.value(), GPUPower: s.power.value()}
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
	seen.Running, seen.Waiting, seen.Preemptions = running.totalOf(replicas), waiting.totalOf(replicas), preemptions.totalOf(replicas)
	if kvCache.n == replicas {
		seen.KVCache = kvCache.value()
	}
	if found, of := hits.totalOf(replicas), queries.totalOf(replicas); found != nil && of != nil && *of > 0 {
		seen.PrefixHits = new(*found / *of)
	}
	return seen
}

// A mean is that of values that may be missing.
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

// totalOf is the sum of n values, nil where there are not as many, or none.
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

// A rise is by how much a counter went up.
type rise struct {
	by    float64
	known bool
}

// add takes a counter's value after the one before it, if both are known.
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
