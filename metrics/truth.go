package metrics

import (
	"cmp"
	"slices"
	"time"
)

// Truth is what the definitions of a Summary's numbers leave out. Latencies are of completed
// requests. An unknown number is 0, and its Distribution empty.
type Truth struct {
	Tokens ChunkTokens // how tokens came in chunks
	Counts Counts      // who counted them
	// ITL is per token: the gap before a chunk of n tokens is n values of gap/n. It only has a
	// histogram, of the requests that Tokens knows, and is empty if Tokens Bundles.
	ITL Distribution
	// MeanITL is per token in milliseconds; if ITL is empty, it comes from the counts of tokens.
	MeanITL float64

	ContentTTFT   Distribution // from Sent to the first chunk with content
	TTFO          Distribution // to output that is not reasoning; empty if none reasoned
	ContentTPOT   Distribution // after that chunk: (E2EL − ContentTTFT) / (Out − 1)
	WrittenTTFT   Distribution // from the request written to the first chunk: without connecting
	UndelayedTTFT Distribution // TTFT less our own delay until the request was written
	ScheduledTTFT Distribution // from Due to the first chunk: includes queue and lag
	ScheduledE2EL Distribution // from Due to the last chunk
	Connecting    Connecting
	Waterfall     Waterfall // without what Summary.Waterfall adds
	Delivery      Delivery  // how the answers came
	Reasoning     Reasoning // what of them was reasoning

	// PeakTokens is the most output tokens of completed requests in any second that begins at a
	// multiple of PeakStep, which is 10 ms in the first 11 h of a run.
	PeakTokens int
	PeakStep   time.Duration
	// PeakConcurrency is the most measured requests in flight at one instant, from Sent to
	// End, and MeanConcurrency their mean over the run's duration.
	PeakConcurrency int
	MeanConcurrency float64
	// Busy is the time in which any measured request was in flight.
	Busy time.Duration

	Ramp Ramp // how the load began, if all requests are due at once
	Pace Pace // achieved rate and requested rate, if requests are due one after the other
	Held Held // slots held after the last chunk

	Backlog Backlog // whether the server kept up, if requests are due at an even rate

	Prompts Prompts // their tokens, compared with the dataset's
	Lengths Lengths // of answers, compared with the requested lengths
	// FinishReasons are the requests by their finish reason, if they have one; beyond 20 different
	// ones under "(others)".
	FinishReasons map[string]int

	Late LateStamps // chunks with the stamp of a later one

	Differing Differing // measured answers that vLLM's client judges differently

	LaterTurns bool // conversations went on after their first turn

	// Course is how latencies went over the run; nil if the times of its requests are unknown.
	Course *Course
}

// merge adds the counts of other requests, except for the Ramp.
func (t *Truth) merge(other *Truth) {
	t.Tokens = t.Tokens.plus(other.Tokens)
	t.Counts = t.Counts.plus(other.Counts)
	t.Delivery = t.Delivery.plus(other.Delivery)
	t.Late.merge(&other.Late)
	t.ITL.merge(&other.ITL)
	t.mergeReasoning(other)
	t.ContentTTFT.merge(&other.ContentTTFT)
	t.ContentTPOT.merge(&other.ContentTPOT)
	t.WrittenTTFT.merge(&other.WrittenTTFT)
	t.UndelayedTTFT.merge(&other.UndelayedTTFT)
	t.ScheduledTTFT.merge(&other.ScheduledTTFT)
	t.ScheduledE2EL.merge(&other.ScheduledE2EL)
	t.Connecting = t.Connecting.plus(other.Connecting)
	t.Waterfall.merge(&other.Waterfall)
	t.Pace.Requests += other.Pace.Requests
	t.Pace.Queue += other.Pace.Queue
	t.Pace.Lag += other.Pace.Lag
	t.Prompts = t.Prompts.plus(other.Prompts)
	t.Lengths.merge(&other.Lengths)
	countReasons(&t.FinishReasons, other.FinishReasons)
	countReasons((*map[string]int)(&t.Differing), other.Differing)
	t.LaterTurns = t.LaterTurns || other.LaterTurns
}

// LateStamps are the marked chunks of completed requests: see Record.
type LateStamps struct {
	Chunks int `json:"chunks"` // that are marked
	Of     int `json:"of"`     // all chunks of these requests

	bounds [len(lateNames)]bounds
}

// lateNames are the metrics that marked chunks can bend.
var lateNames = [...]string{"itl", "ttft", "tpot", "e2el"}

// bounds are the values of a metric that depend on a marked chunk, and how small and how large each may be.
type bounds struct{ are, least, most Distribution }

// put adds a value in seconds that lies between two others, as exact as its metric has it; keep is how many are
// kept.
func (b *bounds) put(is, least, most float64, keep int) {
	b.are.limit, b.least.limit, b.most.limit = keep, keep, keep
	b.are.Add(is)
	b.least.Add(max(0, least))
	b.most.Add(most)
}

// histograms are the Distributions by the names of their histograms.
func (l *LateStamps) histograms() map[string]*Distribution {
	all := map[string]*Distribution{}
	for i, name := range lateNames {
		b := &l.bounds[i]
		all["late_"+name], all["late_"+name+"_least"], all["late_"+name+"_most"] = &b.are, &b.least, &b.most
	}
	return all
}

func (l *LateStamps) merge(other *LateStamps) {
	l.Chunks += other.Chunks
	l.Of += other.Of
	others := other.histograms()
	for name, d := range l.histograms() {
		d.merge(others[name])
	}
}

// add adds a completed request; keep is how many values are kept exactly. A chunk stamped t that may
// be late by b arrived between t−b and t, so a gap lies between t₂−b₂−t₁, or 0, and t₂−(t₁−b₁).
func (l *LateStamps) add(r *Record, keep int) {
	l.Of += r.Chunks.Len()
	if len(r.Late) == 0 || r.Chunks.Gapless() {
		return
	}
	late := make([]time.Duration, r.Chunks.Len())
	for i, by := range r.Late.All() {
		if i < len(late) {
			late[i] = by
			l.Chunks++
		}
	}
	i := 0
	for gap := range r.Chunks.Gaps() {
		if i++; late[i-1] > 0 || late[i] > 0 {
			l.bounds[0].put(gap.Seconds(), (gap - late[i]).Seconds(), (gap + late[i-1]).Seconds(), keep)
		}
	}
	first, last := late[0], late[len(late)-1]
	if ttft := r.TTFT(); first > 0 {
		l.bounds[1].put(ttft.Seconds(), (ttft - first).Seconds(), ttft.Seconds(), keep)
	}
	if max(first, last) > 0 && r.Out > 1 {
		o, steps := Outcome{Out: r.Out, TTFT: r.TTFT().Seconds(), Latency: r.E2EL().Seconds()}, float64(r.Out-1)
		tpot := o.tpot()
		l.bounds[2].put(tpot, tpot-last.Seconds()/steps, tpot+first.Seconds()/steps, keep)
	}
	if e2el := r.E2EL(); last > 0 {
		l.bounds[3].put(e2el.Seconds(), (e2el - last).Seconds(), e2el.Seconds(), keep)
	}
}

// LateBounds are the values of a metric, by its name in Metrics, with each as small as the marked chunks
// allow, and with each as large. They are nil if no marked chunk bends the metric.
func (s *Summary) LateBounds(metric string) (least, most *Distribution) {
	i := slices.Index(lateNames[:], metric)
	if s.Truth == nil || i < 0 {
		return nil, nil
	}
	b, d := &s.Truth.Late.bounds[i], s.Metric(metric)
	if b.are.Len() == 0 || d.Len() == 0 {
		return nil, nil
	}
	return d.instead(&b.are, &b.least), d.instead(&b.are, &b.most)
}

// LateITL is how small and how large the p-th percentile of ITL may be, in milliseconds, by the
// marked chunks: with each gap as short as possible, and as long. It is false if none is marked.
func (s *Summary) LateITL(p float64) (least, most float64, marked bool) {
	short, long := s.LateBounds("itl")
	if short == nil {
		return 0, 0, false
	}
	itl := s.ITL.Percentile(p)
	return min(short.Percentile(p), itl), max(long.Percentile(p), itl), true
}

// Connecting says how many completed requests opened a connection within their TTFT, and how long
// its parts took.
type Connecting struct {
	Requests int           `json:"requests"` // that did
	Of       int           `json:"of"`       // all completed
	DNS      time.Duration `json:"dns,omitempty"`
	Connect  time.Duration `json:"connect,omitempty"`
	Proxy    time.Duration `json:"proxy,omitempty"`
	TLS      time.Duration `json:"tls,omitempty"`
}

func (c Connecting) plus(other Connecting) Connecting {
	return Connecting{
		Requests: c.Requests + other.Requests, Of: c.Of + other.Of,
		DNS: c.DNS + other.DNS, Connect: c.Connect + other.Connect, Proxy: c.Proxy + other.Proxy, TLS: c.TLS + other.TLS,
	}
}

// Mean is the mean time of connecting, over the requests that connected.
func (c Connecting) Mean() time.Duration { return share(c.DNS+c.Connect+c.Proxy+c.TLS, c.Requests) }

// Ramp is the burst that opens a run whose requests are all due at once.
type Ramp struct {
	Requests int           `json:"requests"`       // that waited for no slot
	Took     time.Duration `json:"took,omitempty"` // until the last of them was sent
}

// Held is how long completed requests held their slot after their last chunk. By Little's law it is
// the difference between the requests in flight by our count, the sum of End − Sent, and throughput
// × mean E2EL.
type Held struct {
	Mean  time.Duration // a request
	Share float64       // of E2EL
	// Unread is the part of Mean in which the last chunk may have waited in the socket: it may be
	// our own delay.
	Unread time.Duration
}

// Pace compares the time over which requests were sent with the time over which they were due.
type Pace struct {
	Requests int           `json:"requests"`
	Due      time.Duration `json:"due,omitempty"`   // from the first to the last
	Sent     time.Duration `json:"sent,omitempty"`  // likewise
	Queue    time.Duration `json:"queue,omitempty"` // over all requests: why they were late
	Lag      time.Duration `json:"lag,omitempty"`   // likewise
}

// The tolerance within which a rate counts as kept. An open loop that does not reach its rate has
// become a closed loop. Runs of a fraction of a second may be 20 ms late.
const (
	rateLimit    = 95.0 // % of the requested rate
	rateForgiven = 20 * time.Millisecond
)

// Kept is how much of the requested rate was achieved, and the least that counts as keeping it,
// both in percent. Both mean nothing if Due or Sent is 0.
func (p Pace) Kept() (achieved, least float64) {
	part := func(of time.Duration) float64 { return float64(p.Due) / float64(of) * 100 }
	return part(p.Sent), min(rateLimit, part(p.Due+rateForgiven))
}

// MeanQueue is how long a request waited for a slot, on average.
func (p Pace) MeanQueue() time.Duration { return share(p.Queue, p.Requests) }

// MeanLag is how late the load generator sent a request, on average.
func (p Pace) MeanLag() time.Duration { return share(p.Lag, p.Requests) }

// HeldBack reports that requests waited for slots because the server did not keep up: this explains
// a rate that was not achieved.
func (t *Truth) HeldBack() bool { return t.Pace.Queue > t.Pace.Lag && t.Backlog.grows() }

// Asked is the requested rate in requests a second, 0 without one.
func (p Pace) Asked() float64 { return perSecond(p.Requests-1, p.Due) }

// Achieved is the achieved rate in requests a second, 0 without one.
func (p Pace) Achieved() float64 { return perSecond(p.Requests-1, p.Sent) }

func perSecond(n int, d time.Duration) float64 {
	if n <= 0 || d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

// share is d divided by n, 0 for n = 0.
func share(d time.Duration, n int) time.Duration {
	if n <= 0 {
		return 0
	}
	return d / time.Duration(n)
}

// Lengths compares the output tokens of completed requests with the requested number: there may not
// be more, and with ignore_eos not fewer. An answer that ended for its length has all of them. For vLLM's client, an answer of any length is a success.
// An answer that the server did not count may only be too long, by the tokenizer and by its chunks. Its
// zero value has no requests.
type Lengths struct {
	Of      int `json:"of"`                // requests that were compared
	Short   int `json:"short,omitempty"`   // with fewer tokens than requested
	Missing int `json:"missing,omitempty"` // tokens that all the short ones lack together
	Long    int `json:"long,omitempty"`    // with more
	Extra   int `json:"extra,omitempty"`   // tokens that all the long ones have too many
	// Cut are the short ones that ended for their length, as the server says, and CutBy the tokens that
	// these lack together.
	Cut     int            `json:"cut,omitempty"`
	CutBy   int            `json:"cut_by,omitempty"`
	Unsure  int            `json:"unsure,omitempty"`  // others, whose length nobody knows
	Over    int            `json:"over,omitempty"`    // of Unsure, by the tokenizer
	Reasons map[string]int `json:"reasons,omitempty"` // the short ones by their finish reason
}

// merge adds the requests of other.
func (l *Lengths) merge(other *Lengths) {
	l.Of += other.Of
	l.Short += other.Short
	l.Missing += other.Missing
	l.Long += other.Long
	l.Extra += other.Extra
	l.Cut += other.Cut
	l.CutBy += other.CutBy
	l.Unsure += other.Unsure
	l.Over += other.Over
	countReasons(&l.Reasons, other.Reasons)
}

func (l *Lengths) add(r *Record) {
	if r.Class != OK || r.OutAsked <= 0 {
		return
	}
	out := r.Out
	if r.Uncounted {
		if out = min(out, r.Chunks.Len()-blankChunks); out <= r.OutAsked {
			l.Unsure++
			if r.Out > r.OutAsked+1+r.OutAsked/promptTolerance {
				l.Over++
			}
			return
		}
	}
	l.Of++
	switch missing := r.OutAsked - out; {
	case missing > 0:
		l.Short++
		l.Missing += missing
		countReason(&l.Reasons, cmp.Or(r.Finish, "none"), 1)
		if missing > 1 && r.OutReasoned == 0 && slices.Contains(fullLength, r.Finish) { // reasoning may not count
			l.Cut++
			l.CutBy += missing
		}
	case missing < 0:
		l.Long++
		l.Extra -= missing
	}
}

// fullLength are the finish reasons of answers that ended because they were as long as they may be: of vLLM and
// OpenAI, of Anthropic, and of the Responses API.
var fullLength = []string{"length", "max_tokens", "max_output_tokens"}

// blankChunks are how many chunks of an answer may carry no token: those with a role and with a finish
// reason.
const blankChunks = 2

// against is l for a run with Config c, which may allow other lengths.
func (l Lengths) against(c *Config) Lengths {
	if c.OwnLength {
		return Lengths{}
	}
	if !c.IgnoreEOS {
		l.Short, l.Missing, l.Reasons = 0, 0, nil
	}
	return l
}

// PrefixCache is how many prompt tokens the server had in its prefix cache, and out of how many:
// for the completed requests if their usage has it, else for everything that the server's own
// counters saw during the run. Both are 0 if unknown.
func (s *Summary) PrefixCache() (hits, of int64) {
	switch {
	case s.Truth != nil && s.Truth.Counts.Cached > 0:
		return int64(s.Truth.Counts.Cached), int64(s.TotalInput)
	case s.Evidence != nil:
		return s.Evidence.PrefixHits, s.Evidence.PrefixQueries
	}
	return 0, 0
}
