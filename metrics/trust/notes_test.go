package trust

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/backlog"
	"github.com/servebench/servebench/metrics/aspect/counts"
	"github.com/servebench/servebench/metrics/aspect/failures"
	"github.com/servebench/servebench/metrics/aspect/lengths"
	"github.com/servebench/servebench/metrics/aspect/pace"
	"github.com/servebench/servebench/metrics/aspect/processes"
	"github.com/servebench/servebench/metrics/aspect/prompts"
	"github.com/servebench/servebench/metrics/aspect/tokens"
	"github.com/servebench/servebench/metrics/course"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/verdict"
)

func TestNotesAccuseNobody(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(s *metrics.Summary)
		says string
	}{
		"no evidence":   {func(s *metrics.Summary) { s.Evidence, s.Client.Age = nil, metrics.Distribution{} }, "the verdict uses only the requests"},
		"a shard short": {func(s *metrics.Summary) { s.Source.Unwatched = 1 }, "are missing for 1 shard"},
		"interrupted":   {func(s *metrics.Summary) { s.Ending.Interrupted = true }, "stopped before its end"},
		"cut short": {func(s *metrics.Summary) {
			s.Ending.Interrupted, s.Failed, failures.Of(s).Classes = true, 9, map[record.Class]*failures.Failing{record.Cancelled: {Requests: 9}}
		},
			"stopped before its end, and 9 requests cut short"},
		"stopped": {func(s *metrics.Summary) { s.Ending.Interrupted, s.Ending.StoppedBy = true, "a rule" }, "before its end, by a rule"},
		"at the end": {func(s *metrics.Summary) {
			s.Ending.Interrupted, s.Failed, failures.Of(s).Classes = true, 5, map[record.Class]*failures.Failing{record.Deadline: {Requests: 2}, record.Cancelled: {Requests: 3}}
		}, "and 5 requests cut short"},
		"short answers": {func(s *metrics.Summary) { *metrics.View[lengths.Lengths](s) = lengths.Lengths{Of: 100, Short: 1} }, "1 of 100 ended before"},
		"retried": {func(s *metrics.Summary) { failures.Of(s).Resent = failures.Resent{Requests: 12, Times: 17} },
			"12 requests sent again after failures, 17 times in all: their latencies include the failed attempts and the waits"},
		"sent anew": {func(s *metrics.Summary) { failures.Of(s).Resent = failures.Resent{Reconnects: 3} },
			"3 requests sent again over a new connection: the used one died before any byte of the answer; latencies count from the first sending"},
		"an address left out": {func(s *metrics.Summary) {
			s.Evidence.Connections.Names = []evidence.Lookup{{Name: "gpu.test", Addresses: 2, LeftOut: []evidence.LeftOut{{Address: "10.0.0.1:80", Why: "connection refused"}}}}
		}, "gpu.test has 2 addresses: no connections to 10.0.0.1:80 (connection refused): requests went to the other addresses"},
		"a silent name server": {func(s *metrics.Summary) {
			s.Evidence.Connections.Names = []evidence.Lookup{{Name: "localhost", LeftOut: []evidence.LeftOut{{}}}, {Name: "gpu.test", Addresses: 1, Stale: "i/o timeout"}}
		}, "gpu.test has 1 address: a later lookup failed (i/o timeout), so new connections went to the addresses of an earlier one"},
		"cookies": {func(s *metrics.Summary) { s.Evidence.Connections.Cookies = []string{"AWSALB", "route"} },
			"the server set cookies (AWSALB, route), and requests returned them as from one client: a balancer that goes by them sends all requests to one replica"},
		"refused streams": {func(s *metrics.Summary) {
			failures.Of(s).Resent, s.Evidence.Connections.Unprocessed = failures.Resent{Reconnects: 3}, 5
		}, "the server refused requests on its HTTP/2 connections (GOAWAY or REFUSED_STREAM): 3 requests sent again, 5 times in all; latencies count from the first sending"},
		"dropped": {func(s *metrics.Summary) { s.Evidence.Connections.Dropped = 7 },
			"closes connections right after its answers without announcing it: 7 connections not used again, so the next requests opened new connections"},
		"failures": {func(s *metrics.Summary) { s.Failed = 3 }, "3 of 203 requests failed"},
		"bundled":  {func(s *metrics.Summary) { tokens.Of(s).Counts = tokens.Counts{Bundled: 1, Chunks: 2, Tokens: 5} }, "chunk ≠ token: 2.50 tokens a chunk, so vLLM's ITL and peak throughput are per chunk; --continuous-usage-stats"},
		"several": {func(s *metrics.Summary) {
			tokens.Of(s).Counts = tokens.Counts{Known: 1, Chunks: 2, Tokens: 5, Largest: 3}
		}, "chunk ≠ token: 2.50 tokens a chunk"},
		"no usage":      {func(s *metrics.Summary) { tokens.Of(s).Counts.Fewer = 7 }, "7 requests had fewer tokens than chunks"},
		"merged events": {func(s *metrics.Summary) { s.Evidence.Stamps.SharedReads = 400 }, "10.0 % of chunks came in one read with another and we read in time"},
		"one bundled": {func(s *metrics.Summary) {
			tokens.Of(s).Counts = tokens.Counts{Known: 99, Bundled: 1, Chunks: 2, Tokens: 5, Largest: 1}
		}, "1 request with more tokens than chunks left out"},
		"a few bundled": {func(s *metrics.Summary) {
			tokens.Of(s).Counts = tokens.Counts{Known: 199, Bundled: 2, Chunks: 2, Tokens: 5, Largest: 2}
		}, "a chunk, so vLLM's ITL and peak throughput are per chunk; 2 requests with more"},
		"untried": {func(s *metrics.Summary) {
			s.Truth.PeakConcurrency, s.Evidence.Selftest = 21, &evidence.Selftest{Streams: 20}
		}, "has nothing on 21 requests in flight at once: it vouches for 20"},
		"others beside": {func(s *metrics.Summary) {
			s.Truth.PeakConcurrency, s.Evidence.OtherInFlight, s.Evidence.Selftest = 11, 10, &evidence.Selftest{Streams: 20}
		}, "has nothing on 21 requests in flight at once: it vouches for 20"},
		"tried above": {func(s *metrics.Summary) {
			s.Truth.PeakConcurrency, s.Evidence.Selftest = 21, &evidence.Selftest{WrongFrom: 22}
		}, "nothing on 21"},
		"answers of one token": {func(s *metrics.Summary) {
			s.TPOT, s.ITL = metrics.Distribution{}, metrics.Distribution{}
		}, "no answer had two tokens: TPOT and ITL are not measured"},
		"one token after a role": {func(s *metrics.Summary) { s.TPOT = metrics.Distribution{} }, "no answer had two tokens: TPOT is not measured"},
		"user space":             {func(s *metrics.Summary) { s.Evidence.Stamps.User = 5 }, "5 of 4005 chunks were stamped after reading"},
		"a proxy":                {func(s *metrics.Summary) { s.Evidence.Connections.Proxy = "proxy:3128" }, "through the proxy proxy:3128"},
		"anybody":                {func(s *metrics.Summary) { s.Evidence.Connections.Unverified = true }, "nobody verified the server's TLS certificate"},
		"packed":                 {func(s *metrics.Summary) { s.Evidence.Connections.Packed = 9 }, "9 answers came compressed: the compressor held each event back"},
		"closed":                 {func(s *metrics.Summary) { s.Evidence.Connections.Closed = 9 }, "closed the connection after 9 answers"},
		"mixed": {func(s *metrics.Summary) {
			s.Evidence.Server.Mixed, s.Evidence.Server.PrefixQueries, s.Evidence.Server.PrefixHits = "it restarted", 0, 0
			s.Evidence.Server.Restarted = "it restarted" // which is not noted twice
		},
			"the server's /metrics are not from one process under only this load: it restarted. They are ignored. Behind a load balancer or router, name each replica: --server-metrics http://REPLICA1:8000,http://REPLICA2:8000"},
		"restarted": {func(s *metrics.Summary) { s.Evidence.Server.Restarted = "process 7 listened, and process 9" },
			"the server restarted during the run: process 7 listened, and process 9"},
		"restarted, and its counters began again": {func(s *metrics.Summary) {
			s.Evidence.Server.Mixed, s.Evidence.Server.Restarted = "its counts went back", "process 7 listened, and process 9"
		}, "the server restarted during the run: process 7 listened, and process 9. Its /metrics are of several processes, so they are ignored"},
		"restarted, and its samples differ": {func(s *metrics.Summary) {
			processes.Of(s).Mixed, s.Evidence.Server.Restarted = "its counts went back", "its process began 10.0 s after the run did"
		}, "the server restarted during the run: its process began 10.0 s after the run did. Its /metrics are of"},
		"a sleep that nobody saw": {func(s *metrics.Summary) { s.Header.Wake = &metrics.Wake{Level: 1, Unproven: true} },
			"nothing but its own answers shows that the server slept (--sleep-first)"},
		"old protocol": {func(s *metrics.Summary) { s.Evidence.Connections.Protocol = "HTTP/1.0" }, "answers in HTTP/1.0"},
		"asked for prefixes": {func(s *metrics.Summary) {
			s.Header.Config.Traits.SharedPrefixes, s.Evidence.Server.PrefixHits = true, 900
		}, "90.0 % of the prompt tokens"},
		"repeated prefixes": {func(s *metrics.Summary) {
			s.Header.Config.Traits.SharedPrefixes, s.Evidence.Server.PrefixHits = true, 500
		}, "50.0 %"},
		"sent again": {func(s *metrics.Summary) { s.Evidence.Repeated, s.Evidence.Server.PrefixHits = 3, 500 }, "50.0 % of the prompt tokens in its prefix cache, as expected for this workload"},
		"no prompt tokens": {func(s *metrics.Summary) {
			*metrics.View[counts.Counts](s) = counts.Counts{Of: 200, NoInput: 200, Lost: 4000}
		},
			"the server counted 0 prompt tokens in 200 of 200 answers: total input tokens lack the 4000 tokens that the dataset has there"},
		"several answers": {func(s *metrics.Summary) {
			s.Header.Config.Traits.Answers, s.Header.Config.Whole, s.Evidence.Server.PrefixHits = 2, true, 500
		}, "50.0 % of the prompt tokens in its prefix cache, as expected"},
		"a stop": {func(s *metrics.Summary) {
			s.Evidence.Pauses.Stalls, s.Evidence.Pauses.Stalled, s.Evidence.Pauses.LongestStall = 1, 26*msec, 26*msec
		}, "this process was stopped for 26.0 ms at most and 0.26 % of the time, in 1 stop: the kernel stamped what came meanwhile"},
		"many stops": {func(s *metrics.Summary) {
			s.Evidence.Pauses.Stalls, s.Evidence.Pauses.Stalled, s.Evidence.Pauses.StallWait, s.Evidence.Pauses.LongestStall = 14, 250*msec, 250*msec, 20*msec
		}, "this process had no core for 20.0 ms at most and 2.50 % of the time, in 14 stops"},
		"a pause": {func(s *metrics.Summary) { s.Evidence.Pauses.LongestGC = 16 * msec }, "this process was stopped by garbage collection for 16.0 ms at most"},
		"a system prompt": {func(s *metrics.Summary) {
			s.Header.Config.Traits.Templated = true
			*metrics.View[prompts.Prompts](s) = prompts.Prompts{Of: 200, Longer: 200, Beyond: 200, Least: 300, Most: 300}
		}, "the server adds 300 tokens or more to each prompt of a chat, by its count: a long template, a system prompt or tools"},
		"a change": {func(s *metrics.Summary) {
			s.Truth.Course = &course.Course{Of: 200, Change: &course.Change{
				At: 4 * time.Second, Requests: 40,
				Before: course.Stretch{TTFT: 251, TPOT: 50, Rate: 13.2}, After: course.Stretch{TTFT: 51, Rate: 64},
			}}
		}, "the run was not steady: latencies changed at 4.0 s, after 40 requests. Before: mean TTFT 251 ms, 50.0 ms a chunk, 13.2 req/s; after: mean TTFT 51.0 ms, 64.0 req/s"},
		"two modes": {func(s *metrics.Summary) {
			s.Truth.Course = &course.Course{Of: 200, Modes: &course.Modes{Share: 0.5, Fast: 10, Slow: 30}}
		}, "the answers have two kinds: 50 % take 10.0 ms a chunk, and 50 % take 30.0 ms"},
		"quick answers": {func(s *metrics.Summary) {
			s.Truth.Course = &course.Course{Of: 200, Quick: 60, Quickest: 1300 * time.Microsecond}
		}, "60 of 200 answers were complete within 1.30 ms (median), before a quarter of the median TTFT had passed: are they errors"},
		"empty slots": {func(s *metrics.Summary) {
			s.Header.Config.RequestRate, s.Header.Config.MaxConcurrency = math.Inf(1), 64
			s.Truth.MeanConcurrency, s.Truth.PeakConcurrency = 35.2, 64
		}, "35.2 of the 64 slots of --max-concurrency were in use on average, and 64 at most: the numbers are of a smaller load. Take 640 requests or more"},
		"a rate that never was": {func(s *metrics.Summary) {
			s.Header.Config.RequestRate = 1000
			pace.Of(s).Pace = pace.Pace{Requests: 51, Due: 51 * msec, Sent: 51 * msec}
		}, "all 51 requests were due within 51.0 ms, and an answer takes 240 ms: the server never had the load of this rate, and throughput is of the wait for the last answers. Take 2353 requests or more"},
		"conversations": {func(s *metrics.Summary) { s.Truth.LaterTurns, s.Evidence.Server.PrefixHits = true, 500 }, "50.0 %"},
	} {
		s := clean()
		c.set(s)
		Judge(s)
		if s.Trust.Verdict != verdict.Valid || len(s.Trust.Notes) != 1 || !strings.Contains(s.Trust.Notes[0], c.says) {
			t.Errorf("%s: %s for %q, notes %q", name, s.Trust.Verdict, failing(s), s.Trust.Notes)
		}
	}
}

// No flag makes these APIs count each chunk.
func TestCountsAtTheEndHaveNoFlagForChunks(t *testing.T) {
	for last, advised := range map[bool]bool{false: true, true: false} {
		s := clean()
		s.Header.Config.Traits.CountsLast, tokens.Of(s).Counts = last, tokens.Counts{Bundled: 1, Chunks: 2, Tokens: 5}
		Judge(s)
		if notes := strings.Join(s.Trust.Notes, "; "); !strings.Contains(notes, "chunk ≠ token") || strings.Contains(notes, "--continuous-usage-stats") != advised {
			t.Errorf("%t: %s", last, notes)
		}
	}
}

// A mean of 1.00 says nothing of the few tokens that shared a chunk. A flag is no advice if the run has it,
// by its name or as a member of the body, or if the body may not have the member.
func TestBundledTokensAreNotedAsTheyAre(t *testing.T) {
	few := tokens.Counts{Bundled: 100, Chunks: 12_000, Tokens: 12_012}
	for _, c := range []struct {
		traits metrics.Traits
		says   string
	}{
		{metrics.Traits{}, "chunk ≠ token: 12012 tokens in 12000 chunks, so vLLM's ITL and peak throughput are per chunk; --continuous-usage-stats tells single tokens' ITL, if the server has it"},
		{metrics.Traits{CountsEach: true}, "are per chunk; the server was asked to count the tokens of each chunk, and does not"},
		{metrics.Traits{CountsLast: true}, "peak throughput are per chunk"},
	} {
		s := clean()
		tokens.Of(s).Counts, s.Header.Config.Traits = few, c.traits
		Judge(s)
		notes := strings.Join(s.Trust.Notes, "\n")
		if !strings.Contains(notes, c.says) || c.traits.CountsLast && strings.Contains(notes, "--continuous") {
			t.Errorf("%+v: %s, want %q", c.traits, notes, c.says)
		}
	}
}

// Without the kernel's stamps nobody knows for certain whether we read in time.
func TestWhatIsReadInUserSpaceIsDoubted(t *testing.T) {
	const stamped = "4000 of 4000 chunks were stamped after reading"
	for late, says := range map[float64]string{0: "or we read late, of which nothing is known", 0.5: "that this process woke up late by 0.50 ms at p99"} {
		s := inUserSpace(clean(), late)
		s.Evidence.Stamps.SharedReads, s.Evidence.Selftest = 2000, &evidence.Selftest{Streams: 1000, Kernel: true}
		Judge(s)
		notes := strings.Join(s.Trust.Notes, "\n")
		if s.Trust.Verdict != verdict.Valid || strings.Contains(notes, "in time") {
			t.Errorf("%v: %s for %q, notes %q", late, s.Trust.Verdict, failing(s), notes)
		}
		for _, want := range []string{says, "50.0 % of chunks came in one read", stamped, "selftest of this machine says nothing of stamps taken after reading"} {
			if !strings.Contains(notes, want) {
				t.Errorf("%v: notes %q without %q", late, notes, want)
			}
		}
	}
}

func TestWithoutTruthThereIsNoVerdict(t *testing.T) {
	s := &metrics.Summary{Header: &metrics.Header{}, Trust: &verdict.Trust{Verdict: verdict.Valid}}
	if Judge(s); s.Trust != nil {
		t.Errorf("trust %+v", s.Trust)
	}
}

func TestLaterRequestsThatTookLongerAreNoted(t *testing.T) {
	s := clean()
	backlog.Of(s).Trend = backlog.Trend{Early: time.Second, Late: 3 * time.Second}
	Judge(s)
	const want = "the run is too short for its answers to show whether the server keeps up"
	if !slices.ContainsFunc(s.Trust.Notes, func(note string) bool { return strings.HasSuffix(note, want) }) {
		t.Errorf("notes %q", s.Trust.Notes)
	}
}

func TestMetricsOfSeveralProcessesAreNoted(t *testing.T) {
	for _, mixed := range []string{"", "it comes from processes that started at two times"} {
		s := clean()
		processes.Of(s).Mixed = mixed
		Judge(s)
		if noted := strings.Contains(strings.Join(s.Trust.Notes, "\n"), "under only this load: "+mixed+". They are ignored"); noted != (mixed != "") {
			t.Errorf("mixed %q: notes %q", mixed, s.Trust.Notes)
		}
	}
}

// Where the load or the server's backlog explains it, a run is told neither unsteady nor short.
func TestCoursesThatTheLoadExplainsHaveNoNote(t *testing.T) {
	for name, set := range map[string]func(*metrics.Summary){
		"an overloaded server": func(s *metrics.Summary) {
			backlog.Of(s).Trend = backlog.Trend{Judged: true, Offered: 100, Growth: 50, Chance: 4}
			s.Truth.Course = &course.Course{Of: 200, Change: &course.Change{Requests: 9}}
		},
		"one that slows down": func(s *metrics.Summary) {
			backlog.Of(s).Trend = backlog.Trend{Early: msec, Late: 9 * msec}
			s.Truth.Course = &course.Course{Of: 200, Quick: 60, Quickest: msec}
		},
		"a ramp": func(s *metrics.Summary) {
			s.Header.Config.RampUp = new(metrics.RampUp)
			pace.Of(s).Pace = pace.Pace{Requests: 51, Due: 50 * msec, Sent: 50 * msec}
		},
	} {
		s := clean()
		set(s)
		Judge(s)
		for _, n := range s.Trust.Notes {
			if !strings.HasPrefix(n, "from when they were due") {
				t.Errorf("%s: %q", name, n)
			}
		}
	}
}
