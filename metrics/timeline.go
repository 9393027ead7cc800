package metrics

import "math"

// maxBuckets bounds what a nonsensical time stamp in a file can make us
// allocate: 97 days of seconds.
const maxBuckets = 1 << 23

// A span is the part of a successful request that the peaks need. Its gaps lie
// in the order of the spans among the exact values of the ITL distribution.
type span struct {
	start, ttft, latency float64
	gaps                 int32
	even                 bool // single gaps are not known: spread them evenly
}

// A timeline finds the busiest second. It keeps spans, because vLLM counts
// seconds from the earliest start, which is only known at the end; when there
// are too many it settles for the earliest so far and keeps buckets instead.
type timeline struct {
	spans  []span
	folded *buckets
}

func (t *timeline) add(s span, gaps []float64) {
	if t.folded != nil {
		if math.IsInf(t.folded.origin, 1) {
			// Folded before there was anything: the first request was too long.
			t.folded.origin = s.start
		}
		t.folded.put(s, gaps)
		return
	}
	t.spans = append(t.spans, s)
}

// fold replaces the spans by buckets; gaps are those of all spans.
func (t *timeline) fold(gaps []float64) {
	if t.folded == nil {
		t.folded = fill(t.spans, gaps)
		t.spans = nil
	}
}

// peaks gives the most chunks that arrived in one second, and the most requests
// that touched one second.
func (t *timeline) peaks(gaps []float64) (chunks, requests int) {
	b := t.folded
	if b == nil {
		b = fill(t.spans, gaps)
	}
	for _, n := range b.chunks {
		chunks = max(chunks, n)
	}
	for _, n := range b.requests {
		requests = max(requests, n)
	}
	return chunks, requests
}

// buckets counts by seconds from origin.
type buckets struct {
	origin           float64
	chunks, requests []int
}

func fill(spans []span, gaps []float64) *buckets {
	b := &buckets{origin: math.Inf(1)}
	for _, s := range spans {
		b.origin = min(b.origin, s.start)
	}
	for _, s := range spans {
		if s.even {
			b.put(s, nil)
			continue
		}
		b.put(s, gaps[:s.gaps])
		gaps = gaps[s.gaps:]
	}
	return b
}

func (b *buckets) put(s span, gaps []float64) {
	at := s.start + s.ttft
	count(&b.chunks, at-b.origin)
	if s.even {
		for range s.gaps {
			at += (s.latency - s.ttft) / float64(s.gaps)
			count(&b.chunks, at-b.origin)
		}
	}
	for _, gap := range gaps {
		at += gap
		count(&b.chunks, at-b.origin)
	}
	// The second of the end counts in full, so a request of any length touches
	// at least one.
	last := math.Floor(s.start + s.latency - b.origin)
	for second := math.Floor(s.start - b.origin); second <= last && second < maxBuckets; second++ {
		count(&b.requests, second)
	}
}

func count(seconds *[]int, at float64) {
	if !(at < maxBuckets) {
		return
	}
	i := int(max(at, 0))
	for len(*seconds) <= i {
		*seconds = append(*seconds, 0)
	}
	(*seconds)[i]++
}
