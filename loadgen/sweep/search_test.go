package sweep

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/reasoning"
	"github.com/servebench/servebench/metrics/verdict"
)

// searched runs a search to its end, whose probes hold as said of the value and of how
// many probes of it there were before.
func searched(t *testing.T, s *Search, holds func(value float64, before int) bool) (found edge, history []probe) {
	t.Helper()
	tried := map[float64]int{}
	for range 500 {
		value, over := s.next(history)
		if over {
			return s.edge(history), history
		}
		if value < s.From || value > s.To {
			t.Fatalf("%g is outside %g to %g", value, s.From, s.To)
		}
		p := probe{value: value, why: "it is slow"}
		if holds(value, tried[value]) {
			p.vote = passed
		}
		history = append(history, p)
		tried[value]++
	}
	t.Fatalf("no end: %v", history)
	return found, nil
}

// near says whether two values are the same one of a search; NaN is like NaN.
func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 || math.IsNaN(a) && math.IsNaN(b) }

func TestSearchFindsTheEdge(t *testing.T) {
	for _, s := range []Search{
		{From: 1, To: 64, Step: 1, Confirm: 2}, {From: 0.5, To: 20, Step: 0.1, Confirm: 2}, {From: 3, To: 4, Step: 5, Confirm: 1}, {From: 1, To: 9, Step: 1},
	} {
		for i := -1; i < s.steps(); i++ {
			holds, fails := math.NaN(), math.NaN()
			if i >= 0 {
				holds = s.value(i)
			}
			if i+1 < s.steps() {
				fails = s.value(i + 1)
			}
			found, history := searched(t, &s, func(value float64, _ int) bool { return i >= 0 && value <= holds+1e-9 })
			each := s.Confirm + 1
			want := edge{passes: holds, fails: fails, passesBy: votes{passed: each, of: each}, failsBy: votes{of: each}, why: "it is slow"}
			if i < 0 {
				want.passesBy = votes{}
			}
			if i == s.steps()-1 {
				want.failsBy, want.why = votes{}, ""
			}
			if !near(found.passes, want.passes) || !near(found.fails, want.fails) || found.passesBy != want.passesBy || found.failsBy != want.failsBy || found.why != want.why || found.open() {
				t.Errorf("%+v: found %+v, want %+v", s, found, want)
			}
			if len(history) > s.most() {
				t.Errorf("%+v: %d probes, promised %d", s, len(history), s.most())
			}
		}
	}
}

// One probe that is wrong, whichever it is, does not change what is found.
func TestOneWrongProbeDoesNotChangeTheAnswer(t *testing.T) {
	s := Search{From: 1, To: 64, Step: 1, Confirm: 2}
	for limit := 0.0; limit <= 64; limit++ {
		for wrong := range s.most() + 10 {
			n := 0
			found, history := searched(t, &s, func(value float64, _ int) bool {
				n++
				return value <= limit != (n == wrong+1)
			})
			if math.IsNaN(found.passes) != (limit == 0) || limit > 0 && found.passes != limit || limit < 64 && found.fails != limit+1 {
				t.Errorf("probe %d of a server that holds up to %g: found %+v by %v", wrong+1, limit, found, history)
			}
		}
	}
}

// The probes of a search on a noisy machine: 40 held, 40 failed, 20 held, 20 failed, and
// a search that goes by the last of them finds nothing at all.
func TestAFailedConfirmationDoesNotHalveTheAnswer(t *testing.T) {
	s := Search{From: 20, To: 80, Step: 20, Confirm: 2}
	found, history := searched(t, &s, func(value float64, before int) bool { return value <= 40 && before != 1 })
	if found.passes != 40 || found.passesBy != (votes{2, 0, 3}) || found.fails != 60 || found.failsBy != (votes{0, 0, 3}) {
		t.Errorf("found %+v by %v", found, history)
	}
}

// Of probes that are wrong now and then, on either side of what a server holds, most
// searches find just that, and hardly any another half.
func TestNoisyProbesFindTheEdge(t *testing.T) {
	const limit, searches = 57.0, 2000
	s := Search{From: 1, To: 128, Step: 1, Confirm: 2}
	for _, row := range []struct{ noise, exact, far, probes float64 }{
		{0.02, 0.98, 0.01, 14}, {0.05, 0.94, 0.04, 16}, {0.1, 0.8, 0.12, 20},
	} {
		random := rand.New(rand.NewPCG(11, uint64(row.noise*100)))
		exact, far, probes := 0, 0, 0
		for range searches {
			found, history := searched(t, &s, func(value float64, _ int) bool { return value <= limit != (random.Float64() < row.noise) })
			if found.passes == limit {
				exact++
			}
			if !(found.passes >= limit*0.75 && found.passes <= limit*1.25) {
				far++
			}
			probes += len(history)
		}
		if e, f, n := float64(exact)/searches, float64(far)/searches, float64(probes)/searches; e < row.exact || f > row.far || n > row.probes {
			t.Errorf("%g of the probes wrong: %.3f of the searches find the edge, %.3f miss it by a quarter, with %.1f probes", row.noise, e, f, n)
		}
	}
}

// many are n values of so many milliseconds.
func many(d *metrics.Distribution, ms float64, n int) {
	for range n {
		d.Add(ms / 1000)
	}
}

func TestLimits(t *testing.T) {
	p := parse(t, "until: {flag: request-rate, from: 1, to: 9, slo: {p99-ttft: 20, mean-tpot: 5, median-itl: 7}}")
	for _, row := range []struct {
		change func(*metrics.Summary)
		vote   vote
		says   string
	}{
		{func(*metrics.Summary) {}, passed, ""},
		{func(s *metrics.Summary) { s.Trust = &verdict.Trust{Verdict: verdict.Valid} }, passed, ""},
		{func(s *metrics.Summary) { many(&s.ITL, 7.1, 2000) }, failed, "median ITL is 7.10 ms, above 7 ms"},
		{func(s *metrics.Summary) { many(&s.TPOT, 6, 1) }, failed, "mean TPOT is 5.50 ms, above 5 ms"},
		{func(s *metrics.Summary) { many(&s.TTFT, 21, 12) }, failed, "p99 TTFT is 21.00 ms, above 20 ms"},
		{func(s *metrics.Summary) { s.Failed = 1 }, failed, "1 of 1001 requests failed"},
		{func(s *metrics.Summary) { s.TTFT = metrics.Distribution{}; many(&s.TTFT, 1, 999) }, doubted, "p99 TTFT has 999 samples and needs 1000"},
		{func(s *metrics.Summary) { s.ITL = metrics.Distribution{}; many(&s.ITL, 1, 19) }, doubted, "median ITL has 19 samples and needs 20"},
		{func(s *metrics.Summary) { s.TPOT = metrics.Distribution{} }, failed, "mean TPOT is not known: no request has one"},
		{func(s *metrics.Summary) {
			s.TPOT, s.ITL = metrics.Distribution{}, metrics.Distribution{}
			many(&s.TPOT, 0, 9)
			many(&s.ITL, 0, 90)
		}, failed,
			"mean TPOT is not known: answers came in one piece; median ITL is not known: answers came in one piece"},
		{func(s *metrics.Summary) {
			s.Trust = &verdict.Trust{Verdict: verdict.Suspect, Checks: []verdict.Check{{OK: true}, {Text: "it lagged"}, {Text: "it stood still"}}}
		}, doubted, "SUSPECT: it lagged; it stood still"},
		{func(s *metrics.Summary) {
			s.Failed, s.Trust = 2, &verdict.Trust{Verdict: verdict.Suspect, Checks: []verdict.Check{{Text: "it lagged"}}}
		}, failed, "2 of 1002 requests failed; SUSPECT: it lagged"},
		{func(s *metrics.Summary) {
			s.Trust = &verdict.Trust{Verdict: verdict.Overloaded, Checks: []verdict.Check{{Text: "the backlog grew"}}}
		}, failed, "OVERLOADED: the backlog grew"},
		{func(s *metrics.Summary) { s.Header.Config.RequestRate, s.Truth = 10, new(metrics.Truth) }, doubted,
			"it was too short to tell whether the server keeps up: take more requests"},
		{func(s *metrics.Summary) {
			s.TTFT = metrics.Distribution{}
			many(&s.TTFT, 1, 999)
			many(&s.ITL, 8, 2000)
		}, failed,
			"p99 TTFT has 999 samples and needs 1000; median ITL is 8.00 ms, above 7 ms"},
		// An empty chunk that came before any content is no token to a user.
		{func(s *metrics.Summary) {
			s.Truth = new(metrics.Truth)
			many(&seen(s).ContentTTFT, 30, 1000)
			s.Trust = &verdict.Trust{Verdict: verdict.Suspect, Checks: []verdict.Check{{Name: verdict.FirstToken, Text: "it is early"}}}
		}, doubted, "p99 TTFT to the first content is 30.00 ms, above 20 ms, but the run is SUSPECT: it is early"},
	} {
		sum := &metrics.Summary{Header: new(metrics.Header), Completed: 1000}
		many(&sum.TTFT, 10, 1000)
		many(&sum.TPOT, 5, 1)
		many(&sum.ITL, 5, 1000)
		row.change(sum)
		if v, why := p.Search.judge(sum); v != row.vote || why != row.says {
			t.Errorf("%v %q, want %v %q", v, why, row.vote, row.says)
		}
	}
}

// seen are the latencies to what a user of s sees.
func seen(s *metrics.Summary) *reasoning.Reasoning {
	of := new(reasoning.Reasoning)
	s.Give(reasoning.Kind, of)
	return of
}

// A user waits for the answer, not for the reasoning before it.
func TestLimitsAreOnTheFirstOutput(t *testing.T) {
	for _, c := range []struct {
		reasoned int
		slo      string
		want     string
	}{
		{0, "{mean-ttfo: 20}", ""},
		{0, "{mean-ttfo: 15}", "mean TTFO is 19.00 ms, above 15 ms"},
		{10, "{mean-ttfo: 400}", ""},
		{10, "{mean-ttft: 20, mean-ttfo: 20}", "mean TTFO is 400.00 ms, above 20 ms"},
	} {
		sum := &metrics.Summary{Header: new(metrics.Header), Completed: 10, Truth: new(metrics.Truth)}
		many(&sum.TTFT, 19, 10)
		of := seen(sum)
		many(&of.ContentTTFT, 19, 10)
		many(&of.TTFO, 400, c.reasoned)
		of.Answers = c.reasoned
		if v, why := parse(t, "until: {flag: request-rate, from: 1, to: 9, slo: "+c.slo+"}").Search.judge(sum); (v == passed) != (c.want == "") || why != c.want {
			t.Errorf("%s of %d: %v %q, want %q", c.slo, c.reasoned, v, why, c.want)
		}
	}
	sum := &metrics.Summary{Header: new(metrics.Header), Completed: 10}
	if v, why := parse(t, "until: {flag: request-rate, from: 1, to: 9, slo: {mean-ttfo: 20}}").Search.judge(sum); v == passed || why != "mean TTFO is not known: no request has one" {
		t.Errorf("unknown: %v %q", v, why)
	}
}

// vLLM's TTFT may be wrong where that from the content holds, unless ITL counts.
func TestLimitsAreOnTheFirstContent(t *testing.T) {
	for slo, want := range map[string]string{
		"{mean-ttft: 20}":               "",
		"{mean-ttft: 15}":               "mean TTFT to the first content is 19.00 ms, above 15 ms",
		"{mean-ttft: 20, mean-itl: 99}": "SUSPECT: it is early",
	} {
		sum := &metrics.Summary{Header: new(metrics.Header), Completed: 10, Truth: new(metrics.Truth)}
		many(&sum.TTFT, 2, 10)
		many(&sum.ITL, 9, 90)
		many(&seen(sum).ContentTTFT, 19, 10)
		sum.Trust = &verdict.Trust{Verdict: verdict.Suspect, Checks: []verdict.Check{{Name: verdict.FirstToken, Text: "it is early"}}}
		if v, why := parse(t, "until: {flag: request-rate, from: 1, to: 9, slo: "+slo+"}").Search.judge(sum); (v == passed) != (want == "") || why != want {
			t.Errorf("%s: %v %q, want %q", slo, v, why, want)
		}
	}
}

// The limits are every target's, alone and among the others.
func TestLimitsHoldOnEachTarget(t *testing.T) {
	p := parse(t, "until: {flag: request-rate, from: 1, to: 9, slo: {mean-ttft: 20}}")
	for _, row := range []struct {
		slow []int
		says string
	}{
		{nil, ""}, {[]int{0}, "a alone: mean TTFT is 25.00 ms, above 20 ms"}, {[]int{1}, "a: mean TTFT is 25.00 ms, above 20 ms"},
		{[]int{0, 2}, "a alone: mean TTFT is 25.00 ms, above 20 ms; b: mean TTFT is 25.00 ms, above 20 ms"},
	} {
		sums := []*metrics.Summary{
			{Header: &metrics.Header{Target: "a", Solo: true}, Completed: 1},
			{Header: &metrics.Header{Target: "a"}, Completed: 1},
			{Header: &metrics.Header{Target: "b"}, Completed: 1},
		}
		for i, sum := range sums {
			if sum.TTFT.Add(0.020); slices.Contains(row.slow, i) {
				sum.TTFT.Add(0.030)
			}
		}
		if v, why := p.Search.judge(sums...); (v == passed) != (row.slow == nil) || why != row.says {
			t.Errorf("%v %q, want %q", v, why, row.says)
		}
	}
}
