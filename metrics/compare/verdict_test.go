package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/asked"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/compare/numbers"
)

func near(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-12*max(math.Abs(a), math.Abs(b)) }

// alike are runs on one start each that scatter by a few percent, a minute apart, with what differs for all of
// them.
func alike(n int, change ...func(i int, r *brief.Run)) []*brief.Run {
	var runs []*brief.Run
	for i := range n {
		around := 1 + 0.01*float64(i%3)
		r := &brief.Run{
			Asked:   map[string]string{"model": "m", asked.Client: "1", "request-rate": "inf", asked.Seed: "0"},
			Numbers: map[string]float64{"output_throughput": 2000 * around, "median_ttft": 40 * around, "median_tpot": 10 * around},
			Began:   time.Unix(60*int64(i), 0), Ended: time.Unix(60*int64(i)+50, 0), Start: strconv.Itoa(i),
			Values: map[string]int{"ttft": 5000}, Completed: 100, Input: 1000, Output: 1000,
		}
		for _, change := range change {
			change(i, r)
		}
		runs = append(runs, r)
	}
	return runs
}

func times(name string, factor float64) func(int, *brief.Run) {
	return func(_ int, r *brief.Run) { r.Numbers[name] *= factor }
}

func asks(name, value string) func(int, *brief.Run) {
	return func(_ int, r *brief.Run) { r.Asked[name] = value }
}

// every puts the runs so many minutes apart.
func every(minutes int) func(int, *brief.Run) {
	return func(i int, r *brief.Run) {
		r.Began = time.Unix(60*int64(i*minutes), 0)
		r.Ended = r.Began.Add(50 * time.Second)
	}
}

// turned are the runs on one start each, a minute apart, as in alike.
func turned(runs []*brief.Run) []*brief.Run {
	for i, r := range runs {
		r.Start = strconv.Itoa(i)
		every(1)(i, r)
	}
	return runs
}

// seeded gives each run a seed of its own.
func seeded(from int) func(int, *brief.Run) {
	return func(i int, r *brief.Run) { r.Asked[asked.Seed] = strconv.Itoa(from + i) }
}

// named gives each run an id.
func named(from int) func(int, *brief.Run) {
	return func(i int, r *brief.Run) { r.ID = strconv.Itoa(from + i) }
}

func TestVerdicts(t *testing.T) {
	ceiling := gating.Default()
	p99, _ := numbers.Find("p99_ttft")
	ceiling.Bounds = []gating.Bound{{Number: p99, Least: math.Inf(-1), Most: 200}}
	gatedTail := gating.Gate{Limits: []gating.Margin{{Number: p99, Relative: 0.05}}}
	trusting := gatedTail
	trusting.Despite = []string{"suspect"}
	median, _ := numbers.Find("median_ttft")
	p10, _ := numbers.Find("p10_ttft")
	highest, _ := numbers.Find("p100_ttft")
	gated := func(m metrics.Number) gating.Gate {
		return gating.Gate{Limits: []gating.Margin{{Number: m, Relative: 0.05}}}
	}
	// A result file of another program does not say how many samples it has.
	unsaid := func(completed int) func(int, *brief.Run) {
		return func(_ int, r *brief.Run) {
			r.Values, r.Completed, r.Output = nil, completed, 20*completed
			r.Numbers["p10_ttft"], r.Numbers["p100_ttft"], r.Numbers["p99_itl"] = 30, 90, 12
		}
	}
	tailITL, _ := numbers.Find("p99_itl")
	itl, _ := numbers.Find("median_itl")
	amount := gating.Gate{Limits: []gating.Margin{{Number: itl, Relative: 0.1, Absolute: 2}}}
	gaps := func(of func(i int) float64) func(int, *brief.Run) {
		return func(i int, r *brief.Run) { r.Numbers["median_itl"] = of(i) }
	}
	all := func(ms float64) func(int, *brief.Run) { return gaps(func(int) float64 { return ms }) }
	beyond := func(n int) func(int, *brief.Run) { return func(_ int, r *brief.Run) { r.Values["ttft"] = n } }
	floor := gating.Default()
	floor.Bounds = []gating.Bound{{Number: numbers.All()[1], Least: 1000, Most: math.Inf(1)}}
	tolerant := gating.Default()
	tolerant.Allowed = 0.02
	despite := gating.Default()
	despite.Despite = []string{"model", "suspect"}
	single := gating.Gate{Limits: gating.Default().Limits[:1], Alpha: 0.2}
	fails := func(n int) func(int, *brief.Run) { return func(_ int, r *brief.Run) { r.Failed = n } }
	doubtful := func(i int, r *brief.Run) {
		if i == 1 {
			r.Doubts = []string{"SUSPECT: it lagged"}
		}
	}
	cut := func(i int, r *brief.Run) {
		if i == 1 {
			r.Gaps = []string{"it was cut short"}
		}
	}
	held := func(limit string) func(int, *brief.Run) {
		return func(i int, r *brief.Run) {
			r.Asked["max-concurrency"] = limit
			r.Held = fmt.Sprintf("sent 17.4%d of the 18.62 req/s scheduled: --max-concurrency held requests back", i)
		}
	}
	stopped := func(failed int) func(int, *brief.Run) {
		return func(_ int, r *brief.Run) {
			r.Completed, r.Failed, r.Gaps, r.Source.Cut = 0, failed, []string{"run r was cut"}, true
			r.Values = map[string]int{"ttft": 5000, "tpot": 5000}
		}
	}
	tail := func(v float64) func(int, *brief.Run) { return func(_ int, r *brief.Run) { r.Numbers["p99_ttft"] = v } }
	for _, test := range []struct {
		name     string
		gate     gating.Gate
		old, new []*brief.Run
		want     Verdict
		reason   string // in the first one
	}{
		{"alike", gating.Default(), alike(6), alike(6), Pass, ""},
		{"slower", gating.Default(), alike(6), alike(6, times("median_ttft", 1.1)), Regressed, "median_ttft +10.0 %, by at least 8.6 % (40.40 → 44.44 ms; margin 5 %; p=0.0"},
		{"less throughput", gating.Default(), alike(6), alike(6, times("output_throughput", 0.9)), Regressed, "output_throughput −10.0 %"},
		{"faster", gating.Default(), alike(6), alike(6, times("median_ttft", 0.5)), Pass, ""},
		{"within the margin", gating.Default(), alike(6), alike(6, times("median_ttft", 1.04)), Pass, ""},
		{"one a side", gating.Default(), alike(1), alike(1, times("median_ttft", 9)), NoVerdict, "too few server starts: 1 old and 1 new; 3 gated numbers take at least 4 server starts a side"},
		{"three a side", gating.Default(), alike(3), alike(3), NoVerdict, "too few server starts: 3 old"},
		{"enough together", gating.Default(), alike(3, every(4)), alike(9, times("median_ttft", 2)), Regressed, "median_ttft"},
		{"no interval", single, alike(2), alike(2), NoVerdict, "output_throughput: too few server starts to rule out a change of 10 %: take at least 3"},
		{"one run on both sides", gating.Default(), alike(6, named(0)), alike(6, named(5)), NoVerdict, "run 5 is there twice"},
		{"each run once", gating.Default(), alike(6, named(0)), alike(6, named(6)), Pass, ""},
		{"under the floor and worse", floor, alike(6), alike(6, times("output_throughput", 0.4), times("median_ttft", 2)), Regressed, "output_throughput is 808.00 tok/s, below its floor of 1000"},
		{"none", gating.Default(), nil, nil, NoVerdict, "there are no runs"},
		{"none new", gating.Default(), alike(6), nil, NoVerdict, "one side has no runs"},
		{"all failed", gating.Default(), alike(6), alike(6, func(_ int, r *brief.Run) { r.Completed, r.Failed = 0, 100 }), Regressed, "new run 1: no request completed"},
		{"no tokens", gating.Default(), alike(6), alike(6, func(_ int, r *brief.Run) { r.Output = 0 }), Regressed, "new run 1: no request got a token"},
		{"some failed", gating.Default(), alike(6), alike(6, fails(2)), Regressed, "new run 1: 2 of 102 requests failed"},
		{"some failed in one of one", gating.Default(), alike(1), alike(1, fails(2)), Regressed, "new run 1: 2 of 102 requests failed"},
		{"some may fail", tolerant, alike(6, fails(1)), alike(6, fails(2)), Pass, ""},
		{"old failed", gating.Default(), alike(6, fails(2)), alike(6), NoVerdict, "old run 1: 2 of 102 requests failed, so there is nothing to compare with"},
		{"both failed", gating.Default(), alike(6, fails(2)), alike(6, fails(2)), NoVerdict, "old run 1: 2 of 102"},
		{"more failed", gating.Default(), alike(6, fails(2)), alike(6, fails(3)), Regressed, "new run 1: 3 of 103"},
		{"failures unknown", gating.Default(), alike(6), alike(6, fails(-1)), NoVerdict, "all 6 new runs: it does not say how many requests failed"},
		{"text block", gating.Default(), alike(6, func(_ int, r *brief.Run) { r.Asked = nil }), alike(6), NoVerdict, "all 6 old runs: a result block"},
		{"another model", gating.Default(), alike(6), alike(6, asks("model", "n")), NoVerdict, "not comparable: model is m in the old runs and n in the new ones"},
		{"another model, meant", despite, alike(6), alike(6, asks("model", "n"), doubtful), Pass, ""},
		{"limited", gating.Default(), alike(6, asks("max-concurrency", "unlimited")), alike(6, asks("max-concurrency", "8")), NoVerdict, "not comparable: max-concurrency is unlimited in the old runs and 8 in the new ones"},
		{"cores known once", gating.Default(), alike(6), alike(6, asks(asked.Cores, "2")), Pass, ""},
		{"code for HTTP known once", gating.Default(), alike(6), alike(6, asks("transport", "auto")), Pass, ""},
		{"other code for HTTP", gating.Default(), alike(6, asks("transport", "net")), alike(6, asks("transport", "auto")), NoVerdict, "not comparable: transport is net in the old runs and auto in the new ones"},
		{"given once", gating.Default(), alike(6), alike(6, asks("temperature", "0")), NoVerdict, "not comparable: temperature is not given in the old runs and 0 in the new ones"},
		{"seeds", gating.Default(), alike(6), alike(6, seeded(0)), NoVerdict, "not comparable: seed is 0 in the old runs and different in each run in the new ones"},
		{"seeds, and one run", gated(median), alike(6, seeded(0)), alike(1), NoVerdict, "too few server starts: 6 old and 1 new"},
		{"a seed for each side", gating.Default(), alike(6), alike(6, asks(asked.Seed, "7")), Pass, ""},
		{"a ramp", gating.Default(), alike(6, asks("request-rate", "20")), alike(6, asks("request-rate", "inf"), asks("ramp-up-strategy", "linear from 1 to 20")), NoVerdict,
			"not comparable: ramp-up-strategy is not given in the old runs and linear from 1 to 20 in the new ones"},
		{"cut short", gating.Default(), alike(6), alike(6, cut, times("median_ttft", 2)), NoVerdict, "new run 2: it was cut short"},
		{"suspect", gating.Default(), alike(6), alike(6, doubtful, times("median_ttft", 2)), NoVerdict, "new run 2: SUSPECT: it lagged"},
		{"cut short, though suspect ones may be", despite, alike(6), alike(6, cut), NoVerdict, "new run 2: it was cut short"},
		{"held back by the same limit", gating.Default(), alike(6, held("50")), alike(6, held("50")), Pass, ""},
		{"held back by the same limit on one side", gating.Default(), alike(6, asks("max-concurrency", "50")), alike(6, held("50"), times("median_tpot", 2)), Regressed, "median_tpot +100.0 %"},
		{"held back by the same limit, and late", gating.Default(), alike(6, held("50")), alike(6, held("50"), doubtful), NoVerdict, "new run 2: SUSPECT: it lagged"},
		{"held back by different limits", gating.Default(), alike(6, held("50")), alike(6, held("8")), NoVerdict, "not comparable: max-concurrency is 50 in the old runs and 8 in the new ones"},
		{"nothing completed in a run that was cut", gating.Default(), alike(6), alike(6, stopped(0)), NoVerdict, "all 6 new runs: run r was cut"},
		{"all failed in a run that was cut", gating.Default(), alike(6, stopped(3)), alike(6, stopped(3)), NoVerdict, "all 6 old runs: run r was cut"},
		{"below 0", gating.Default(), alike(6), alike(6, times("median_ttft", -1)), NoVerdict, "all 6 new runs: median_ttft is below 0"},
		{"no time to the first token", gating.Default(), alike(6), alike(6, times("median_ttft", 0)), NoVerdict, "all 6 new runs: median_ttft is 0"},
		{"tokens together", gating.Default(), alike(6), alike(6, times("median_tpot", 0)), Pass, ""},
		{"over the ceiling, though cut short", ceiling, alike(6, tail(100)), alike(6, tail(201), cut), NoVerdict, "new run 2: it was cut short"},
		{"gated and unknown", gating.Default(), alike(6), alike(6, func(i int, r *brief.Run) { delete(r.Numbers, "median_tpot") }), NoVerdict, "some runs do not have median_tpot"},
		{"over the ceiling", ceiling, alike(1, tail(100)), alike(1, tail(201)), Regressed, "p99_ttft is 201.00 ms, above its ceiling of 200"},
		{"under the floor", floor, alike(6), alike(1, times("output_throughput", 0.4)), Regressed, "output_throughput is 800.00 tok/s, below its floor of 1000"},
		{"over the ceiling, in doubt", ceiling, alike(6, tail(100)), alike(6, tail(201), doubtful), NoVerdict, "new run 2: SUSPECT: it lagged"},
		{"over the ceiling, of few values", ceiling, alike(6), alike(6, tail(201), beyond(999)), NoVerdict, "p99_ttft: a run has only 9 samples above it, and a gate needs 10: run at least 1000 requests"},
		{"under the ceiling, of few values", ceiling, alike(6), alike(6, tail(100), beyond(60)), NoVerdict, "p99_ttft: a run has fewer than 1 sample above it"},
		{"under the ceiling, of enough", ceiling, alike(6, tail(100), beyond(60)), alike(6, tail(100), beyond(1000)), Pass, ""},
		{"margin of a tail of few values", gatedTail, alike(6, tail(100), beyond(60)), alike(6, tail(200), beyond(1000)), NoVerdict, "p99_ttft: a run has fewer than 1 sample"},
		{"margin of a tail", gatedTail, alike(6, tail(100), beyond(1000)), alike(6, tail(200), beyond(1000)), Regressed, "p99_ttft +100.0 %, by at least 100.0 % (100.00 → 200.00 ms"},
		{"margin of a tail of few values, though suspect ones may be", trusting, alike(6, tail(100), beyond(60)), alike(6, tail(200), beyond(60)), Regressed, "p99_ttft +100.0 %, by at least 100.0 % (100.00 → 200.00 ms"},
		{"margin of a tail of few requests", gatedTail, alike(6, tail(100), unsaid(1000)), alike(6, tail(100), unsaid(20)), NoVerdict, "p99_ttft: a run has fewer than 1 sample above it, and a gate needs 10: run at least 1000 requests, or gate a lower percentile"},
		{"margin of a tail of enough requests", gatedTail, alike(6, tail(100), unsaid(1000)), alike(6, tail(100), unsaid(1000)), Pass, ""},
		{"margin of a tail of enough gaps", gated(tailITL), alike(6, unsaid(53)), alike(6, unsaid(53)), Pass, ""},
		{"margin of a tail of few gaps", gated(tailITL), alike(6, unsaid(52)), alike(6, unsaid(52)), NoVerdict, "p99_itl: a run has only 9 samples above it"},
		{"margin of a tail of unknown gaps", gated(tailITL), alike(6, unsaid(90)), alike(6, unsaid(90), func(_ int, r *brief.Run) { r.Output = -1 }), NoVerdict, "p99_itl: a run does not say how many samples it has: run at least 1000 requests, or gate a lower percentile"},
		{"a median of few requests", gated(median), alike(6, unsaid(19)), alike(6, unsaid(20)), NoVerdict, "median_ttft: a run has only 9 samples above it, and a gate needs 10: run at least 20 requests"},
		{"a median of enough requests", gated(median), alike(6, unsaid(20)), alike(6, unsaid(20)), Pass, ""},
		{"a low percentile of few requests", gated(p10), alike(6, unsaid(99)), alike(6, unsaid(99)), NoVerdict, "p10_ttft: a run has only 9 samples below it, and a gate needs 10: run at least 100 requests, or gate a higher percentile"},
		{"a low percentile of enough requests", gated(p10), alike(6, unsaid(100)), alike(6, unsaid(100)), Pass, ""},
		{"the largest value, which is exact", gated(highest), alike(6, unsaid(20)), alike(6, unsaid(20)), Pass, ""},
		{"from 0 by more than the amount", amount, alike(10, all(0)), alike(10, all(500)), Regressed, "median_itl went from 0.00 to 500.00 ms (margin 2 ms; p"},
		{"from 0 by less than the amount", amount, alike(10, all(0)), alike(10, all(1)), Pass, ""},
		{"from 0 by nothing", amount, alike(10, all(0)), alike(10, all(0)), Pass, ""},
		{"from 0 perhaps by more than the amount", amount, alike(10, all(0)), alike(10, gaps(func(i int) float64 { return float64(1 + i/7*8) })), NoVerdict, "median_itl: too noisy to rule out a change of 4 ms: it may be as much as 9.00 ms: take more server starts, or a quieter machine"},
		{"by more than the amount", amount, alike(10, all(10)), alike(10, all(13)), Regressed, "median_itl +30.0 %, by at least 30.0 % (10.00 → 13.00 ms"},
		{"by less than the amount", amount, alike(10, all(10)), alike(10, all(11.9)), Pass, ""},
		{"ceiling of what is unknown", ceiling, alike(6), alike(6), NoVerdict, "some new runs do not have p99_ttft"},
		{"under the ceiling", ceiling, alike(6, tail(100)), alike(6, tail(199)), Pass, ""},
		{"all over the place, but not above", gating.Default(), alike(6), alike(6, func(i int, r *brief.Run) { r.Numbers["median_ttft"] *= min(1, 0.5+0.17*float64(i)) }), Pass, ""},
		{"seeds in step", gating.Default(), alike(6, seeded(0)), alike(6, seeded(0)), Pass, ""},
		{"all over the place", gating.Default(), alike(6), alike(6, func(i int, r *brief.Run) { r.Numbers["median_ttft"] *= 0.7 + 0.15*float64(i) }), NoVerdict, "median_ttft: too noisy: the change of +7.2 % may be chance, or be as much as +"},
		{"zeros among the old numbers", gating.Default(), alike(6, func(i int, r *brief.Run) { r.Numbers["median_tpot"] *= float64(min(i/2, 1)) }), alike(6), NoVerdict, "median_tpot: too noisy to rule out a change of 10 %: it may be as much as +"},
		{"wider than the margin allows", gating.Default(), alike(6), alike(6, func(i int, r *brief.Run) { r.Numbers["median_ttft"] *= 0.82 + 0.08*float64(i) }), NoVerdict, "median_ttft: too noisy to rule out a change of 10 %: it may be as much as +"},
		{"a tenth worse, and not told from chance", gating.Default(), alike(6), alike(6, func(i int, r *brief.Run) { r.Numbers["median_ttft"] *= 0.99 + 0.04*float64(i) }), NoVerdict, "median_ttft: too noisy: the change of +"},
	} {
		got := Compare(test.old, test.new, test.gate)
		reason := ""
		if len(got.Reasons) > 0 {
			reason = got.Reasons[0]
		}
		if got.Verdict != test.want || !strings.HasPrefix(reason, test.reason) || (test.want == Pass) != (reason == "") {
			t.Errorf("%s: %s %q, want %s %q", test.name, got.Verdict, got.Reasons, test.want, test.reason)
		}
	}
}

// A damaged file may have any number. Nobody reads 309 digits.
func TestAbsurdNumbersAreReadable(t *testing.T) {
	absurd := func(_ int, r *brief.Run) {
		r.Numbers["median_ttft"], r.Numbers["median_tpot"], r.Numbers["output_throughput"] = 1e308, math.MaxFloat64, 1e300
		r.Input, r.Output = math.MaxInt, math.MaxInt/2
	}
	for name, new := range map[string][]*brief.Run{
		"huge": alike(6, after(6), absurd), "no request": alike(6, after(6), absurd, func(_ int, r *brief.Run) { r.Completed = 0 }),
	} {
		c := Compare(alike(6), new, gating.Default())
		texts := append(slices.Concat(c.Reasons, c.Notes), c.Excluded())
		for _, r := range c.Points[0].Rows {
			texts = append(texts, r.Number.Text(r.Effect.From), r.Number.Text(r.Effect.To), Percent(r.Effect.Share), r.Effect.Interval(Percent))
		}
		for _, text := range texts {
			if len(text) > 300 || strings.Contains(text, "Inf") || strings.Contains(text, "NaN") || strings.Contains(text, "00000000") {
				t.Errorf("%s: %.400s", name, text)
			}
		}
		if all := strings.Join(texts, "\n"); name == "huge" && !strings.Contains(all, "40.40 → 1.00e+308 ms") {
			t.Errorf("%s", all)
		}
	}
}

func TestPercentages(t *testing.T) {
	for share, want := range map[float64]string{
		0: "+0.0 %", -1e-9: "+0.0 %", 0.1234: "+12.3 %", -0.1234: "−12.3 %", 25: "+2500.0 %", 1e8: "+1.00e+10 %", 1e308: "+1.80e+308 %", math.Inf(1): "?", math.NaN(): "?",
	} {
		if got := Percent(share); got != want {
			t.Errorf("%v: %s, want %s", share, got, want)
		}
	}
}
