package power

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

// inPairs are runs in pairs whose TTFTs differ by these logarithms.
func inPairs(differences ...float64) (old, new []*brief.Run) {
	for i, d := range differences {
		for side, ttft := range []float64{40, 40 * math.Exp(d)} {
			at := int64(60 * (2*i + side))
			r := &brief.Run{
				Asked: map[string]string{"model": "m", "client": "1", "seed": strconv.Itoa(i + 1)}, Repeat: i + 1,
				Start: strconv.Itoa(2*i + side), Began: time.Unix(at, 0), Ended: time.Unix(at+50, 0),
				Numbers: map[string]float64{"median_ttft": ttft}, Completed: 100, Output: 100, Values: map[string]int{"ttft": 100},
			}
			if side == 0 {
				old = append(old, r)
			} else {
				new = append(new, r)
			}
		}
	}
	return old, new
}

// ttftGate gates the median TTFT alone.
func ttftGate() (gate gating.Gate) {
	m, _ := numbers.Find("median_ttft")
	gate.Limits = []gating.Margin{{Number: m, Relative: 0.05}}
	return gate
}

func TestPlanOfRuns(t *testing.T) {
	differences := []float64{0.04, -0.05, -0.04, 0.05, 0.05, -0.05}
	old, new := inPairs(differences...)
	p, err := Of(old, new, ttftGate(), 20)
	if err != nil || len(p.Noise) != 1 || math.Abs(p.Noise[0].Share-0.0526) > 1e-3 || p.Each != 118333333333*time.Nanosecond {
		t.Fatalf("%v %+v", err, p)
	}
	told, err := For("3.691%", ttftGate(), 20) // over √2
	if err != nil || told.Fixed != p.Fixed || math.Abs(told.Worse.Mean-p.Worse.Mean) > 0.3 {
		t.Errorf("%v %+v, but of runs %+v", err, told, p)
	}
	if p.Fixed < 4 || p.Fixed > 7 || p.Alike.Right < 0.9 {
		t.Errorf("%+v", p)
	}
	// Runs of one side take turns with each other.
	alone, err := Of(slices.Concat(new), nil, ttftGate(), 20)
	if err != nil || alone.Noise[0].Share < p.Noise[0].Share {
		t.Errorf("%v %+v", err, alone)
	}
	if _, err := Of(new[:2], nil, ttftGate(), 20); err == nil || !strings.HasPrefix(err.Error(), "too few server starts") {
		t.Error(err)
	}
	// So are runs on one start of a server, unless each counts for itself.
	one, _ := inPairs(differences...)
	for _, r := range one {
		r.Start = "a"
	}
	if _, err := Of(one, nil, ttftGate(), 20); err == nil || !strings.HasPrefix(err.Error(), "too few server starts") {
		t.Error(err)
	}
	gate := ttftGate()
	gate.Unit = gating.PerRun
	if _, err := Of(one, nil, gate, 20); err != nil {
		t.Error(err)
	}
	if _, err := Of(one[:1], nil, gate, 20); err == nil || !strings.HasPrefix(err.Error(), "too few runs") {
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
	shared, err := Of(old, new, gate, 20)
	if err != nil || shared.Describe(&without) != nil || !strings.Contains(without.String(), "\nmedian_tpot: it is 0 in a run, so it is not in this plan\n\nright ") {
		t.Errorf("%v\n%s", err, without.String())
	}
	// It still has its share of alpha.
	if shared.Worse.Mean <= p.Worse.Mean {
		t.Errorf("%+v, and %+v with another gated number", p, shared)
	}
	if _, err := For("3", ttftGate(), 20); err == nil {
		t.Error("3 is no share")
	}
	if _, err := For("3%", gating.Gate{}, 20); err == nil {
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
