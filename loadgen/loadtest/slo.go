package loadtest

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/stats"
	"github.com/servebench/servebench/metrics/verdict"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report"
)

// An SLO says what the result of a load must be. A zero field sets no limit. TTFT ends at the first
// content and TPOT begins there, if that is known: vLLM's may take an empty chunk for a token. TTFO
// ends at the first output that is not reasoning.
type SLO struct {
	TTFT, TTFO, TPOT, ITL, E2EL Latency

	Failed     int     // requests that may fail
	Requests   float64 // completed requests a second, at least
	Throughput float64 // output tokens a second, at least
}

// A Latency has upper limits for statistics of a latency. A percentile holds only if at least
// stats.MinBeyond samples are above it: the median needs 20 samples, P90 100, P99 1000.
type Latency struct{ Mean, Median, P90, P99, Max time.Duration }

// Assert fails the test if the SLO does not hold for s, and prints why and the numbers. If
// it holds but the numbers cannot be trusted, or the server did not keep up with the rate,
// Assert logs that.
func (o SLO) Assert(t testing.TB, s *metrics.Summary) {
	t.Helper()
	broken := o.Broken(s)
	var said bytes.Buffer
	report.Verdict(&said, s) // a buffer accepts everything
	switch {
	case len(broken) == 0 && s.Trust != nil && s.Trust.Verdict != verdict.Valid:
		t.Logf("the SLO holds, but %s", strings.TrimSpace(said.String()))
	case len(broken) > 0:
		var block bytes.Buffer
		vllm.Block(&block, s, vllm.Version{})
		t.Errorf("the SLO does not hold:\n- %s\n%s%s", strings.Join(broken, "\n- "), &block, &said)
	}
}

// Broken lists the limits that do not hold for s. A run without answers, without tokens or with a
// missing part meets no SLO. A number that is NaN holds no limit. If the server did not keep up
// with the rate, no limit on latencies holds.
func (o SLO) Broken(s *metrics.Summary) (why []string) {
	if s.Ending.Interrupted {
		why = append(why, "the run was cut short")
	}
	why = append(why, s.Ending.Incomplete...)
	if s.Failed > o.Failed {
		why = append(why, fmt.Sprintf("%d of %d requests failed, %d may: %s", s.Failed, s.Failed+s.Completed, o.Failed,
			first(s.Printed.FirstErrors)))
	}
	switch {
	case s.Completed == 0:
		return append(why, "no request completed")
	case s.Totals.Output == 0:
		return append(why, "no answer had a token")
	}
	for _, l := range []struct {
		name string
		most Latency
	}{{"ttft", o.TTFT}, {"ttfo", o.TTFO}, {"tpot", o.TPOT}, {"itl", o.ITL}, {"e2el", o.E2EL}} {
		d, words := s.Decisive(l.name)
		why = append(why, l.most.broken(strings.TrimSpace(metrics.Label(l.name)+" "+words), d, s.Completed)...)
	}
	if backlog := s.Overloaded(); backlog != "" && o.limitsLatencies() {
		why = append(why, backlog)
	}
	return append(why, o.slow(s)...)
}

// limitsLatencies reports whether the SLO limits a latency.
func (o SLO) limitsLatencies() bool {
	return o != SLO{Failed: o.Failed, Requests: o.Requests, Throughput: o.Throughput}
}

// first is the error of the first failed request.
func first(errors []string) string {
	if len(errors) == 0 {
		return "how is not known"
	}
	return errors[0]
}

// slow lists the rates that are too low.
func (o SLO) slow(s *metrics.Summary) (why []string) {
	for _, rate := range []struct {
		got, least float64
		unit       string
	}{{s.Rates.Requests, o.Requests, "requests"}, {s.Rates.Output, o.Throughput, "output tokens"}} {
		if rate.least != 0 && !(rate.got >= rate.least) {
			why = append(why, fmt.Sprintf("%.2f %s a second, below %.2f", rate.got, rate.unit, rate.least))
		}
	}
	return why
}

// broken lists the limits that do not hold for a latency of so many answers.
func (l Latency) broken(name string, d *metrics.Distribution, answers int) (why []string) {
	for _, limit := range []struct {
		statistic  string
		most       time.Duration
		of         func() float64
		percentile float64 // 0 for a statistic of all samples
	}{
		{"mean", l.Mean, d.Mean, 0}, {"median", l.Median, d.Median, 50},
		{"P90", l.P90, func() float64 { return d.Percentile(90) }, 90},
		{"P99", l.P99, func() float64 { return d.Percentile(99) }, 99},
		{"largest", l.Max, func() float64 { return d.Percentile(100) }, 0},
	} {
		if limit.most == 0 {
			continue
		}
		got, most := limit.of(), float64(limit.most)/float64(time.Millisecond)
		size := stats.TailSize{Percentile: limit.percentile, N: d.Len()}
		switch {
		case d.Len() == 0 || math.IsNaN(got):
			why = append(why, fmt.Sprintf("the %s %s is not known: no request has one", limit.statistic, name))
		case got > most:
			why = append(why, fmt.Sprintf("the %s %s is %.2f ms, above %.2f ms", limit.statistic, name, got, most))
		case size.Few():
			lacking := ""
			if n := answers - size.N; n > 0 && !strings.HasPrefix(name, "ITL") {
				lacking = fmt.Sprintf(", since %d of %s have none", n, metrics.Counted(answers, "answer"))
			}
			why = append(why, fmt.Sprintf("the %s %s is of %d values and needs %d%s: send more requests, or ask for Mean or Max",
				limit.statistic, name, size.N, stats.ValuesNeeded(limit.percentile), lacking))
		}
	}
	return why
}
