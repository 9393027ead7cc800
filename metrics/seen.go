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
// outside the run tell where counters stood.
func (c *slicer) see(samples []*Sample) {
	sums := make([]seeing, len(c.slices))
	var last ServerSample
	for _, s := range samples {
		inside := c.whole.holds(s.At)
		sum := new(seeing)
		if inside {
			sum = &sums[c.at(s.At)]
			sum.gpus(s.GPUs)
		}
		if s.Server != nil {
			sum.server(s.Server, &last)
		}
	}
	for i := range sums {
		c.slices[i].Seen = sums[i].seen()
	}
}

// A seeing adds up the samples of one slice.
type seeing struct {
	running, waiting, kvCache, memory, utilization, power mean
	preemptions, queries, hits                            rise
}

// server adds what a server said; last is what it said before, and is brought up
// to date.
func (s *seeing) server(now, last *ServerSample) {
	s.running.add(now.Running)
	s.waiting.add(now.Waiting)
	s.kvCache.add(now.KVCache)
	s.preemptions.add(&last.Preemptions, now.Preemptions)
	s.queries.add(&last.PrefixQueries, now.PrefixQueries)
	s.hits.add(&last.PrefixHits, now.PrefixHits)
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

func (s *seeing) seen() Seen {
	seen := Seen{
		Running: s.running.value(), Waiting: s.waiting.value(), KVCache: s.kvCache.value(),
		GPUMemory: s.memory.value(), GPUUtilization: s.utilization.value(), GPUPower: s.power.value(),
	}
	if s.preemptions.known {
		seen.Preemptions = &s.preemptions.by
	}
	if s.hits.known && s.queries.by > 0 {
		share := s.hits.by / s.queries.by
		seen.PrefixHits = &share
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

func (m *mean) total() *float64 {
	if m.n == 0 {
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

// add takes a counter's value, if there is one, after the last, which it becomes.
// A counter that went down began again from 0.
func (r *rise) add(last **float64, now *float64) {
	if now == nil {
		return
	}
	if before := *last; before != nil {
		by := *now - *before
		if by < 0 {
			by = *now
		}
		r.by += by
		r.known = true
	}
	*last = now
}
