package compare

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/compare/numbers"
)

// inPairs are runs in pairs whose TTFTs differ by these logarithms, of a sequential sweep of so many
// pairs; 0 for another sweep.
func inPairs(most int, differences ...float64) (old, new []*brief.Run) {
	old, new = arranged(strings.Repeat("AB", len(differences)))
	for i, d := range differences {
		for _, r := range []*brief.Run{old[i], new[i]} {
			r.MaxPairs, r.Completed, r.Output, r.Values = most, 100, 100, map[string]int{"ttft": 100}
		}
		old[i].Numbers["median_ttft"], new[i].Numbers["median_ttft"] = 40, 40*math.Exp(d)
	}
	return old, new
}

// ttftGate gates the median TTFT alone.
func ttftGate() (gate gating.Gate) {
	m, _ := numbers.Find("median_ttft")
	gate.Limits = []gating.Margin{{Number: m, Relative: 0.05}}
	return gate
}

// Whoever stops when the numbers suggest it, has to be surer.
func TestSequentialSweepTakesSurerPairs(t *testing.T) {
	for _, test := range []struct {
		name        string
		differences []float64
		fixed, most Verdict
	}{
		{"worse", []float64{0.05, 0.14, 0.06, 0.13}, Regressed, NoVerdict},
		{"clearly worse", []float64{0.11, 0.12, 0.11, 0.12}, Regressed, Regressed},
		{"alike", []float64{0.03, -0.04, 0.05, -0.05}, Pass, NoVerdict},
		{"clearly alike", []float64{0.01, -0.01, 0.005, 0.01}, Pass, Pass},
	} {
		for most, want := range map[int]Verdict{0: test.fixed, 20: test.most} {
			old, new := inPairs(most, test.differences...)
			c := Compare(old, new, ttftGate())
			if c.Verdict != want || !c.Judged {
				t.Errorf("%s, at most %d pairs: %s, want %s: %q", test.name, most, c.Verdict, want, c.Reasons)
			}
			if sequential := strings.Contains(c.Points[0].Arranged(), "of at most 20"); sequential != (most > 0) {
				t.Errorf("at most %d pairs: %s", most, c.Points[0].Arranged())
			}
		}
	}
}

// More pairs than the most are judged at the level of the last look.
func TestPairsBeyondTheMostHaveTheLastLevel(t *testing.T) {
	old, new := inPairs(3, 0.11, 0.12, 0.11, 0.12)
	last, _ := inPairs(3, 0.11, 0.12, 0.11)
	want := Compare(last, new[:3], ttftGate()).Points[0].levels
	if got := Compare(old, new, ttftGate()).Points[0].levels; got != want || got.worse == 0 {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestForecastOfRuns(t *testing.T) {
	of := func(most int, differences ...float64) *Comparison {
		old, new := inPairs(most, differences...)
		return Compare(old, new, ttftGate())
	}
	if f := of(0, 0.03, -0.04, 0.05, -0.05).Forecast(); f != nil {
		t.Errorf("no sequential sweep: %v", f)
	}
	near := of(20, 0.03, -0.04, 0.05, -0.05).Forecast()
	if len(near) != 16 || near.Needed() == 0 || near.Needed() > 8 {
		t.Errorf("nearly decided: %v", near)
	}
	far := of(6, 0.5, -0.6, 0.6, -0.4).Forecast()
	if len(far) != 2 || far.By(2) > 0.1 {
		t.Errorf("far from a decision: %v", far)
	}
}

func TestPlanOfRuns(t *testing.T) {
	differences := []float64{0.04, -0.05, -0.04, 0.05, 0.05, -0.05}
	old, new := inPairs(0, differences...)
	p, err := PowerOf(old, new, ttftGate(), 20)
	if err != nil || len(p.Noise) != 1 || math.Abs(p.Noise[0].Share-0.0526) > 1e-3 || p.Each != 118333333333*time.Nanosecond {
		t.Fatalf("%v %+v", err, p)
	}
	told, err := PowerFor("3.691%", ttftGate(), 20) // over √2
	if err != nil || told.Fixed != p.Fixed || math.Abs(told.Worse.Mean-p.Worse.Mean) > 0.3 {
		t.Errorf("%v %+v, but of runs %+v", err, told, p)
	}
	if p.Fixed < 4 || p.Fixed > 7 || p.Alike.Right < 0.9 {
		t.Errorf("%+v", p)
	}
	// Runs of one side take turns with each other.
	alone, err := PowerOf(slices.Concat(new), nil, ttftGate(), 20)
	if err != nil || alone.Noise[0].Share < p.Noise[0].Share {
		t.Errorf("%v %+v", err, alone)
	}
	if _, err := PowerOf(new[:2], nil, ttftGate(), 20); err == nil || !strings.HasPrefix(err.Error(), "too few server starts") {
		t.Error(err)
	}
	// So are runs on one start of a server, unless each counts for itself.
	one, _ := inPairs(0, differences...)
	for _, r := range one {
		r.Start = "a"
	}
	if _, err := PowerOf(one, nil, ttftGate(), 20); err == nil || !strings.HasPrefix(err.Error(), "too few server starts") {
		t.Error(err)
	}
	gate := ttftGate()
	gate.Unit = gating.PerRun
	if _, err := PowerOf(one, nil, gate, 20); err != nil {
		t.Error(err)
	}
	if _, err := PowerOf(one[:1], nil, gate, 20); err == nil || !strings.HasPrefix(err.Error(), "too few runs") {
		t.Error(err)
	}
	// A number that is 0 in a run cannot be planned for, and that is said.
	gate = ttftGate()
	tpot, _ := numbers.Find("median_tpot")
	gate.Limits = append(gate.Limits, gating.Margin{Number: tpot, Relative: 0.05})
	for i, r := range slices.Concat(old, new) {
		r.Values["tpot"], r.Numbers["median_tpot"] = 100, float64(i)
	}
	var without strings.Builder
	shared, err := PowerOf(old, new, gate, 20)
	if err != nil || shared.Describe(&without) != nil || !strings.Contains(without.String(), "\nmedian_tpot: it is 0 in a run, so it is not in this plan\n\nright ") {
		t.Errorf("%v\n%s", err, without.String())
	}
	// It still has its share of alpha.
	if shared.Worse.Mean <= p.Worse.Mean {
		t.Errorf("%+v, and %+v with another gated number", p, shared)
	}
	if _, err := PowerFor("3", ttftGate(), 20); err == nil {
		t.Error("3 is no share")
	}
	if _, err := PowerFor("3%", gating.Gate{}, 20); err == nil {
		t.Error("nothing is gated")
	}
	var text strings.Builder
	if err := p.Describe(&text); err != nil || !strings.Contains(text.String(), "median_ttft: pairs differ by 5.3 %, and a change of 10 % counts\n") || !strings.Contains(text.String(), " min") {
		t.Errorf("%v\n%s", err, text.String())
	}
}

// A pair takes its runs and what is between them, and not other runs or a night between the runs.
func TestTimeOfAPairIsWithoutWhatIsNotOfIt(t *testing.T) {
	runs := func(began ...int) (all []*brief.Run) { // of 50 s each
		for i, at := range began {
			all = append(all, &brief.Run{Start: strconv.Itoa(i), Began: time.Unix(int64(at), 0), Ended: time.Unix(int64(at)+50, 0)})
		}
		return all
	}
	onOne := func(runs []*brief.Run, starts string) []*brief.Run {
		for i, start := range starts {
			runs[i].Start = string(start)
		}
		return runs
	}
	for name, test := range map[string]struct {
		runs []*brief.Run
		unit gating.Unit
		want int // seconds
	}{
		"in turns":                  {runs(100, 160, 220, 280), gating.PerStart, 115},
		"one arm of two, A B B A A": {runs(100, 280, 340, 520), gating.PerStart, 115},
		"two days":                  {runs(100, 160, 86400, 86460), gating.PerStart, 115},
		"two loads a start":         {onOne(runs(100, 150, 220, 270, 340, 390), "112233"), gating.PerStart, 113},
		"two processes":             {onOne(runs(100, 150, 86400, 86450), "1122"), gating.PerRun, 100},
		"two targets":               {runs(100, 100, 160, 160), gating.PerStart, 55},
		"unknown":                   {[]*brief.Run{{}}, gating.PerStart, 0},
	} {
		if got := int(eachPair(test.runs, test.unit).Seconds()); got != test.want {
			t.Errorf("%s: %d s, want %d s", name, got, test.want)
		}
	}
}
