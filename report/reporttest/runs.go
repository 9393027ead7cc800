package reporttest

import (
	"math"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/trust"
)

const ms = time.Millisecond

// Measured is a run of so many requests, each changed a little by vary.
func Measured(c metrics.Config, n int, vary func(i int, r *record.Record)) *metrics.Summary {
	c.Metrics, c.Dataset = []string{"ttft", "tpot", "itl", "e2el"}, "random"
	collector := aspect.Collector(&metrics.Header{Config: c})
	for i := range n {
		r := &record.Record{Index: i,
			Times: record.Times{Due: time.Duration(i) * 10 * ms}, Tokens: record.Tokens{In: 100, Out: 10}}
		if math.IsInf(c.RequestRate, 1) {
			r.Times.Due = 0
		}
		r.Times.Slot = r.Times.Due
		if c.MaxConcurrency > 0 && i >= c.MaxConcurrency {
			r.Times.Slot += 500 * ms
		}
		r.Times.Sent = r.Times.Slot + time.Duration(i%7)*50*time.Microsecond
		r.Times.Wrote = r.Times.Sent + 200*time.Microsecond
		for j := range 10 {
			r.Answer.Chunks.Append(r.Times.Sent + time.Duration(40+i%11+12*j)*ms)
		}
		r.Times.FirstContent, r.Times.Last = r.Answer.Chunks.First(), r.Answer.Chunks.Last()
		r.Times.End = r.Times.Last + 100*time.Microsecond
		vary(i, r)
		collector.Add(r)
	}
	return collector.Summary(2)
}

// Fair is a run at a rate that nothing is to be said against.
func Fair() *metrics.Summary {
	s := Measured(metrics.Config{RequestRate: 100, Percentiles: []float64{50, 99}}, 150, func(int, *record.Record) {})
	s.Evidence = &evidence.Evidence{
		CPU:    evidence.CPU{Cores: 2, Watched: 2 * time.Second, Used: 300 * ms, Busiest: 0.2, Machine: 4, Others: 500 * ms},
		Stamps: evidence.Stamps{Kernel: 1500}, Connections: evidence.Connections{Opened: 3, Warmed: 16},
		Pauses: evidence.Pauses{GCs: 1, GCPaused: 30 * time.Microsecond},
		Server: evidence.Server{PrefixQueries: 15000, PrefixHits: 480},
	}
	return s
}

// Foul is a chat with several tokens a chunk, everything at once, over TLS and a
// proxy, by a program that stood still.
func Foul() *metrics.Summary {
	c := metrics.Config{RequestRate: math.Inf(1), MaxConcurrency: 60}
	c.Percentiles = []float64{50, 90, 95, 99, 99.9, 99.99}
	s := Measured(c, 80, func(i int, r *record.Record) {
		r.Tokens.Out, r.Tokens.PerChunk = 18, []int{0, 2, 2, 2, 2, 2, 2, 2, 4, 0}
		r.Times.FirstContent = r.Answer.Chunks.First() + 12*ms
		r.Conn = record.Conn{New: true, DNS: ms, Connect: 2 * ms, TLS: 9 * ms}
		r.Times.End += 20 * ms
		if i%2 == 0 {
			r.Answer.Late.Add(5, 11*ms)
		}
		if i == 79 {
			r.Result.Class, r.Result.Error, r.Attempts, r.Reconnects = record.Status, "no room", 5, 1
		}
	})
	s.Evidence = &evidence.Evidence{
		CPU:    evidence.CPU{Cores: 2, Watched: 2 * time.Second, Used: 3800 * ms, Busiest: 0.97},
		Stamps: evidence.Stamps{Kernel: 700, User: 90, SharedReads: 200},
		Pauses: evidence.Pauses{Stalls: 1, Stalled: 320 * ms, LongestStall: 320 * ms},
		Connections: evidence.Connections{Proxy: "proxy:3128", Closed: 12, Dropped: 50, Opened: 79,
			Exhausted: 2, Exhaustion: "dial tcp:\ntoo many open files"},
	}
	return s
}

// Sharded is a run that was put together from these shards.
func Sharded(shards *metrics.Shards) *metrics.Summary {
	s := Fair()
	s.Source.Shards, s.Header.Shards, s.Header.Config.MaxConcurrency = shards, shards.Of, 64
	return s
}

// Faulty is a run of which a part failed in several ways, and of which some answers
// are not as long as was asked for.
func Faulty() *metrics.Summary {
	page := "502 Bad Gateway: <html>\r\n<head><title>" + strings.Repeat("x", 70) + "</title></head>\x1b[31m\r\n" +
		strings.Repeat("too much ", 60)
	failures := map[int]record.Record{
		2:  {Result: record.Result{Class: record.Refused, Error: "connection refused"}},
		90: {Result: record.Result{Class: record.Cancelled, Error: "cut"}},
		20: {Result: record.Result{Class: record.Status, Status: 429, Error: "429 Too Many Requests"}},
		21: {Result: record.Result{Class: record.Status, Status: 429, Error: "429 Too Many Requests"}},
		22: {Result: record.Result{Class: record.Status, Status: 502, Error: page}},
		23: {Result: record.Result{Class: record.InStream, Status: 200}},
		50: {Result: record.Result{Class: record.Truncated, Error: page}},
		51: {Result: record.Result{Class: record.Unfinished, Status: 200, Error: "finish reason error"},
			Answer: record.Answer{Finish: "error"}},
	}
	c := metrics.Config{RequestRate: 100, IgnoreEOS: true, Percentiles: []float64{50, 90, 99}}
	s := Measured(c, 100, func(i int, r *record.Record) {
		f := failures[i]
		r.Result.Class, r.Result.Status, r.Result.Error = f.Result.Class, f.Result.Status, f.Result.Error
		r.Answer.Finish, r.Tokens.OutAsked = f.Answer.Finish, 10
		switch {
		case f.Result.Class != record.OK:
		case i < 2:
			r.Tokens.OutAsked, r.Answer.Finish = 12, "stop"
		case i < 4:
			r.Tokens.OutAsked, r.Answer.Finish = 9, "length"
		default:
			r.Answer.Finish = "length"
		}
	})
	s.Ending.Interrupted, s.Ending.StoppedBy = true, "--abort-on-failures 5%: 7 of 99 requests failed"
	return s
}

// Runs are runs of all kinds with their verdicts, by name.
func Runs() map[string]*metrics.Summary {
	slow := metrics.Config{RequestRate: 5, Percentiles: []float64{99}}
	bundled := Measured(slow, 3, func(_ int, r *record.Record) { r.Tokens.Out = 30 })
	thoughtful := Measured(slow, 60, func(i int, r *record.Record) {
		if i%2 == 0 {
			r.Answer.Reasoned, r.Times.FirstOutput, r.Tokens.OutReasoned = true, r.Times.Sent+100*ms, 5
		}
		if i%10 == 0 {
			r.Times.FirstOutput, r.Tokens.OutReasoned = 0, 10
		}
	})
	all := map[string]*metrics.Summary{
		"reasoning": thoughtful,
		"talks":     Talks(), "fair": Fair(), "foul": Foul(), "bundled": bundled, "faulty": Faulty(),
		"sharded": Sharded(&metrics.Shards{
			Of: 8, Sound: 8, Hosts: []string{"n1", "n2", "n3", "n4"}, Late: &metrics.Window{From: -ms / 5, To: ms},
			Last: "shard 7 (host n4)", Offsets: &metrics.Window{From: -ms / 3, To: ms}, Error: 2 * ms,
		}),
		"sharded-suspect": Sharded(&metrics.Shards{
			Of: 8, Sound: 5, Hosts: []string{"n1", "n2"}, Late: &metrics.Window{From: 0, To: 1500 * ms},
			Last: "shard 1 (host n2)",
			Faults: []string{"the files lack shards 3 and 5 of 8",
				"shard 2 (host n1) was cut: it has no end line, so its duration ends with the last request"},
			Unclocked: []string{"n1", "n2"},
		}),
	}
	for _, s := range all {
		trust.Judge(s)
	}
	return all
}
