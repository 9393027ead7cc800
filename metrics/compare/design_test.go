package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/compare/asked"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
)

// arranged are runs whose letters say the side, A is old, and whose order is the order of time. Each
// has the start that starts names for it, or its own.
func arranged(order string, starts ...string) (old, new []*brief.Run) {
	repeat := map[rune]int{}
	for i, letter := range order {
		repeat[letter]++
		r := &brief.Run{
			Asked: map[string]string{"model": "m", asked.Client: "1", asked.Seed: strconv.Itoa(repeat[letter])}, Repeat: repeat[letter], Start: fmt.Sprint(i),
			Began: time.Unix(60*int64(i), 0), Ended: time.Unix(60*int64(i)+50, 0), Numbers: map[string]float64{"median_ttft": 40 + float64(i)},
		}
		if starts != nil {
			r.Start = starts[i]
		}
		if letter == 'A' {
			old = append(old, r)
		} else {
			new = append(new, r)
		}
	}
	return old, new
}

func TestDesignsAreFound(t *testing.T) {
	const unlabelled, overlapping, timeless = 1, 2, 3
	for _, test := range []struct {
		order    string
		starts   []string
		change   int
		want     Design
		old, new int
	}{
		{"ABBAAB", nil, 0, InPairs, 3, 3},
		{"ABBAABB", nil, 0, InPairs, 3, 3},
		{"AABB", nil, 0, OneAfterOther, 2, 2},
		{"BBBAAA", nil, 0, OneAfterOther, 3, 3},
		{"ABBAAB", nil, unlabelled, InTurns, 3, 3},
		{"ABBAAB", nil, overlapping, InTurns, 3, 3},
		{"ABBAAB", nil, timeless, OneAfterOther, 3, 3},
		{"AAAABABBBB", nil, unlabelled, OneAfterOther, 5, 5},
		{"ABBAAB", []string{"a", "b", "b", "a", "c", "d"}, 0, InPairs, 2, 2},
		{"ABBAAB", []string{"a", "b", "c", "a", "a", "d"}, 0, InPairs, 1, 1},
		{"ABBAAB", []string{"", "", "", "", "", ""}, 0, InPairs, 1, 1},
		{"AABB", []string{"a", "a", "b", "b"}, 0, OneAfterOther, 1, 1},
		{"AABBAABB", nil, unlabelled, InTurns, 4, 4},
		{"AAABBBAAABBB", nil, unlabelled, OneAfterOther, 6, 6},
		{"AABBBBAA", nil, unlabelled, OneAfterOther, 4, 4},
	} {
		old, new := arranged(test.order, test.starts...)
		for _, r := range slices.Concat(old, new) {
			switch test.change {
			case unlabelled:
				r.Repeat, r.Asked[asked.Seed] = 0, "0"
			case overlapping:
				r.Ended = r.Ended.Add(time.Hour)
				r.Asked[asked.Seed] = "0"
				r.Repeat = min(r.Repeat, 2)
			case timeless:
				r.Began, r.Ended = time.Time{}, time.Time{}
			}
		}
		p := Point{Sides: Sides{old, new}}
		p.arrange(&gating.Gate{})
		if a, b := p.Units(); p.Design != test.want || a != test.old || b != test.new {
			t.Errorf("%s %q %d: %s with %d and %d units, want %s with %d and %d", test.order, test.starts, test.change, p.Design, a, b, test.want, test.old, test.new)
		}
	}
}

// A design never depends on numbers, and each run is a unit if the gate says so.
func TestUnitsAreRunsOnDemand(t *testing.T) {
	old, new := arranged("ABBAAB", "a", "b", "b", "a", "a", "b")
	p := Point{Sides: Sides{old, new}}
	p.arrange(&gating.Gate{Unit: gating.PerRun})
	if a, b := p.Units(); p.Design != InPairs || a != 3 || b != 3 {
		t.Errorf("%s with %d and %d units", p.Design, a, b)
	}
}

// Numbers that drift by less than the margin move the sides apart by less than half of it.
func TestOnlyADriftOfTheMarginIsADoubt(t *testing.T) {
	for share, want := range map[float64]Verdict{0: Pass, 0.03: Pass, 0.10: NoVerdict} {
		drifting := func(first int) func(int, *brief.Run) {
			return func(i int, r *brief.Run) {
				r.Began = r.Began.Add(time.Duration(first) * time.Minute)
				r.Ended = r.Ended.Add(time.Duration(first) * time.Minute)
				r.Numbers["median_ttft"] = 40 * math.Exp(share*float64(first+i)/11+0.002*float64((first+i)%2))
			}
		}
		c := Compare(alike(6, drifting(0)), alike(6, drifting(6)), gating.Default())
		if doubt := strings.Contains(strings.Join(c.Reasons, "\n"), "median_ttft drifts"); c.Verdict != want || doubt != (want == NoVerdict) {
			t.Errorf("a drift of %v: %s %q, want %s", share, c.Verdict, c.Reasons, want)
		}
	}
}

// In long stretches of each side, a drift by 25 % made every comparison of an unchanged server a
// regression, since a quarter of it lay between the sides.
func TestStretchesAreNotTurns(t *testing.T) {
	old, new := arranged(strings.Repeat(strings.Repeat("A", 10)+strings.Repeat("B", 10), 2))
	all := slices.Concat(old, new)
	for i, r := range alike(len(all)) {
		r.Start, r.Began, r.Ended = all[i].Start, all[i].Began, all[i].Ended
		r.Numbers["median_ttft"] = 40 * math.Exp(0.25*r.Began.Sub(time.Unix(0, 0)).Minutes()/40)
		*all[i] = *r
	}
	if c := Compare(old, new, gating.Default()); c.Verdict != NoVerdict {
		t.Errorf("%s %q", c.Verdict, c.Reasons)
	}
}

// The columns of a row and its change are one statistic, in each design: the new column is the old one
// with the change. They are geometric means except where sides take turns, and From lies among the old numbers.
func TestColumnsAgreeWithTheChange(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := 1 + random.IntN(6)
		var old, new []*brief.Run
		scale := math.Exp(6 * random.NormFloat64())
		one := func(i, second int, name string) *brief.Run {
			value := scale * math.Exp(random.NormFloat64())
			if random.IntN(20) == 0 {
				value = 0
			}
			return &brief.Run{ID: fmt.Sprint(name, i), Start: fmt.Sprint(name, i), Repeat: i + 1, Began: time.Unix(int64(1000*i+second), 0), Ended: time.Unix(int64(1000*i+second+100), 0),
				Numbers: map[string]float64{"median_ttft": value, "output_throughput": value}, Completed: 1}
		}
		apart := 200 + 1e6*random.IntN(2) // in pairs, or one side after the other
		for i := range n {
			old, new = append(old, one(i, 0, "old")), append(new, one(i, apart, "new"))
		}
		if random.IntN(3) == 0 {
			for _, r := range append(old, new...) {
				r.Repeat = 0
			}
		}
		c := Compare(old, new, gating.Default())
		for _, r := range c.Points[0].Rows {
			share := r.Effect.To/r.Effect.From - 1
			if r.Effect.From == 0 {
				share = math.Inf(1)
				if r.Effect.To == 0 {
					share = 0
				}
			}
			if math.Abs(share-r.Effect.Share) > 1e-9*(1+math.Abs(r.Effect.Share)) && share != r.Effect.Share {
				t.Errorf("%s: %s %v to %v is %v, and the change is %v", c.Points[0].Design, r.Number.Name, r.Effect.From, r.Effect.To, share, r.Effect.Share)
			}
			from, to := r.geometric(old), r.geometric(new)
			if c.Points[0].Design != InTurns && from*to > 0 && max(math.Abs(r.Effect.From/from-1), math.Abs(r.Effect.To/to-1)) > 1e-9 {
				t.Errorf("%s: %s %v to %v, and the geometric means are %v and %v", c.Points[0].Design, r.Number.Name, r.Effect.From, r.Effect.To, from, to)
			}
			if low, high := r.extremes(old); r.Effect.From < low*(1-1e-9) || r.Effect.From > high*(1+1e-9) {
				t.Errorf("%s: %s %v is not among the old numbers, from %v to %v", c.Points[0].Design, r.Number.Name, r.Effect.From, low, high)
			}
		}
	}
}

// geometric is the geometric mean of the numbers of runs, 0 if one is 0.
func (r *Row) geometric(runs []*brief.Run) float64 {
	sum := 0.0
	for _, run := range runs {
		sum += math.Log(run.Numbers[r.Number.Name])
	}
	return math.Exp(sum / float64(len(runs)))
}

// extremes are the least and the largest number of the runs.
func (r *Row) extremes(runs []*brief.Run) (low, high float64) {
	var values []float64
	for _, run := range runs {
		values = append(values, run.Numbers[r.Number.Name])
	}
	return slices.Min(values), slices.Max(values)
}
