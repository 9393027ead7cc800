package sweep

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
)

func TestLoadIsExpectedToTakeItsTime(t *testing.T) {
	upDown, err := arrivals.ParseCurve("up-down:0,20,1")
	if err != nil {
		t.Fatal(err)
	}
	eight := 8
	for _, row := range []struct {
		prompts int
		traffic loadgen.Traffic
		want    time.Duration
	}{
		{1000, loadgen.Traffic{Curve: upDown}, 41 * time.Second},
		{1000, loadgen.Traffic{Curve: upDown, Duration: time.Minute}, 61 * time.Second},
		{1000, loadgen.Traffic{Duration: 30 * time.Second, MaxConcurrency: &eight, WarmUp: 10 * time.Second}, 41 * time.Second},
		{1000, loadgen.Traffic{Duration: 30 * time.Second, RequestRate: 1000}, 31 * time.Second},
		{10, loadgen.Traffic{Duration: 30 * time.Second, RequestRate: 1, Counted: true}, 11 * time.Second},
		{100, loadgen.Traffic{Duration: 30 * time.Second, RequestRate: 1, Counted: true, WarmUp: time.Second / 2}, 31500 * time.Millisecond},
	} {
		// An answer takes a second.
		p := &loadgen.Plan{Workload: loadgen.Workload{Dataset: "random", NumPrompts: row.prompts, Random: dataset.Random{InputLen: 1, OutputLen: 50}}, Traffic: row.traffic}
		if p.Traffic.RequestRate == 0 {
			p.Traffic.RequestRate = math.Inf(1)
		}
		if got := lasting(p).Round(time.Second / 2); got != row.want {
			t.Errorf("%d prompts, %+v: %v, want %v", row.prompts, row.traffic, got, row.want)
		}
	}
}

// A target alone takes its time, and all together take that of the slowest.
func TestTimeOfSeveralTargets(t *testing.T) {
	at := func(rate float64, delay time.Duration) *loadgen.Plan {
		return &loadgen.Plan{Workload: loadgen.Workload{NumPrompts: 100}, Traffic: loadgen.Traffic{RequestRate: rate, Delay: delay}}
	}
	quick, slow := at(10, 0), at(5, 7*time.Second)
	if lasting(slow) < lasting(quick)+17*time.Second {
		t.Errorf("%v and %v", lasting(quick), lasting(slow))
	}
	both := &Load{Plan: &loadgen.Plan{Targets: []*loadgen.Plan{quick, slow}}}
	if got := both.time(); got != lasting(slow) {
		t.Errorf("together %v, want %v", got, lasting(slow))
	}
	both.Plan.SoloFirst = true
	if got, want := both.time(), lasting(quick)+2*lasting(slow); got != want {
		t.Errorf("alone and together %v, want %v", got, want)
	}
}

// A search is priced by the most that its probes may cost: each as long as a run at its
// own value, three at either side of the edge, wherever that takes longest.
func TestTimeOfSearch(t *testing.T) {
	slower := func(args, varied []string) (*Load, error) {
		load, err := anyLoad(args, varied)
		rate, _ := strconv.ParseFloat(strings.TrimPrefix(args[len(args)-1], "--request-rate="), 64)
		load.Plan.Limits.Deadline = time.Duration(100/rate) * time.Second
		return load, err
	}
	p, err := Parse("plan.yaml", strings.NewReader("between: {pause: 5}\nuntil: {flag: request-rate, from: 1, to: 3, slo: {mean-ttft: 1}}"), &Flags{Words: anyFlag, Load: slower})
	if err != nil {
		t.Fatal(err)
	}
	// 1 passes, in 100 s, and 2 fails, in 50 s: three probes each.
	if got, want := (estimate{p}).cell(cell{}), 3*(100*time.Second+50*time.Second)+6*5*time.Second; got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if n := (estimate{p}).runs(); n != 6 {
		t.Errorf("%d probes", n)
	}
}

func TestWhatASearchFound(t *testing.T) {
	s := &Search{Flag: "request-rate", From: 1, To: 8, Step: 2}
	none := math.NaN()
	for _, row := range []struct {
		found edge
		want  string
	}{
		{edge{passes: 5, fails: 7, passesBy: votes{passed: 2, of: 3}, failsBy: votes{passed: 0, of: 3}, why: "it is slow"},
			"request-rate 5 passes (2 of 3 probes) and 7 fails (0 of 3 probes): it is slow"},
		{edge{passes: 7, fails: none, passesBy: votes{passed: 1, of: 1}},
			"every request-rate up to 7 passes (1 of 1 probe there), and none above was tried"},
		{edge{passes: 5, fails: 7, passesBy: votes{passed: 2, of: 2}, failsBy: votes{doubted: 1, of: 2}, why: "SUSPECT: it lagged"},
			"NO VERDICT: request-rate 5 passes (2 of 2 probes), and whether 7 does is not known (0 of 2 probes, 1 in doubt): SUSPECT: it lagged"},
		{edge{passes: 5, fails: 7, passesBy: votes{passed: 4, of: 4}, failsBy: votes{passed: 1, doubted: 1, of: 4}, why: "SUSPECT: it lagged"},
			"NO VERDICT: request-rate 5 passes (4 of 4 probes), and whether 7 does is not known (1 of 4 probes, 1 in doubt): SUSPECT: it lagged"},
		{edge{passes: 5, fails: 7, passesBy: votes{passed: 4, of: 4}, failsBy: votes{doubted: 1, of: 4}, why: "it is slow"},
			"request-rate 5 passes (4 of 4 probes) and 7 fails (0 of 4 probes, 1 in doubt): it is slow"},
		{edge{passes: none, fails: 1, failsBy: votes{passed: 1, of: 3}, why: "it is slow"},
			"no request-rate from 1 on passes (1 of 3 probes there): it is slow"},
		// Probes in doubt leave open what they might have decided, and nothing else.
		{edge{passes: 5, fails: 7, passesBy: votes{passed: 3, of: 3}, failsBy: votes{doubted: 2, of: 3}, why: "SUSPECT: it lagged"},
			"NO VERDICT: request-rate 5 passes (3 of 3 probes), and whether 7 does is not known (0 of 3 probes, 2 in doubt): SUSPECT: it lagged"},
		{edge{passes: 5, fails: 7, passesBy: votes{passed: 2, doubted: 1, of: 3}, failsBy: votes{doubted: 1, of: 3}, why: "it is slow"},
			"request-rate 5 passes (2 of 3 probes, 1 in doubt) and 7 fails (0 of 3 probes, 1 in doubt): it is slow"},
		{edge{passes: none, fails: 1, failsBy: votes{passed: 1, doubted: 1, of: 3}, why: "SUSPECT: it lagged"},
			"NO VERDICT: whether request-rate 1 passes is not known (1 of 3 probes, 1 in doubt): SUSPECT: it lagged"},
	} {
		if got := s.say(row.found); got != row.want {
			t.Errorf("%s, want %s", got, row.want)
		}
	}
}

// A plan says how many repeats are missing, not how many there must be.
func TestRepeatsThatAreMissing(t *testing.T) {
	p := parse(t, "repeats: 2\narms: [{name: a}, {name: b}]\nload: {num-prompts: 100, request-rate: 10}")
	if few := p.TooFew(); !strings.Contains(few, "servebench compare needs 3; 1 more takes about "+Roughly((estimate{p}).repeat())+", also later") {
		t.Errorf("%q, and a repeat takes %v", few, estimate{p}.repeat())
	}
}

// Runs that fail at once do not let the rest look short.
func TestTimeLeftWithFailures(t *testing.T) {
	p := parse(t, "repeats: 4\nload: {num-prompts: 100, request-rate: 10}")
	past := newHistory(p, entry{Cell: "server/1/1", Failed: "x", Seconds: 0.1})
	if left, known := past.left(); known {
		t.Errorf("%v are left, by a run that failed", left)
	}
	past.add(entry{Cell: "server/1/2", Seconds: 30})
	if left, _ := past.left(); left.Round(time.Second) != time.Minute {
		t.Errorf("%v are left of two runs of 30 s", left)
	}
}

// What decides a search is said beside what vLLM calls TTFT, where that is something else.
func TestALineOfASweepSaysWhichTTFTDecides(t *testing.T) {
	for empty, want := range map[bool]string{
		false: "  2 of 2 requests, 1.00 req/s, mean TTFT 100.00 ms, mean TPOT 10.00 ms\n",
		true:  "  2 of 2 requests, 1.00 req/s, mean TTFT 3.00 ms, mean TPOT 107.00 ms, mean TTFT to the first content 100.00 ms\n",
	} {
		c := aspect.Collector(&metrics.Header{})
		for i := range 2 {
			r := &record.Record{Index: i, Tokens: record.Tokens{In: 9, Out: 2}, Times: record.Times{FirstContent: 100 * time.Millisecond}}
			if empty {
				r.Answer.Chunks.Append(3 * time.Millisecond)
			}
			r.Answer.Chunks.Append(r.Times.FirstContent)
			r.Answer.Chunks.Append(110 * time.Millisecond)
			r.Times.Last, r.Times.End = r.Answer.Chunks.Last(), r.Answer.Chunks.Last()
			c.Add(r)
		}
		if said := "  " + told(c.Summary(2)) + "\n"; said != want {
			t.Errorf("%q, want %q", said, want)
		}
	}
}
