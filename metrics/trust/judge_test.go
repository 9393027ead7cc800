package trust

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/backlog"
	"github.com/servebench/servebench/metrics/aspect/connecting"
	"github.com/servebench/servebench/metrics/aspect/counts"
	"github.com/servebench/servebench/metrics/aspect/delivery"
	"github.com/servebench/servebench/metrics/aspect/failures"
	"github.com/servebench/servebench/metrics/aspect/held"
	"github.com/servebench/servebench/metrics/aspect/late"
	"github.com/servebench/servebench/metrics/aspect/lengths"
	"github.com/servebench/servebench/metrics/aspect/pace"
	"github.com/servebench/servebench/metrics/aspect/prompts"
	"github.com/servebench/servebench/metrics/aspect/reasoning"
	"github.com/servebench/servebench/metrics/aspect/since"
	"github.com/servebench/servebench/metrics/aspect/tokens"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
	"github.com/servebench/servebench/metrics/verdict"
)

// clean is a run that there is nothing to say against: 200 requests at 100 a
// second, TTFT 50 ms, twenty tokens 10 ms apart.
func clean() *metrics.Summary {
	c := aspect.Collector(&metrics.Header{Config: metrics.Config{
		IgnoreEOS:   true,
		RequestRate: 100, Metrics: []string{"ttft", "tpot", "itl"}, Percentiles: []float64{99}, Dataset: "random",
	}})
	for i := range 200 {
		r := &record.Record{Index: i, Times: record.Times{Due: time.Duration(i) * 10 * msec, FirstContent: 1}, Tokens: record.Tokens{Out: 20}}
		r.Times.Slot, r.Times.Sent = r.Times.Due, r.Times.Due+time.Duration(i%5)*100*time.Microsecond
		for j := range 20 {
			r.Answer.Chunks.Append(r.Times.Sent + time.Duration(50+10*j)*msec)
		}
		r.Times.FirstContent, r.Times.Last, r.Times.End = r.Answer.Chunks.First(), r.Answer.Chunks.Last(), r.Answer.Chunks.Last()+200*time.Microsecond
		c.Add(r)
	}
	s := c.Summary(2.5)
	s.Evidence = &evidence.Evidence{
		CPU: evidence.CPU{Cores: 2, Watched: 10 * time.Second, Used: time.Second, Busiest: 0.2}, Stamps: evidence.Stamps{Kernel: 4000}, Pauses: evidence.Pauses{GCs: 3, GCPaused: msec, LongestGC: msec}, Server: evidence.Server{PrefixQueries: 1000},
	}
	s.Client.Age = alike(0.05, 4000)
	return s
}

// alike are n values of that many milliseconds.
func alike(ms float64, n int) metrics.Distribution {
	var d metrics.Distribution
	for range n {
		d.Add(ms / 1000)
	}
	return d
}

// readLate is s with that many of 4000 chunks marked as late by so much.
func readLate(s *metrics.Summary, chunks int, by time.Duration) {
	c := aspect.Collector(s.Header)
	for i := range 200 {
		r := &record.Record{Tokens: record.Tokens{Out: 20}}
		for j := range 20 {
			if late := i < chunks && j == 10; late {
				r.Answer.Late.Add(j, by)
			}
			r.Answer.Chunks.Append(time.Duration(50+10*j) * msec)
		}
		r.Times.Last = r.Answer.Chunks.Last()
		c.Add(r)
	}
	*late.Of(s) = *late.Of(c.Summary(2.5))
}

// inUserSpace is s as one without the kernel's stamps, by a process that woke up
// late by so many milliseconds.
func inUserSpace(s *metrics.Summary, late float64) *metrics.Summary {
	s.Client.Age, s.Evidence.Stamps.Kernel, s.Evidence.Stamps.User, s.Evidence.Pauses.WakeP99 = metrics.Distribution{}, 0, 4000, durationMS(late)
	return s
}

// firstLate is s with gaps of 100 ms, and the first chunks of that many answers marked as late by so much.
func firstLate(s *metrics.Summary, answers int, by time.Duration) {
	c := aspect.Collector(s.Header)
	for i := range 200 {
		r := &record.Record{Tokens: record.Tokens{Out: 20}}
		if i < answers {
			r.Answer.Late.Add(0, by)
		}
		for j := range 20 {
			r.Answer.Chunks.Append(time.Duration(50+100*j) * msec)
		}
		r.Times.Last = r.Answer.Chunks.Last()
		c.Add(r)
	}
	marked := c.Summary(2.5)
	s.ITL, s.TTFT, s.TPOT, *late.Of(s) = marked.ITL, marked.TTFT, marked.TPOT, *late.Of(marked)
}

// early is s with a chunk that carries nothing so many milliseconds before the first
// content.
func early(s *metrics.Summary, ahead float64) {
	n := reasoning.Of(s).ContentTTFT.Len()
	s.TTFT = alike(reasoning.Of(s).ContentTTFT.Mean()-ahead, n)
	*metrics.View[delivery.Delivery](s) = delivery.Delivery{Content: n, Early: n, Ahead: time.Duration(n) * durationMS(ahead)}
}

// inSlots is s as a run of a closed loop.
func inSlots(s *metrics.Summary) *metrics.Summary {
	s.Header.Config.RequestRate, s.Header.Config.MaxConcurrency = math.Inf(1), 8
	return s
}

// A server that pauses before [DONE] delays nobody who waits for no slot.
func TestSlotsCountOnlyWhereSomebodyWaitsForThem(t *testing.T) {
	for name, set := range map[string]func(*metrics.Summary){
		"a rate without slots":      func(s *metrics.Summary) {},
		"all at once without slots": func(s *metrics.Summary) { s.Header.Config.RequestRate = math.Inf(1) },
		"slots enough":              func(s *metrics.Summary) { s.Header.Config.MaxConcurrency, s.Client.Queue = 64, alike(0, 200) },
		"a closed loop of fewer":    func(s *metrics.Summary) { inSlots(s).Header.Config.MaxConcurrency = 200 },
	} {
		s := clean()
		held.Of(s).Held = held.Held{Mean: 20 * msec, Share: 0.5}
		set(s)
		if Judge(s); s.Trust.Verdict != verdict.Valid {
			t.Errorf("%s: SUSPECT for %q", name, failing(s))
		}
	}
}

// failing are the names of the checks that failed.
func failing(s *metrics.Summary) []string {
	var names []string
	for _, c := range s.Trust.Failed() {
		names = append(names, c.Name)
	}
	return names
}

func TestAnOrdinaryRunIsValid(t *testing.T) {
	s := clean()
	Judge(s)
	if s.Trust.Verdict != verdict.Valid || len(s.Trust.Notes) != 0 {
		t.Errorf("%s for %q, notes %q", s.Trust.Verdict, failing(s), s.Trust.Notes)
	}
	if len(s.Trust.Checks) < 9 {
		t.Errorf("only %d checks", len(s.Trust.Checks))
	}
	for _, c := range s.Trust.Checks {
		if c.Text == "" || c.Unit == "" || math.IsNaN(c.Figure) || math.IsInf(c.Figure, 0) {
			t.Errorf("check %+v", c)
		}
	}
}

// A fault is what can be wrong, just within its limit and just beyond.
type fault struct {
	name        string // of the check
	fine, wrong float64
	set         func(s *metrics.Summary, v float64)
	says        string // part of its text
}

var faults = []fault{

	{"completed", 1, 0, func(s *metrics.Summary, v float64) { s.Completed = int(v) }, "no request completed"},

	{"incomplete", 0, 1, func(s *metrics.Summary, v float64) {
		s.Ending.Incomplete = []string{"run a was cut", "and more"}[:int(v)]
	}, "run a was cut"},
	{"failed", 10, 11, func(s *metrics.Summary, v float64) { s.Failed = int(v) }, "11 of 211 requests failed: the latencies leave these out"},

	{"cut short", 200, 201, func(s *metrics.Summary, v float64) {
		s.Failed, failures.Of(s).Classes, s.Ending.Interrupted = int(v), map[record.Class]*failures.Failing{record.Cancelled: {Requests: int(v)}}, true
	}, "201 of 401 requests were cut short: the latencies are of the quicker requests"},
	{"answer lengths", 2, 3, func(s *metrics.Summary, v float64) {
		*metrics.View[lengths.Lengths](s) = lengths.Lengths{Of: 200, Short: 1, Missing: 8, Long: int(v) - 1, Extra: 3, Reasons: map[string]int{"stop": 1}}
	}, "short answers: 1 of 200 ended before the tokens asked for though ignore_eos was sent, 8 tokens missing (finish reasons: stop 1); long answers: 2 of 200"},
	{"answer lengths", 2, 3, func(s *metrics.Summary, v float64) {
		*metrics.View[lengths.Lengths](s) = lengths.Lengths{Of: 200, Cut: int(v), CutBy: 15}
	}, "short answers: 3 of 200 ended for their length, but have fewer tokens than asked for, 15 tokens missing (limit 1.00 %)"},
	{"answer lengths", 2, 3, func(s *metrics.Summary, v float64) {
		s.Header.Config.Tokenizer = "gpt2"
		*metrics.View[lengths.Lengths](s) = lengths.Lengths{Unsure: 200, Over: int(v)}
	}, "long answers: 3 of 200 have more tokens than asked for, by the tokenizer gpt2"},
	{"prompt lengths", 2, 3, func(s *metrics.Summary, v float64) {
		*metrics.View[prompts.Prompts](s) = prompts.Prompts{Of: 200, Shorter: int(v), Asked: 24000, Read: 6144}
	}, "the server read other prompts than asked for: of 200, 3 are shorter and 0 longer by its count, with 6144 tokens for 24000 (limit 1.00 %)"},
	{"prompt lengths", 2, 3, func(s *metrics.Summary, v float64) { // a template explains some
		s.Header.Config.Traits.Templated = true
		*metrics.View[prompts.Prompts](s) = prompts.Prompts{Of: 200, Longer: 200, Beyond: int(v), Asked: 8000, Read: 40000}
	}, "0 are shorter and 3 longer"},
	{"prompt lengths", 4096, 4097, func(s *metrics.Summary, v float64) { // each prompt begins with a system prompt
		s.Header.Config.Traits.Templated = true
		*metrics.View[prompts.Prompts](s) = prompts.Prompts{Of: 200, Longer: 200, Beyond: 200, Asked: 8000, Read: 40000, Least: 4090, Most: int(v)}
	}, "200 longer"},
	{"prompt lengths", 330, 331, func(s *metrics.Summary, v float64) { // and the rest grows with the prompt
		s.Header.Config.Traits.Templated = true
		*metrics.View[prompts.Prompts](s) = prompts.Prompts{Of: 200, Longer: 200, Beyond: 200, Asked: 8000, Read: 40000, Least: 300, Most: int(v)}
	}, "200 longer"},
	{"answers a request", 1, 2, func(s *metrics.Summary, v float64) { s.Header.Config.Traits.Answers = int(v) },
		"each request asks for 2 answers, whose chunks come in one stream: ITL is between chunks of different answers"},
	{"surplus chunks", 2, 3, func(s *metrics.Summary, v float64) {
		metrics.View[delivery.Delivery](s).Surplus, metrics.View[delivery.Delivery](s).Chunks, metrics.View[delivery.Delivery](s).Tokens = int(v), 120, 60
	}, "3 answers have more chunks than tokens, 120 for 60: ITL is not between tokens"},
	{"slots", 23.8, 24.2, func(s *metrics.Summary, v float64) {
		s.Header.Config.MaxConcurrency, s.Client.Queue = 64, alike(v, 200)
	}, "--max-concurrency held requests back, for 24.2 ms on average, which latencies leave out: P99 TTFT is 50.0 ms, and 50.4 ms from when requests were due"},
	{"token counts", 2, 3, func(s *metrics.Summary, v float64) {
		s.Header.Config.Tokenizer = "gpt2"
		*metrics.View[counts.Counts](s) = counts.Counts{Of: 200, Apart: int(v), Ours: 3, Theirs: 48}
	}, "the server counted 48 output tokens in 3 of 200 answers, where vLLM's client does not look, and these numbers count 3, by the tokenizer gpt2"},
	{"token counts", 2, 3, func(s *metrics.Summary, v float64) {
		metrics.View[counts.Counts](s).Of, metrics.View[delivery.Delivery](s).Falling = 200, int(v)
	}, "in 3 of 200 answers the server's count of output tokens falls from one chunk to the next"},
	{"token counts", 2, 3, func(s *metrics.Summary, v float64) {
		*metrics.View[counts.Counts](s) = counts.Counts{Of: 200, Nobody: int(v)}
	},
		"nobody counted the tokens of 3 of 200 answers: each counts as one token, so token totals, tokens a second and TPOT are wrong (limit 1.00 %)"},
	{"streaming", 10, 11, func(s *metrics.Summary, v float64) {
		*metrics.View[delivery.Delivery](s) = delivery.Delivery{Of: 200, AtOnce: int(v)}
	},
		"11 of 200 answers came all at once at the end: their TTFT is their E2EL, and ITL and TPOT say nothing (limit 5.00 %)"},
	{"streaming", 1, 2, func(s *metrics.Summary, v float64) {
		*metrics.View[delivery.Delivery](s) = delivery.Delivery{Of: 9, AtOnce: int(v)}
	}, "2 of 9 answers"},
	{"first token", 19.9, 20.1, func(s *metrics.Summary, v float64) { early(s, v) },
		"TTFT takes an empty chunk for a token: 29.9 ms, and 50.0 ms to the first content; TPOT and ITL are wrong by it, too (limit 40.0 %)"},
	{"first token", 4.9, 5.1, func(s *metrics.Summary, v float64) { // one token has no gaps
		tokens.Of(s).ITL, s.ITL = metrics.Distribution{}, alike(v, 200)
		early(s, v)
	}, "44.9 ms, and 50.0 ms to the first content"},
	{"first token", 0.9, 1.1, func(s *metrics.Summary, v float64) {
		tokens.Of(s).ITL, s.ITL, reasoning.Of(s).ContentTTFT = metrics.Distribution{}, metrics.Distribution{}, alike(4, 200)
		early(s, v)
	}, "to the first content"},
	{"exhaustion", 0, 1, func(s *metrics.Summary, v float64) {
		s.Evidence.Connections.Exhausted, s.Evidence.Connections.Exhaustion = int64(v), "too many open files"
	}, "1 connection could not be opened: too many open files"},
	{"backlog", 5, 5.1, func(s *metrics.Summary, v float64) {
		backlog.Of(s).Trend = backlog.Trend{Judged: true, Offered: 100, Growth: v, Chance: 4}
	}, "the backlog grew by 5.1 requests a second; these latencies depend on how long the run was"},
	{"backlog", 7.9, 8.1, func(s *metrics.Summary, v float64) {
		backlog.Of(s).Trend = backlog.Trend{Judged: true, Offered: 100, Growth: v, Chance: 8}
	}, "the backlog grew by 8.1 requests a second"},
	{"backlog", 1, 16.4, func(s *metrics.Summary, v float64) { // the slots held requests back for that
		backlog.Of(s).Trend = backlog.Trend{Judged: true, Offered: 40, Growth: v}
		pace.Of(s).Queue = time.Hour
		if v > 1 {
			pace.Of(s).Sent *= 2
		}
	}, "the backlog grew by 16 requests a second; these latencies depend on how long the run was"},
	{"backlog", 1, 9.4, func(s *metrics.Summary, v float64) { // most requests waited for a slot
		inSlots(s).Header.Config.RequestRate, s.Client.Queue = 20, alike(20, 200)
		backlog.Of(s).Trend = backlog.Trend{Judged: true, Offered: 20, Growth: v}
		pace.Of(s).Queue = time.Hour
	}, "--max-concurrency 8 held requests back: the backlog grew by 9.4 requests a second; latencies from when a request was due depend on how long the run was"},
	{"backlog", 1, 9.4, func(s *metrics.Summary, v float64) { // the slots were full at the end only
		inSlots(s).Header.Config.RequestRate, s.Client.Queue = 20, alike(0, 200)
		backlog.Of(s).Trend = backlog.Trend{Judged: true, Offered: 20, Growth: v}
		pace.Of(s).Queue = time.Second
	}, "second; these latencies depend on how long the run was"},
	{"rate", 95.1, 94.9, func(s *metrics.Summary, v float64) {
		pace.Of(s).Sent = time.Duration(float64(pace.Of(s).Due) / v * 100)
	}, "req/s scheduled: we were late ourselves"},
	{"rate", 95.1, 94.9, func(s *metrics.Summary, v float64) {
		pace.Of(s).Sent = time.Duration(float64(pace.Of(s).Due) / v * 100)
		pace.Of(s).Queue = time.Hour
	}, "--max-concurrency held requests back, for 18000 ms on average"},
	{"rate", 19.9, 20.1, func(s *metrics.Summary, v float64) { // a short run
		pace.Of(s).Due = 100 * msec
		pace.Of(s).Sent = pace.Of(s).Due + durationMS(v)
	}, "sent"},
	{"lag", 4.99, 5.01, func(s *metrics.Summary, v float64) { s.Client.Lag = alike(v, 100) }, "lag p99 5.01 ms (limit 5.00 ms)"},
	{"lag", 9.99, 10.01, func(s *metrics.Summary, v float64) { s.Client.Lag, s.TTFT = alike(v, 100), alike(100, 200) }, "lag p99 10.0 ms"},
	{"send delay", 2.64, 2.66, func(s *metrics.Summary, v float64) {
		s.TTFT, since.Of(s).UndelayedTTFT = alike(50, 180), alike(50, 180)
		for range 20 {
			s.TTFT.Add(0.053)
			since.Of(s).UndelayedTTFT.Add((53 - v) / 1000)
		}
	}, "2.66 ms of P99 TTFT 53.0 ms is our own delay between the start of a request and its last byte written (limit 2.65 ms)"},
	{"send delay", 1.99, 2.01, func(s *metrics.Summary, v float64) {
		s.TTFT, since.Of(s).UndelayedTTFT = alike(10, 190), alike(10, 190)
		for range 10 {
			s.TTFT.Add(0.013)
			since.Of(s).UndelayedTTFT.Add((13 - v) / 1000)
		}
	}, "2.01 ms of P99 TTFT 13.0 ms"},
	{"send delay", 2.49, 2.51, func(s *metrics.Summary, v float64) { // on average, but not in the largest
		s.TTFT, since.Of(s).UndelayedTTFT = alike(50, 190), alike(50, 110)
		for range 80 {
			since.Of(s).UndelayedTTFT.Add((50 - v/0.4) / 1000)
		}
		for range 10 {
			s.TTFT.Add(0.05)
			since.Of(s).UndelayedTTFT.Add(0.05)
		}
	}, "2.51 ms of mean TTFT 50.0 ms is our own delay"},
	{"send delay", 2.49, 2.51, func(s *metrics.Summary, v float64) { // of most requests, but not in the largest
		s.TTFT, since.Of(s).UndelayedTTFT = alike(50, 110), alike(50-v, 110)
		for range 90 {
			s.TTFT.Add(0.05)
			since.Of(s).UndelayedTTFT.Add(0.05)
		}
	}, "2.51 ms of median TTFT 50.0 ms is our own delay"},
	{"send delay", 0.99, 1.01, func(s *metrics.Summary, v float64) {
		s.TTFT, since.Of(s).UndelayedTTFT = alike(5, 200), alike(5-v, 200)
		*metrics.View[connecting.Connecting](s) = connecting.Connecting{Requests: 3, Of: 200}
	}, "written, not counting the time to connect (limit 1.00 ms)"},
	{"socket age", 9.98, 10.02, func(s *metrics.Summary, v float64) { s.Client.Age = alike(v, 100) }, "socket read delay p99 10.0 ms against ITL 10.00 ms (limit"},
	{"socket age", 0.99, 1.01, func(s *metrics.Summary, v float64) { s.Client.Age, tokens.Of(s).MeanITL = alike(v, 100), 0.1 }, "against ITL 0.10 ms"},
	{"shared reads", 80, 81, func(s *metrics.Summary, v float64) { // roles that came alone change nothing
		s.Client.Age, s.Evidence.Stamps.SharedReads, tokens.Of(s).Counts.Blank = alike(1.2, 100), int64(v), 200
	}, "2.02 % of chunks shared a read"},
	{"shared reads", 0.99, 1.01, func(s *metrics.Summary, v float64) { s.Client.Age, s.Evidence.Stamps.SharedReads = alike(v, 100), 400 }, "10.0 % of chunks"},
	{"shared reads", 4.98, 5.02, func(s *metrics.Summary, v float64) {
		s.Client.Age, s.Evidence.Stamps.SharedReads, tokens.Of(s).MeanITL = alike(v, 100), 400, 50
	}, "10.0 % of chunks"},
	{"shared reads", 0.99, 1.01, func(s *metrics.Summary, v float64) { readLate(s, 200, durationMS(v)) }, "5.00 % of chunks have the timestamp of a later one, which we read late, so P99 ITL may be off by 1.01 ms (limit 1.00 ms)"},
	{"shared reads", 2.49, 2.51, func(s *metrics.Summary, v float64) { firstLate(s, 200, durationMS(v)) }, "so P99 TTFT may be off by 2.51 ms (limit 2.50 ms)"},
	{"shared reads", 2.49, 2.51, func(s *metrics.Summary, v float64) { firstLate(s, 110, durationMS(v)) }, "so median TTFT may be off by 2.51 ms (limit 2.50 ms)"},
	{"shared reads", 38, 40, func(s *metrics.Summary, v float64) { readLate(s, int(v), 9*msec) }, "1.00 % of chunks have the timestamp of a later one, which we read late, so P99 ITL may be off by"},
	{"wake-up", 0.99, 1.01, func(s *metrics.Summary, v float64) { inUserSpace(s, v) }, "woke up 1.01 ms late at p99, against P99 ITL 10.0 ms, and what it stamps"},
	{"wake-up", 2.49, 2.51, func(s *metrics.Summary, v float64) {
		inUserSpace(s, v).ITL = alike(80, 4000)
	}, "woke up 2.51 ms late at p99, against P99 TTFT 50.0 ms"},
	{"wake-up", 2.49, 2.51, func(s *metrics.Summary, v float64) {
		inUserSpace(s, v)
		tokens.Of(s).MeanITL, tokens.Of(s).ITL, s.ITL = 0, metrics.Distribution{}, metrics.Distribution{}
	}, "woke up 2.51 ms late at p99, against P99 TTFT 50.0 ms"},
	{"shared reads", 80, 81, func(s *metrics.Summary, v float64) { // stops explain them
		inUserSpace(s, 1).Evidence.Stamps.SharedReads = int64(v)
		s.Evidence.Pauses.Stalls, s.Evidence.Pauses.Stalled, s.Evidence.Pauses.LongestStall = 8, 180*msec, 24*msec
		tokens.Of(s).MeanITL = 12
	}, "2.02 % of chunks shared a read"},
	{"longest stop", 199, 201, func(s *metrics.Summary, v float64) {
		tokens.Of(inUserSpace(s, 0.1)).MeanITL = 200
		s.Evidence.Pauses.Stalls, s.Evidence.Pauses.LongestStall = 1, durationMS(v)
	}, "stopped for 201 ms"},
	{"stopped", 199, 201, func(s *metrics.Summary, v float64) { // a few chunks have no stamp by the kernel
		s.Evidence.Stamps.Kernel, s.Evidence.Stamps.User = 3900, 100
		s.Evidence.Pauses.Stalls, s.Evidence.Pauses.Stalled = 7, durationMS(v)
	}, "2.01 % of the time, in 7 stops"},
	{"longest stop", 24.9, 25.1, func(s *metrics.Summary, v float64) { // no stamp carries over it
		inUserSpace(s, 0.1)
		s.Evidence.Pauses.Stalls, s.Evidence.Pauses.LongestStall = 1, durationMS(v)
	}, "this process was stopped for 25.1 ms at once"},
	{"shared reads", 9.9, 10.1, func(s *metrics.Summary, v float64) { // what came meanwhile has piled up
		s.Evidence.CPU.Watched, s.Evidence.Stamps.SharedReads, s.Evidence.Pauses.Stalls, s.Evidence.Pauses.LongestStall = 8*time.Second, 81, 1, durationMS(v)
	}, "2.02 % of chunks shared a read"},
	{"stopped", 199, 201, func(s *metrics.Summary, v float64) {
		inUserSpace(s, 0.1)
		s.Evidence.Pauses.Stalls, s.Evidence.Pauses.Stalled = 7, durationMS(v)
	}, "2.01 % of the time, in 7 stops"},
	{"stopped", 99, 101, func(s *metrics.Summary, v float64) {
		inUserSpace(s, 0.1)
		s.Evidence.Pauses.Stalls, s.Evidence.Pauses.Stalled, s.Evidence.CPU.Watched = 4, durationMS(v), time.Second
	}, "10.1 % of the time"},
	{"busiest second", 0.899, 0.901, func(s *metrics.Summary, v float64) { s.Evidence.CPU.Busiest = v }, "own CPU 90.1 % of 2 cores in the busiest second"},
	{"own CPU", 14900, 15100, func(s *metrics.Summary, v float64) { s.Evidence.CPU.Used = durationMS(v) }, "own CPU 75.5 % of 2 cores"},
	{"stolen CPU", 0.099, 0.101, func(s *metrics.Summary, v float64) { s.Evidence.CPU.Stolen = v }, "10.1 % of this machine's CPU time"},
	{"longest GC pause", 9.9, 10.1, func(s *metrics.Summary, v float64) { inUserSpace(s, 0.1).Evidence.Pauses.LongestGC = durationMS(v) }, "stopped us for 10.1 ms at once"},
	{"longest GC pause", 9.9, 10.1, func(s *metrics.Summary, v float64) {
		inUserSpace(s, 0.1)
		s.Evidence.Pauses.LongestGC, s.Evidence.Pauses.GCWait = durationMS(v), durationMS(v/2)
	}, "this process had no core for 10.1 ms while it collected garbage, which takes microseconds (limit 10.0 ms)"},
	{"longest GC pause", 9.9, 10.1, func(s *metrics.Summary, v float64) {
		inUserSpace(s, 0.1)
		s.Evidence.Pauses.LongestGC, s.Evidence.Pauses.GCWait = durationMS(v), durationMS(v/2)-1
	}, "garbage collection stopped us for 10.1 ms at once"},
	{"GC pauses", 99, 101, func(s *metrics.Summary, v float64) {
		inUserSpace(s, 0.1)
		s.Evidence.Pauses.GCPaused, s.Evidence.Pauses.GCWait = durationMS(v), time.Second
	}, "this process had no core for 1.01 % of the time while it collected garbage"},
	{"GC pauses", 99, 101, func(s *metrics.Summary, v float64) { inUserSpace(s, 0.1).Evidence.Pauses.GCPaused = durationMS(v) }, "1.01 % of the time"},
	{"GC pauses", 9.9, 10.1, func(s *metrics.Summary, v float64) {
		inUserSpace(s, 0.1)
		s.Evidence.Pauses.GCPaused, s.Evidence.CPU.Watched, s.Evidence.CPU.Used = durationMS(v), 100*msec, 0
	}, "10.1 % of the time"},
	{"clock step", 9.9, -10.1, func(s *metrics.Summary, v float64) { s.Evidence.Pauses.ClockStep = durationMS(v) }, "the wall clock was set by -10.1 ms"},
	{"Little's law", 0.0499, 0.0501, func(s *metrics.Summary, v float64) { held.Of(inSlots(s)).Held = held.Held{Mean: 3 * msec, Share: v} }, "held their slot for 3.00 ms after the last chunk (5.01 % of E2EL)"},
	{"Little's law", 1.99, 2.01, func(s *metrics.Summary, v float64) {
		held.Of(inSlots(s)).Held = held.Held{Mean: durationMS(v), Share: 0.5}
	}, "50.0 % of E2EL"},
	{"Little's law", 1.99, 2.01, func(s *metrics.Summary, v float64) {
		held.Of(inSlots(s)).Held = held.Held{Mean: durationMS(v), Share: 0.5, Unread: msec}
	}, "for 2.01 ms after the last chunk (50.0 % of E2EL), up to 1.00 ms of that because we read late"},
	{"Little's law", 1.99, 2.01, func(s *metrics.Summary, v float64) { // at a rate for which there are too few slots
		s.Header.Config.MaxConcurrency, s.Client.Queue = 8, alike(1, 200)
		held.Of(s).Held = held.Held{Mean: durationMS(v), Share: 0.5}
	}, "for 2.01 ms after the last chunk (50.0 % of E2EL)"},
	{"connecting", 2.49, 2.51, func(s *metrics.Summary, v float64) {
		*metrics.View[connecting.Connecting](s) = connecting.Connecting{Requests: 200, Of: 200, TLS: 200 * durationMS(v)}
	}, "200 of 200 requests connected inside TTFT (mean 2.51 ms) (limit 5.00 %)"},
	{"connecting", 2.49, 2.51, func(s *metrics.Summary, v float64) {
		s.Evidence.Connections.Warmed = 200
		*metrics.View[connecting.Connecting](s) = connecting.Connecting{Requests: 20, Of: 200, TLS: 200 * durationMS(v)}
	}, "20 of 200 requests connected inside TTFT (mean 25.1 ms) in spite of 200 connections opened beforehand (limit 5.00 %)"},
	{"connecting", 0.49, 0.51, func(s *metrics.Summary, v float64) {
		s.TTFT = alike(5, 200)
		*metrics.View[connecting.Connecting](s) = connecting.Connecting{Requests: 200, Of: 200, Connect: 200 * durationMS(v)}
	}, "mean 0.51 ms"},
	{"lumpy delivery", 11, 9, func(s *metrics.Summary, v float64) {
		// Half of the gaps of v hundredths of the rest, nearly.
		tokens.Of(s).ITL = alike(0.01*v*10, 101)
		for range 99 {
			tokens.Of(s).ITL.Add((20 - 0.01*v*10) / 1000)
		}
	}, "lumpy delivery: 50.5 % of the gaps are under 0.99 ms, p95 of the others is 19.1 ms: does a proxy batch?"},
	{"prefix cache", 1100, 1120, func(s *metrics.Summary, v float64) {
		s.Evidence.Server.PrefixQueries, s.Evidence.Server.PrefixHits = 20_000, int64(v)
	}, "5.60 % of the prompt tokens"},
	{"prefix cache", 800, 801, func(s *metrics.Summary, v float64) { // prompts of 50 tokens
		s.Evidence.Server.PrefixQueries, s.Evidence.Server.PrefixHits = 10_000, int64(v)
	}, "8.01 % of the prompt tokens"},
	{"prefix cache", 1100, 1120, func(s *metrics.Summary, v float64) { // by usage, whatever else the server did meanwhile
		s.Totals.Input, metrics.View[counts.Counts](s).Cached, s.Evidence.Server.PrefixQueries = 20_000, int(v), 1e6
	}, "5.60 % of the prompt tokens"},
	{"prefix cache", 12_800, 12_801, chatted(func(c *metrics.Traits) { c.Templated = true }), "64.0 % of the prompt tokens"},
	{"prefix cache", 12_800, 12_801, chatted(func(c *metrics.Traits) { c.Rendered = true }), "64.0 % of the prompt tokens"},
	{"prefix cache", 1100, 1120, chatted(func(c *metrics.Traits) {}), "5.60 % of the prompt tokens"}, // nobody renders a template
	{"selftest", 63, 64, func(s *metrics.Summary, v float64) {
		s.Truth.PeakConcurrency, s.Evidence.Selftest = int(v), &evidence.Selftest{Streams: 63, WrongFrom: 64, Kernel: true}
	}, "64 in flight at once, the selftest of this machine was wrong at 64"},
	{"shards", 8, 7, func(s *metrics.Summary, v float64) {
		if s.Source.Shards = (&metrics.Shards{Of: 8, Sound: int(v)}); v < 8 {
			s.Source.Shards.Faults = []string{"the files lack shard 3 of 8"}
		}
	}, "the files lack shard 3 of 8"},
	{"shard starts", 99.9, 100.1, func(s *metrics.Summary, v float64) {
		s.Source.Shards = &metrics.Shards{Of: 2, Sound: 2, Late: &metrics.Window{From: -durationMS(50), To: durationMS(v - 50)}, Last: "shard 1 (host b)"}
	}, "shards began 100 ms apart, shard 1 (host b) last (limit 100 ms)"},
	{"shard starts", 599, 601, func(s *metrics.Summary, v float64) {
		s.When.Seconds = 60
		s.Source.Shards = &metrics.Shards{Of: 2, Sound: 2, Late: &metrics.Window{From: 0, To: durationMS(v)}, Last: "shard 1"}
	}, "shards began 601 ms apart"},
}

// chatted has the server find that many of 20,000 prompt tokens of 200 requests in its prefix cache, in
// a run whose prompts begin with a chat template.
func chatted(set func(*metrics.Traits)) func(*metrics.Summary, float64) {
	return func(s *metrics.Summary, v float64) {
		set(&s.Header.Config.Traits)
		s.Totals.Input, metrics.View[counts.Counts](s).Cached = 20_000, int(v)
	}
}

// A chat template begins all prompts alike, with up to 64 tokens. A note says so, and no warning. If the
// body of each request has the same tools, their text begins the prompts, too.
func TestTemplatesAreNoWarmCache(t *testing.T) {
	for _, c := range []struct {
		templated, shared bool
		hits              int
		note              string
	}{
		{true, false, 5800, "29.0 % of the prompt tokens in its prefix cache: no more than the beginning of a chat template"},
		{true, true, 19_000, "95.0 % of the prompt tokens in its prefix cache, as expected"},
		{true, false, 19_000, ""},
		{false, false, 5800, ""},
	} {
		s := clean()
		chatted(func(t *metrics.Traits) { t.Templated, t.SharedPrefixes = c.templated, c.shared })(s, float64(c.hits))
		Judge(s)
		valid := s.Trust.Verdict == verdict.Valid && len(s.Trust.Warnings) == 0
		if notes := strings.Join(s.Trust.Notes, "\n"); valid != (c.note != "") || !strings.Contains(notes, c.note) {
			t.Errorf("%+v: %s, warnings %q, notes %q; want the note %q", c, s.Trust.Verdict, s.Trust.Warnings, notes, c.note)
		}
	}
}

// Whoever may give servebench a real-time priority is told so, wherever other programs made it late.
func TestPriorityIsARemedyForWhoMayHaveIt(t *testing.T) {
	const chrt = "start servebench with chrt --rr 10, or "
	for name, c := range map[string]struct {
		set  func(*metrics.Summary)
		then string
	}{
		"lag":  {func(s *metrics.Summary) { s.Client.Lag = alike(30, 200) }, quieter},
		"wake": {func(s *metrics.Summary) { inUserSpace(s, 30) }, quieter},
		"crowd": {func(s *metrics.Summary) {
			s.Client.Lag, s.Evidence.CPU.BusiestOthers, s.Evidence.CPU.Machine = alike(30, 200), 2, 2
		}, alone},
		"stop": {func(s *metrics.Summary) {
			inUserSpace(s, 0.1)
			s.Evidence.Pauses.Stalls, s.Evidence.Pauses.LongestStall, s.Evidence.Pauses.LongestStallWait = 1, 150*msec, 150*msec
		}, unlimited},
		"server": {func(s *metrics.Summary) {
			s.Header.Config.BaseURL = "http://127.0.0.1:8000"
			s.Client.Lag, s.Evidence.CPU.BusiestOthers, s.Evidence.CPU.Machine = alike(30, 200), 2, 2
		}, apart},
	} {
		for _, may := range []bool{false, true} {
			s := clean()
			c.set(s)
			s.Evidence.CPU.MayPrioritize = may
			Judge(s)
			want := map[bool]string{true: chrt + c.then, false: c.then}[may]
			if failed := s.Trust.Failed(); len(failed) == 0 || failed[0].Remedy != want {
				t.Errorf("%s, %t: %+v, want %q", name, may, failed, want)
			}
		}
	}
	s := clean()
	s.Evidence.CPU.MayPrioritize, s.Evidence.CPU.Busiest = true, 1
	if Judge(s); strings.Contains(s.Trust.Failed()[0].Remedy, chrt) {
		t.Errorf("a priority makes no cores: %q", s.Trust.Failed()[0].Remedy)
	}
}

func TestWhoHasNoCoreIsTold(t *testing.T) {
	s := inUserSpace(clean(), 0.1)
	s.Evidence.Pauses.LongestGC, s.Evidence.Pauses.GCWait = 3999*msec, 3500*msec
	Judge(s)
	if failed := s.Trust.Failed(); len(failed) != 1 || failed[0].Remedy != unlimited {
		t.Errorf("%+v", failed)
	}
}

// Where other processes took the cores that is the first reason, and what came of it has the
// same remedy.
func TestOtherProcessesAreNamedAsTheReason(t *testing.T) {
	stopped := func(e *evidence.Evidence) {
		e.Pauses.Stalls, e.Pauses.Stalled, e.Pauses.StallWait, e.Pauses.LongestStall = 286, 7940*msec, 7000*msec, 90*msec
	}
	for name, c := range map[string]struct {
		set    func(s *metrics.Summary)
		checks []string
		says   string
		remedy string
	}{
		"all the time": {func(s *metrics.Summary) {
			stopped(s.Evidence)
			s.Evidence.CPU.Others, s.Evidence.CPU.BusiestOthers = 17*time.Second, 1.9
			s.Client.Lag = alike(6, 100)
		}, []string{"other processes", "lag"}, "other processes took 1.7 of 2 cores", alone},
		"for a second, and little else": {func(s *metrics.Summary) {
			s.Evidence.CPU.Others, s.Evidence.CPU.BusiestOthers = 3*time.Second, 0.55
			s.Client.Lag = alike(6, 100)
		}, []string{"other processes", "lag"}, "other processes took 0.6 of 2 cores in the busiest second", alone},
		"of many cores": {func(s *metrics.Summary) {
			s.Evidence.CPU.Machine, s.Evidence.CPU.Others, s.Evidence.CPU.BusiestOthers = 8, 17*time.Second, 1.9
			s.Client.Lag = alike(6, 100)
		}, []string{"lag"}, "lag p99 6", quieter},
		"of a shard": {func(s *metrics.Summary) {
			s.Source.Shards = &metrics.Shards{Of: 2, Sound: 2}
			s.Evidence.CPU.Others, s.Evidence.CPU.BusiestOthers = 17*time.Second, 1.9
			s.Client.Lag = alike(6, 100)
		}, []string{"other processes", "lag"}, "other processes took 1.7 of 2 cores of a shard's machine", alone},
		"for a second": {func(s *metrics.Summary) {
			s.Evidence.CPU.Others, s.Evidence.CPU.BusiestOthers = 2*time.Second, 1.9
			s.Client.Lag = alike(6, 100)
		}, []string{"other processes", "lag"}, "other processes took 1.9 of 2 cores in the busiest second", alone},
		"on the server's machine": {func(s *metrics.Summary) {
			s.Header.Config.BaseURL = "http://127.0.0.1:8000"
			s.Evidence.CPU.Others, s.Evidence.CPU.BusiestOthers = 17*time.Second, 1.9
			s.Client.Lag = alike(6, 100)
		}, []string{"other processes", "lag"}, "other processes took 1.7 of 2 cores", apart},
		"a server on this machine": {func(s *metrics.Summary) {
			s.Evidence.CPU.BusiestServers = 1.9
			s.Client.Lag = alike(6, 100)
		}, []string{"lag"}, "lag p99 6", elsewhere},
		"a quota": {func(s *metrics.Summary) {
			stopped(s.Evidence)
			s.Evidence.CPU.Others, s.Evidence.CPU.BusiestOthers = 17*time.Second, 1.9
			s.Evidence.CPU.Quota, s.Evidence.CPU.Throttled = 0.5, 4*time.Second
			s.Client.Lag = alike(6, 100)
		}, []string{"CPU quota", "lag"}, "the CPU quota of its container, 0.5 cores, stopped this process for up to 40.0 % of the time", raiseQuota},
		"a quota that stops nobody": {func(s *metrics.Summary) {
			s.Evidence.CPU.Quota, s.Evidence.CPU.Throttled = 1, 99*msec
			s.Client.Lag = alike(6, 100)
		}, []string{"lag"}, "lag p99 6", quieter},
		"a quota that delays nobody": {func(s *metrics.Summary) {
			s.Evidence.CPU.Quota, s.Evidence.CPU.Throttled = 1, 4*time.Second
		}, nil, "", ""},
		"a debugger, with kernel stamps": {func(s *metrics.Summary) {
			stopped(s.Evidence)
			s.Evidence.Pauses.StallWait = 0
			s.Client.Lag = alike(6, 100)
		}, []string{"lag"}, "lag p99 6", frozen},
		"a limit of the CPU": {func(s *metrics.Summary) {
			inUserSpace(s, 0.1)
			stopped(s.Evidence)
			s.Evidence.Pauses.LongestStall = 24 * msec
		}, []string{"stopped"}, "this process had no core for 79.4 % of the time, in 286 stops", unlimited},
		"a debugger": {func(s *metrics.Summary) {
			inUserSpace(s, 0.1)
			stopped(s.Evidence)
			s.Evidence.Pauses.LongestStall = 24 * msec
			s.Evidence.CPU.Others, s.Evidence.CPU.BusiestOthers, s.Evidence.Pauses.StallWait = 17*time.Second, 1.9, time.Second
		}, []string{"stopped"}, "this process was stopped for 79.4 % of the time, in 286 stops", frozen},
		"nobody was late": {func(s *metrics.Summary) {
			s.Evidence.CPU.Others, s.Evidence.CPU.BusiestOthers = 17*time.Second, 1.9
		}, nil, "", ""},
	} {
		s := clean()
		s.Evidence.CPU.Machine = 2
		c.set(s)
		Judge(s)
		failed := s.Trust.Failed()
		if !slices.Equal(failing(s), c.checks) {
			t.Errorf("%s: %v failed, want %v", name, failing(s), c.checks)
			continue
		}
		for _, check := range failed {
			if check.Remedy != c.remedy {
				t.Errorf("%s: %s: %q, want %q", name, check.Name, check.Remedy, c.remedy)
			}
		}
		if len(failed) > 0 && !strings.HasPrefix(failed[0].Text, c.says) {
			t.Errorf("%s: %q, want %q", name, failed[0].Text, c.says)
		}
	}
}

func TestEachFaultIsNamed(t *testing.T) {
	faults := slices.Concat(faults, sessionFaults, gpuFaults)
	for i, f := range faults {
		s := clean()
		f.set(s, f.fine)
		if Judge(s); s.Trust.Verdict != verdict.Valid {
			t.Errorf("%d: %s of %v fails %q", i, f.name, f.fine, failing(s))
		}
		s = clean()
		f.set(s, f.wrong)
		Judge(s)
		want := verdict.Suspect
		if f.name == "backlog" {
			want = verdict.Overloaded
		}
		if s.Trust.Verdict != want || !slices.Equal(failing(s), []string{f.name}) {
			t.Errorf("%d: %s of %v: %s for %v", i, f.name, f.wrong, s.Trust.Verdict, failing(s))
			continue
		}
		if text := s.Trust.Failed()[0].Text; !strings.Contains(text, f.says) {
			t.Errorf("%d: %q, want %q in it", i, text, f.says)
		}
	}
	named := map[string]bool{}
	for _, f := range faults {
		named[f.name] = true
	}
	const beside = 2 // the checks of other processes and of a quota fail beside others
	if len(named) != len(checks)-beside {
		t.Errorf("%d of %d checks have a fault here", len(named), len(checks))
	}
}

// A proxy that sends heaps is not excused by a reader that is late now and then,
// nor is that reader accused of the heaps.
func TestHeapsAreNotForAReaderThatIsSeldomLate(t *testing.T) {
	for share, want := range map[int64]string{40: "lumpy delivery", 94: "lumpy delivery", 2: "shared reads"} {
		s := clean()
		tokens.Of(s).ITL, s.Evidence.Stamps.SharedReads = alike(0, 3600), 4000*share/100+1
		for range 400 {
			tokens.Of(s).ITL.Add(0.1)
		}
		s.Client.Age = alike(0.05, 3900)
		for range 100 {
			s.Client.Age.Add(0.004)
		}
		s.Evidence.Pauses.Stalls, s.Evidence.Pauses.Stalled, s.Evidence.Pauses.LongestStall = 1, 15*msec, 15*msec
		if Judge(s); !slices.Equal(failing(s), []string{want}) {
			t.Errorf("%d %% shared: %q, want %q", share, failing(s), want)
		}
	}
	// One that stood still for half of the time may be why.
	s := clean()
	s.Evidence.Stamps.SharedReads, s.Evidence.Pauses.Stalls, s.Evidence.Pauses.Stalled, s.Evidence.Pauses.LongestStall = 2000, 50, 5*time.Second, 100*msec
	if Judge(s); !slices.Equal(failing(s), []string{"shared reads"}) {
		t.Errorf("%q", failing(s))
	}
}

// A stop of 15 ms in 10 s is a 670th of the time: events of twenty times that, 3 %, may
// have piled up in it.
func TestAStopPilesUpOnlySoMuch(t *testing.T) {
	for shared, want := range map[int64][]string{119: {"shared reads"}, 121: nil} {
		s := clean()
		s.Evidence.Stamps.SharedReads, s.Evidence.Pauses.Stalls, s.Evidence.Pauses.LongestStall = shared, 1, 15*msec
		if Judge(s); !slices.Equal(failing(s), want) {
			t.Errorf("%d of 4000 shared: %q, want %q", shared, failing(s), want)
		}
	}
}

// What waits for a packet that was lost is old when it is read, whoever reads.
func TestALossyNetworkIsNotABusyMachine(t *testing.T) {
	for packets, want := range map[int64]string{20: quieter, 21: "look at the network, which loses or reorders packets"} {
		s := clean()
		s.Client.Age, s.Evidence.Stamps.SharedReads, s.Evidence.Stamps.Disordered = alike(12, 4000), 400, packets
		Judge(s)
		found := s.Trust.Failed()
		if len(found) == 0 || found[0].Name != "socket age" || found[0].Remedy != want || (len(found) > 1) != (want == quieter) {
			t.Errorf("%d packets: %+v", packets, found)
		}
		if says := fmt.Sprintf("%d packets came before an earlier one", packets); len(s.Trust.Notes) == 0 || !strings.Contains(strings.Join(s.Trust.Notes, "\n"), says) {
			t.Errorf("%d packets: notes %q", packets, s.Trust.Notes)
		}
	}
}

// A server that knew prompts which nobody meant it to know is warned of before
// that makes the run SUSPECT, which says it louder.
func TestPrefixHitsAreWarnedOfFromOnePercentOn(t *testing.T) {
	for hits, want := range map[int64]int{0: 0, 200: 0, 220: 1, 1100: 1, 1120: 0} {
		s := clean()
		s.Evidence.Server.PrefixQueries, s.Evidence.Server.PrefixHits = 20_000, hits
		Judge(s)
		if len(s.Trust.Warnings) != want || len(s.Trust.Notes) != 0 {
			t.Errorf("%d of 20000: warnings %q, notes %q, want %d", hits, s.Trust.Warnings, s.Trust.Notes, want)
		}
		if want > 0 && !strings.Contains(s.Trust.Warnings[0], "% of the prompt tokens in its prefix cache, although") {
			t.Errorf("%d of 20000: %q", hits, s.Trust.Warnings[0])
		}
		s.Header.Config.Traits.SharedPrefixes = true
		if Judge(s); len(s.Trust.Warnings) != 0 {
			t.Errorf("%d of 20000, as asked for: %q", hits, s.Trust.Warnings)
		}
	}
}

// A percentile of few values is marked, and the run is as VALID with 99 of them as
// with 100.
func TestFewValuesDoNotMakeARunSuspect(t *testing.T) {
	for _, n := range []int{1, 99, 100, 999} {
		s := clean()
		s.TTFT, s.TPOT, s.ITL = alike(50, n), alike(10, n), alike(10, 1000)
		if Judge(s); s.Trust.Verdict != verdict.Valid {
			t.Errorf("%d values: %s for %q", n, s.Trust.Verdict, failing(s))
		}
		for _, size := range s.TailSizes() {
			if size.Few() != (size.Metric != "itl") {
				t.Errorf("P%g of %d values of %s: few %t", size.Percentile, size.N, size.Metric, size.Few())
			}
		}
	}
}

func TestAShortRunIsNotJudgedByItsStart(t *testing.T) {
	for watched, want := range map[time.Duration][]string{
		240 * msec: nil, 900 * msec: {"own CPU"}, 1100 * msec: {"busiest second", "own CPU"},
	} {
		s := clean()
		s.Evidence.CPU.Busiest, s.Evidence.CPU.Watched, s.Evidence.CPU.Used = 0.95, watched, 2*watched
		if Judge(s); !slices.Equal(failing(s), want) {
			t.Errorf("watched %v: %q, want %q", watched, failing(s), want)
		}
	}
}

func TestTheWallClockMattersToTheKernelsStampsAlone(t *testing.T) {
	s := clean()
	s.Evidence.Pauses.ClockStep, s.Evidence.Stamps.Kernel = time.Hour, 0
	if Judge(s); s.Trust.Verdict != verdict.Valid {
		t.Errorf("%q", failing(s))
	}
}

func TestFiniteRatesAloneAreJudgedByLag(t *testing.T) {
	for rate, want := range map[float64]int{10: 1, math.Inf(1): 0, math.NaN(): 0} {
		s := clean()
		s.Header.Config.RequestRate, s.Client.Lag = rate, alike(500, 200)
		if Judge(s); len(s.Trust.Failed()) != want {
			t.Errorf("rate %v: %q", rate, failing(s))
		}
	}
}

func TestTheSelftestOfAMachineWithoutKernelStampsCountsThere(t *testing.T) {
	s := inUserSpace(clean(), 0)
	s.Truth.PeakConcurrency, s.Evidence.Selftest = 64, &evidence.Selftest{WrongFrom: 64}
	if Judge(s); !slices.Equal(failing(s), []string{"selftest"}) {
		t.Errorf("%q", failing(s))
	}
}

func TestTheLoadOfOtherTargetsCountsForTheSelftest(t *testing.T) {
	s := clean()
	s.Truth.PeakConcurrency, s.Evidence.Selftest = 40, &evidence.Selftest{Streams: 20, WrongFrom: 64}
	if Judge(s); len(failing(s)) != 0 {
		t.Errorf("%q without other targets", failing(s))
	}
	s.Evidence.OtherInFlight = 24
	Judge(s)
	if failed := s.Trust.Failed(); len(failed) != 1 || failed[0].Text != "64 in flight at once on all targets, the selftest of this machine was wrong at 64" {
		t.Errorf("%+v", failed)
	}
}

func TestAChunkThatComesAloneIsNotSpoiltByItsAge(t *testing.T) {
	for name, chunks := range map[string][]float64{"alone": {50}, "after a role": {49, 50}, "before a finish": {50, 50}} {
		c := aspect.Collector(&metrics.Header{})
		for i := range 200 {
			r := arrived(record.Record{Index: i, Tokens: record.Tokens{Out: 1}, Times: record.Times{FirstContent: 50 * msec}, Answer: record.Answer{MaxAge: 9 * msec}}, chunks...)
			r.Times.End = r.Times.Last + 9*msec // read that late, and the end with it
			c.Add(r)
		}
		s := c.Summary(2)
		s.Evidence, s.Client.Age = &evidence.Evidence{Stamps: evidence.Stamps{Kernel: 200}}, alike(9, 200)
		if Judge(s); s.Trust.Verdict != verdict.Valid || tokens.Of(s).MeanITL != 0 || held.Of(s).Held.Unread != 9*msec {
			t.Errorf("%s: %q; mean ITL %v, held %+v", name, failing(s), tokens.Of(s).MeanITL, held.Of(s).Held)
		}
	}
}

// A run of which little is left says little.
func TestFailuresAndWhatWasCutShortAreApart(t *testing.T) {
	s := clean()
	s.Failed, failures.Of(s).Classes = 100+10, map[record.Class]*failures.Failing{record.Cancelled: {Requests: 100}, record.Timeout: {Requests: 10}}
	if Judge(s); s.Trust.Verdict != verdict.Valid {
		t.Errorf("%q", failing(s))
	}
	failures.Of(s).Classes = map[record.Class]*failures.Failing{record.Cancelled: {Requests: 99}, record.Timeout: {Requests: 11}}
	if Judge(s); !slices.Equal(failing(s), []string{"failed"}) || len(s.Trust.Notes) != 0 {
		t.Errorf("%q, notes %q", failing(s), s.Trust.Notes)
	}
}

// delivered is a run of chunks whose gaps follow a pattern, in milliseconds.
func delivered(tokens int, pattern ...float64) *metrics.Summary {
	c := aspect.Collector(&metrics.Header{})
	for i := range 20 {
		r := record.Record{Index: i, Tokens: record.Tokens{Out: tokens}}
		at, chunks := 50.0, []float64{50}
		for j := range 40 {
			at += pattern[j%len(pattern)]
			chunks = append(chunks, at)
		}
		c.Add(arrived(r, chunks...))
	}
	return c.Summary(2)
}

func TestLumpyDeliveryIsAProxyAndNotAServer(t *testing.T) {
	for name, c := range map[string]struct {
		s    *metrics.Summary
		want bool
	}{
		"steady":                    {delivered(41, 20), false},
		"a proxy of ten":            {delivered(41, 0.01, 0.02, 0.01, 0.01, 0.01, 0.02, 0.01, 0.01, 0.01, 200), true},
		"a proxy of three":          {delivered(41, 0, 0, 60), true},
		"prefills in between":       {delivered(41, 8, 8, 8, 8, 150), false},
		"speculation in one chunk":  {delivered(150, 20), false},
		"speculation, a chunk each": {delivered(41, 0.05, 0.05, 20), true},
		"as fast as it goes":        {delivered(41, 0, 0, 0.9), false},
		"a role at once":            {roles(), false},
	} {
		Judge(c.s)
		if got := slices.Contains(failing(c.s), "lumpy delivery"); got != c.want {
			t.Errorf("%s: lumpy is %v: %q", name, got, failing(c.s))
		}
	}
}

// roles are chats of two tokens each, whose role comes just before the first.
func roles() *metrics.Summary {
	c := aspect.Collector(&metrics.Header{})
	for i := range 200 {
		c.Add(arrived(record.Record{Index: i, Tokens: record.Tokens{Out: 2}, Times: record.Times{FirstContent: durationMS(50.01)}}, 50, 50.01, 70))
	}
	return c.Summary(2)
}

func TestOnlyWhatFailsNamesItsLimit(t *testing.T) {
	s := clean()
	Judge(s)
	for _, c := range s.Trust.Checks {
		if strings.Contains(c.Text, "(limit") {
			t.Errorf("%s is fine: %q", c.Name, c.Text)
		}
	}
}

func TestWhatWeReadLateIsNotCalledLumpy(t *testing.T) {
	s := clean()
	tokens.Of(s).ITL = alike(0.1, 150)
	for range 50 {
		tokens.Of(s).ITL.Add(0.04)
	}
	if Judge(s); !slices.Equal(failing(s), []string{"lumpy delivery"}) {
		t.Errorf("in time: %q", failing(s))
	}
	s.Evidence.Pauses.Stalls, s.Evidence.Pauses.LongestStall = 1, time.Second
	if Judge(s); slices.Contains(failing(s), "lumpy delivery") {
		t.Errorf("late: %q", failing(s))
	}
	// Marks tell what we read late from what arrived together.
	late.Of(s).Of, s.Evidence.Stamps.SharedReads = 201, 134
	for marked, want := range map[int]bool{22: true, 66: true, 67: false, 134: false} {
		late.Of(s).Chunks = marked
		if Judge(s); slices.Contains(failing(s), "lumpy delivery") != want {
			t.Errorf("%d marked of 134 shared reads: %q", marked, failing(s))
		}
	}
	s.Failed, late.Of(s).Chunks = 1, 22 // a failed request may have shared the other reads
	if Judge(s); slices.Contains(failing(s), "lumpy delivery") {
		t.Errorf("with a failed request: %q", failing(s))
	}
}

// A run in doubt stays in doubt if the server did not keep up. The reasons about the measurement
// come first.
func TestSuspectComesBeforeOverloaded(t *testing.T) {
	s := clean()
	if Judge(s); s.Overloaded() != "" {
		t.Errorf("%q", s.Overloaded())
	}
	backlog.Of(s).Trend = backlog.Trend{Judged: true, Offered: 40, Growth: 16}
	s.Evidence.CPU.Used = time.Hour
	Judge(s)
	if want := []string{"own CPU", "backlog"}; s.Trust.Verdict != verdict.Suspect || !slices.Equal(failing(s), want) {
		t.Errorf("%s: %q, want %q", s.Trust.Verdict, failing(s), want)
	}
	if !strings.HasPrefix(s.Overloaded(), "the backlog grew by 16 requests a second;") {
		t.Errorf("%q", s.Overloaded())
	}
	if new(metrics.Summary).Overloaded() != "" {
		t.Error("without a verdict")
	}
}

func TestOddAnswersSayHowTheyAreOdd(t *testing.T) {
	for name, c := range map[string]struct {
		lengths      lengths.Lengths
		says, remedy string
	}{
		"stopped": {lengths.Lengths{Of: 100, Short: 12, Missing: 340, Reasons: map[string]int{"stop": 9, "length": 3}},
			"short answers: 12 of 100 ended before the tokens asked for though ignore_eos was sent, 340 tokens missing (finish reasons: stop 9, length 3) (limit 1.00 %)",
			"check whether the server knows ignore_eos"},
		"limited": {lengths.Lengths{Of: 100, Short: 2, Missing: 1, Reasons: map[string]int{"length": 2}}, "1 token missing (finish reasons: length 2)",
			"raise --max-model-len of the server"},
		"long": {lengths.Lengths{Of: 100, Long: 2, Extra: 9}, "long answers: 2 of 100 went on past the tokens asked for, 9 tokens more (limit", "check whether the server knows max_tokens"},
		"both": {lengths.Lengths{Of: 300, Short: 1, Missing: 5, Long: 3, Extra: 9, Reasons: map[string]int{"stop": 1}}, "stop 1); long answers: 3 of 300", "check whether the server knows ignore_eos"},
	} {
		s := clean()
		*metrics.View[lengths.Lengths](s) = c.lengths
		Judge(s)
		failed := s.Trust.Failed()
		if len(failed) != 1 || failed[0].Name != "answer lengths" || !strings.Contains(failed[0].Text, c.says) || failed[0].Remedy != c.remedy {
			t.Errorf("%s: %+v", name, failed)
		}
	}
}

// Without a tokenizer by the user's choice no number in the block is wrong.
func TestTokensThatAreNotReportedNeedNoCount(t *testing.T) {
	s := clean()
	s.Header.Config.SkipTokenizer, *metrics.View[counts.Counts](s) = true, counts.Counts{Of: 200, Nobody: 200}
	if Judge(s); s.Trust.Verdict != verdict.Valid {
		t.Errorf("SUSPECT for %q", failing(s))
	}
}

func TestACanvasIsMadeAtOnce(t *testing.T) {
	s := clean()
	*metrics.View[delivery.Delivery](s), s.Printed.Diffusion = delivery.Delivery{Of: 200, AtOnce: 200}, new(samples.Diffusion)
	if Judge(s); len(s.Trust.Failed()) != 0 {
		t.Errorf("SUSPECT for %q", failing(s))
	}
}

func TestAReaderThatIsLateMakesNoGateway(t *testing.T) {
	for shared, want := range map[int64][]string{60: nil, 0: {"streaming"}} { // whose chunks share reads, that is
		s := inUserSpace(clean(), 4)
		s.TTFT, s.ITL, s.Evidence.Stamps.SharedReads = alike(100, 200), alike(100, 4000), shared
		*metrics.View[delivery.Delivery](s) = delivery.Delivery{Of: 200, AtOnce: 200}
		if Judge(s); !slices.Equal(failing(s), want) {
			t.Errorf("%d shared reads: %q, want %q", shared, failing(s), want)
		}
	}
}

// What a gap lacks the next one has, so chunks in the middle of an answer do not bend the mean of ITL.
func TestMeanITLDependsOnTheEndsOfAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*metrics.Summary)
		want float64
	}{
		"in the middle": {func(s *metrics.Summary) { readLate(s, 200, 9*msec) }, 0},
		"first":         {func(s *metrics.Summary) { firstLate(s, 200, 19*msec) }, 1}, // 200 × 19 ms of 3800 gaps
	} {
		s := clean()
		c.set(s)
		for _, n := range (&judge{run: s, seen: s.Evidence}).bent() {
			if n.name == "mean ITL" && math.Abs(n.off-c.want) > 1e-6 {
				t.Errorf("%s: %v ms, want %v", name, n.off, c.want)
			}
		}
	}
}

// Of several findings about counts of tokens, the one about most answers is told.
func TestTheWorstCountOfTokensIsTold(t *testing.T) {
	for says, set := range map[string]func(*metrics.Summary){
		"nobody counted": func(s *metrics.Summary) {
			*metrics.View[counts.Counts](s), metrics.View[delivery.Delivery](s).Falling = counts.Counts{Of: 200, Nobody: 199}, 1
		},
		"where vLLM's": func(s *metrics.Summary) {
			*metrics.View[counts.Counts](s), metrics.View[delivery.Delivery](s).Falling = counts.Counts{Of: 200, Nobody: 1, Apart: 190}, 9
		},
		"falls from one": func(s *metrics.Summary) {
			*metrics.View[counts.Counts](s), metrics.View[delivery.Delivery](s).Falling = counts.Counts{Of: 200, Nobody: 3}, 4
		},
	} {
		s := clean()
		set(s)
		if Judge(s); len(s.Trust.Failed()) != 1 || !strings.Contains(s.Trust.Failed()[0].Text, says) {
			t.Errorf("%q: %+v", says, s.Trust.Failed())
		}
	}
}
