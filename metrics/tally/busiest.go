package tally

import (
	"math"
	"slices"
	"time"
)

// maxBuckets bounds what a nonsensical time stamp in a file can make us allocate: 97 days of
// seconds.
const maxBuckets = 1 << 23

// An Answer is the part of a successful request that the peaks need, in seconds. Its caller keeps the gaps between
// its chunks, of all answers in their order.
type Answer struct {
	Start, TTFT, Latency float64
	Gaps                 int32 // number of them
	Even                 bool  // single gaps are unknown: spread them evenly
}

// Pace is the time of the answer per chunk after the first, in seconds; 0 without one.
func (a *Answer) Pace() float64 {
	if a.Gaps == 0 {
		return 0
	}
	return (a.Latency - a.TTFT) / float64(a.Gaps)
}

// A Timeline finds the busiest second. It keeps Answers, because vLLM counts seconds from the
// earliest start, which is only known at the end. When there are too many, Fold takes the earliest
// start so far and keeps Seconds instead.
type Timeline struct {
	Answers []Answer // nil once folded
	folded  *Seconds
}

// Folded reports whether there are no answers anymore, but only counts by seconds.
func (t *Timeline) Folded() bool { return t.folded != nil }

// Expect makes room for so many answers, unless there are any.
func (t *Timeline) Expect(n int) {
	if t.Answers == nil && t.folded == nil {
		t.Answers = make([]Answer, 0, n)
	}
}

// Add adds an answer, with its gaps.
func (t *Timeline) Add(s Answer, gaps []float64) {
	if t.folded != nil {
		if math.IsInf(t.folded.origin, 1) {
			// Folded before the first request, because that was too long.
			t.folded.origin = s.Start
		}
		t.folded.put(s, gaps)
		return
	}
	t.Answers = append(t.Answers, s)
}

// Ends are the numbers of gaps up to the end of each request that has any, nil if they are no
// longer known by request.
func (t *Timeline) Ends() []int {
	var ends []int
	n := 0
	for _, s := range t.Answers {
		if s.Gaps > 0 && !s.Even {
			n += int(s.Gaps)
			ends = append(ends, n)
		}
	}
	return ends
}

// Fold replaces the answers by Seconds; gaps are the gaps of all answers.
func (t *Timeline) Fold(gaps []float64) {
	t.folded, t.Answers = t.seconds(gaps), nil
}

func (t *Timeline) seconds(gaps []float64) *Seconds {
	if t.folded != nil {
		return t.folded
	}
	return fill(t.Answers, gaps)
}

// Merge adds another timeline, whose clock began that much later. Either both are folded, or none.
func (t *Timeline) Merge(other *Timeline, later time.Duration) {
	if t.folded != nil {
		t.folded.merge(other.folded, later)
		return
	}
	for _, s := range other.Answers {
		s.Start = Moved(s.Start, later)
		t.Answers = append(t.Answers, s)
	}
}

// Moved is a time in seconds on a clock that began that much earlier. It equals the number that a
// moved Record has.
func Moved(at float64, later time.Duration) float64 {
	return (time.Duration(math.Round(at*1e9)) + later).Seconds()
}

// Peaks are the most chunks that arrived in one second, and the most requests that touched one
// second.
func (t *Timeline) Peaks(gaps []float64) (chunks, requests int) {
	return t.seconds(gaps).Peaks()
}

// Seconds counts chunks and requests by seconds from an origin, which is 0 in the zero value.
type Seconds struct {
	origin           float64 // +Inf in a Timeline without an answer
	chunks, requests []int
}

// AddChunk counts a chunk.
func (b *Seconds) AddChunk(at float64) { count(&b.chunks, at-b.origin) }

// AddRequest counts a request in each second that it touched. The second of its end counts in full, so a request
// of any length touches at least one.
func (b *Seconds) AddRequest(from, to float64) {
	last := math.Floor(to - b.origin)
	for second := math.Floor(from - b.origin); second <= last && second < maxBuckets; second++ {
		count(&b.requests, second)
	}
}

// Peaks are the most chunks, and the most requests, of one second.
func (b *Seconds) Peaks() (chunks, requests int) {
	for _, n := range b.chunks {
		chunks = max(chunks, n)
	}
	for _, n := range b.requests {
		requests = max(requests, n)
	}
	return chunks, requests
}

// merge adds other counts, whose clock began that much later. If their seconds do not begin
// together, each is added to the nearest.
func (b *Seconds) merge(other *Seconds, later time.Duration) {
	from := other.origin + later.Seconds()
	earlier, after := Seconds{from, slices.Clone(other.chunks), slices.Clone(other.requests)}, *b
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

func fill(answers []Answer, gaps []float64) *Seconds {
	b := &Seconds{origin: math.Inf(1)}
	for _, s := range answers {
		b.origin = min(b.origin, s.Start)
	}
	for _, s := range answers {
		if s.Even {
			b.put(s, nil)
			continue
		}
		b.put(s, gaps[:s.Gaps])
		gaps = gaps[s.Gaps:]
	}
	return b
}

func (b *Seconds) put(s Answer, gaps []float64) {
	at := s.Start + s.TTFT
	b.AddChunk(at)
	if s.Even {
		for range s.Gaps {
			at += (s.Latency - s.TTFT) / float64(s.Gaps)
			b.AddChunk(at)
		}
	}
	for _, gap := range gaps {
		at += gap
		b.AddChunk(at)
	}
	b.AddRequest(s.Start, s.Start+s.Latency)
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
