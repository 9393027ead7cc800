package metrics

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"
)

// An Outcome is what vLLM's client keeps of one request, in its units: seconds as float64. All
// statistics of a run are computed from Outcomes. Start is on any clock that the run's outcomes
// share.
type Outcome struct {
	Index   int // position in the dataset
	Success bool
	In      int       // prompt tokens
	Out     int       // output tokens
	Start   float64   // when it was sent
	TTFT    float64   // also kept for a failed request that had chunks
	TTFO    float64   // infinite without output, 0 if unknown
	Whole   bool      // the answer was not streamed, and TTFT is its Latency
	ITL     []float64 // between successive chunks; kept likewise
	Latency float64   // E2EL
	Queue   float64   // waiting for a slot before Start; NaN if unknown
	Text    string    // empty for a failed request
	Error   string

	ServerQueue, ServerTTFT *float64 // ServerTimes in seconds; nil if the server does not say

	Carried *Payload // nil for one prompt of text
}

// A Timing is what vLLM's result file has of each request even without --save-detailed, in
// seconds.
type Timing struct {
	Index          int     // position in the dataset
	Latency, Queue float64 // as in an Outcome
}

// tpot is the time per output token after the first, in seconds; 0 for a
// request of fewer than two output tokens.
func (o *Outcome) tpot() float64 {
	if o.Out < 2 {
		return 0
	}
	return (o.Latency - o.TTFT) / float64(o.Out-1)
}

// Outcome is what vLLM's client would have measured of r.
func (r *Record) Outcome() Outcome { return r.outcome(nil) }

// outcome appends the gaps to itl, so that one slice can serve many records.
func (r *Record) outcome(itl []float64) Outcome {
	for gap := range r.Chunks.Gaps() {
		itl = append(itl, gap.Seconds())
	}
	o := Outcome{
		Index: r.Index, Success: r.Class == OK,
		In: r.In, Start: r.Sent.Seconds(), TTFT: r.TTFT().Seconds(), Whole: r.Whole, ITL: itl,
		Latency: r.E2EL().Seconds(), Queue: r.Queue().Seconds(), Error: r.Error,
		Carried: r.Payload,
	}
	if o.TTFO = math.Inf(1); o.Success {
		if ttfo, there := r.TTFO(); there {
			o.TTFO = ttfo.Seconds()
		}
	}
	if t := r.Server; t != nil {
		o.ServerQueue, o.ServerTTFT = inSeconds(t.QueueMS), inSeconds(t.TTFTMS)
	}
	if o.Success {
		o.Out, o.Text = r.Out, r.Text
	}
	return o
}

// inSeconds is a time in milliseconds, if there is one.
func inSeconds(ms *float64) *float64 {
	if ms == nil {
		return nil
	}
	return new(*ms / 1000)
}

// merge adds another trace, whose clock began that much later. The other must not be used
// afterwards.
func (t *Trace) merge(other *Trace, later time.Duration) {
	t.Records.merge(&other.Records, later)
	for _, s := range other.Samples {
		s.At += later
	}
	t.Samples = append(t.Samples, other.Samples...)
}

// An SLO is an upper limit on one latency of a request, or on the job time of a session.
type SLO struct {
	Metric string  // ttft, ttfo, tpot, e2el or JobSLO
	Limit  float64 // milliseconds, inclusive
}

// MarshalText writes an SLO in the syntax of --goodput: ttft:100.0.
func (s SLO) MarshalText() ([]byte, error) {
	return []byte(s.Metric + ":" + FormatFloat(s.Limit)), nil
}

// UnmarshalText reads what MarshalText writes.
func (s *SLO) UnmarshalText(text []byte) error {
	metric, limit, _ := strings.Cut(string(text), ":")
	ms, err := strconv.ParseFloat(limit, 64)
	if err != nil {
		return fmt.Errorf("an SLO of %q: %w", text, err)
	}
	*s = SLO{metric, ms}
	return nil
}

// JobSLO is the Metric of an SLO on the job time of a session.
const JobSLO = "job"

// ofRequest reports whether the SLO limits a latency of a request.
func (s SLO) ofRequest() bool { return s.Metric != JobSLO }

// kept reports whether a session kept the SLOs on its job time.
func kept(job time.Duration, slos []SLO) bool {
	return !slices.ContainsFunc(slos, func(s SLO) bool { return !s.ofRequest() && s.Limit < Milliseconds(job) })
}

// good reports whether a successful request met every SLO. As in vLLM's client, a request of one
// output token has a TPOT of 0 here. An answer that only reasons has no TTFO, so it meets no SLO on that.
func good(o *Outcome, slos []SLO) bool {
	for _, slo := range slos {
		seconds := o.TTFT
		switch slo.Metric {
		case JobSLO:
			continue
		case "ttfo":
			seconds = o.TTFO
		case "tpot":
			seconds = o.tpot()
		case "e2el":
			seconds = o.Latency
		}
		if slo.Limit/1000 < seconds {
			return false
		}
	}
	return true
}

// A Trace is all requests of a run in memory, and what the server reported meanwhile. Parts of a
// run are summed up from it.
type Trace struct {
	// Records are in the order in which they ended, one shard after the other. They include the
	// warm-up.
	Records Records
	// Samples are in the order in which they were taken.
	Samples []*Sample
}

// size is the bytes that a kept o takes.
func (o *Outcome) size() int {
	return int(unsafe.Sizeof(*o)) + 8*len(o.ITL) + len(o.Error) + len(o.Text)
}

// size is the bytes that a kept l takes.
func (l *Timing) size() int { return int(unsafe.Sizeof(*l)) }

// size is the bytes that a kept s takes, with the numbers that it points to.
func (s *Sample) size() int {
	n := int(unsafe.Sizeof(*s)) + len(s.GPUs)*2*int(unsafe.Sizeof(GPUSample{})) + len(s.Error)
	if s.Server != nil {
		n += 2 * int(unsafe.Sizeof(*s.Server))
	}
	if s.Pool != nil {
		n += int(unsafe.Sizeof(*s.Pool))
	}
	return n
}

// room reports whether that many more bytes of requests and samples can be kept. If not, everything
// kept so far is dropped: a part of the requests would say nothing true about the run.
func (c *Collector) room(bytes int) bool {
	if c.shed {
		return false
	}
	if c.kept += bytes; c.MaxKept > 0 && c.kept > c.MaxKept {
		c.shed, c.trace, c.sum.Outcomes, c.sum.Timings = true, Trace{}, nil, nil
	}
	return !c.shed
}

// shedding is the warning about what was dropped.
func (c *Collector) shedding() []string {
	if !c.shed {
		return nil
	}
	return []string{fmt.Sprintf("per-request data exceeded %d MiB and was dropped: the run has no windows, slices, charts, combined table of targets "+
		"or detailed result file; record with -o and use servebench report", c.MaxKept>>20)}
}

// An Origin is where a recorded run is: the run with that Number, from 1 on, among Of runs of a
// File. The zero value is an unknown origin.
type Origin struct {
	File       string
	Number, Of int
}

// String is FILE:NUMBER, as commands take it, or only the file if it has a single run.
func (o Origin) String() string {
	if o.Of < 2 {
		return o.File
	}
	return fmt.Sprintf("%s:%d", o.File, o.Number)
}

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

// wireBuckets is buckets as JSON.
type wireBuckets struct {
	Origin   float64 `json:"origin"` // seconds
	Chunks   []byte  `json:"chunks"`
	Requests []byte  `json:"requests"`
}

// MarshalJSON writes buckets that hold something.
func (b buckets) MarshalJSON() ([]byte, error) {
	return json.Marshal(wireBuckets{b.origin, packed(b.chunks), packed(b.requests)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (b *buckets) UnmarshalJSON(data []byte) error {
	var w wireBuckets
	err := json.Unmarshal(data, &w)
	if err != nil {
		return err
	}
	b.origin = w.Origin
	if b.chunks, err = unpacked[int](w.Chunks, maxBuckets); err != nil {
		return err
	}
	b.requests, err = unpacked[int](w.Requests, maxBuckets)
	return err
}
