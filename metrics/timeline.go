package metrics

import (
	"math"
	"slices"
	"time"
)

// maxBuckets bounds what a nonsensical time stamp in a file can make us allocate: 97 days of
// seconds.
const maxBuckets = 1 << 23

// An answer is the part of a successful request that the peaks need. The exact values of the ITL
// distribution hold its gaps, in the order of the answers.
type answer struct {
	start, ttft, latency float64
	gaps                 int32
	even                 bool // single gaps are unknown: spread them evenly
}

// A timeline finds the busiest second. It keeps answers, because vLLM counts seconds from the
// earliest start, which is only known at the end. When there are too many, it takes the earliest
// start so far and keeps buckets instead.
type timeline struct {
	answers []answer
	folded  *buckets
}

func (t *timeline) add(s answer, gaps []float64) {
	if t.folded != nil {
		if math.IsInf(t.folded.origin, 1) {
			// Folded before the first request, because that was too long.
			t.folded.origin = s.start
		}
		t.folded.put(s, gaps)
		return
	}
	t.answers = append(t.answers, s)
}

// ends are the numbers of gaps up to the end of each request that has any, nil if they are no
// longer known by request.
func (t *timeline) ends() []int {
	var ends []int
	n := 0
	for _, s := range t.answers {
		if s.gaps > 0 && !s.even {
			n += int(s.gaps)
			ends = append(ends, n)
		}
	}
	return ends
}

// fold replaces the answers by buckets; gaps are the gaps of all answers.
func (t *timeline) fold(gaps []float64) {
	t.folded, t.answers = t.buckets(gaps), nil
}

func (t *timeline) buckets(gaps []float64) *buckets {
	if t.folded != nil {
		return t.folded
	}
	return fill(t.answers, gaps)
}

// merge adds another timeline, whose clock began that much later. Either both are folded, or none.
func (t *timeline) merge(other *timeline, later time.Duration) {
	if t.folded != nil {
		t.folded.merge(other.folded, later)
		return
	}
	for _, s := range other.answers {
		s.start = moved(s.start, later)
		t.answers = append(t.answers, s)
	}
}

// moved is a time in seconds on a clock that began that much earlier. It equals the number that a
// moved Record has.
func moved(at float64, later time.Duration) float64 {
	return (time.Duration(math.Round(at*1e9)) + later).Seconds()
}

// peaks are the most chunks that arrived in one second, and the most requests that touched one
// second.
func (t *timeline) peaks(gaps []float64) (chunks, requests int) {
	b := t.buckets(gaps)
	for _, n := range b.chunks {
		chunks = max(chunks, n)
	}
	for _, n := range b.requests {
		requests = max(requests, n)
	}
	return chunks, requests
}

// A buckets counts by seconds from origin, which is +Inf until the first count.
type buckets struct {
	origin           float64
	chunks, requests []int
}

// merge adds other buckets, whose clock began that much later. If their seconds do not begin
// together, each is added to the nearest.
func (b *buckets) merge(other *buckets, later time.Duration) {
	from := other.origin + later.Seconds()
	earlier, after := buckets{from, slices.Clone(other.chunks), slices.Clone(other.requests)}, *b
	if b.origin <= from {
		earlier, after = *b, earlier
	}
	if !math.IsInf(after.origin, 1) {
		ahead := math.Round(after.origin - earlier.origin)
		addFrom(&earlier.chunks, ahead, after.chunks)
		addFrom(&earlier.requests, ahead, after.requests)
	}
	*b = earlier
}

// addFrom adds counts by seconds to others that began that many seconds earlier.
func addFrom(seconds *[]int, ahead float64, counts []int) {
	for i, n := range counts {
		at := ahead + float64(i)
		if n == 0 || !(at < maxBuckets) {
			continue
		}
		for len(*seconds) <= int(at) {
			*seconds = append(*seconds, 0)
		}
		(*seconds)[int(at)] += n
	}
}

func fill(answers []answer, gaps []float64) *buckets {
	b := &buckets{origin: math.Inf(1)}
	for _, s := range answers {
		b.origin = min(b.origin, s.start)
	}
	for _, s := range answers {
		if s.even {
			b.put(s, nil)
			continue
		}
		b.put(s, gaps[:s.gaps])
		gaps = gaps[s.gaps:]
	}
	return b
}

func (b *buckets) put(s answer, gaps []float64) {
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
