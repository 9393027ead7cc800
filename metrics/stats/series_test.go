package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var drifting = []float64{40.1, 41.7, 39.2, 42.3, 40.9, 38.8, 44.0, 43.1, 46.2, 41.9, 45.5, 44.8}

// From scipy 1.17.1: linregress of the logarithms, and of the means of five batches, times n − 1.
func TestTrendIsScipys(t *testing.T) {
	for n, want := range map[int]Agreement[Estimate]{
		12: {{0.12285484388972381, 0.039016008453692165, 10}, {0.11114915093785316, 0.036452241166197295, 3}},
		11: {{}, {0.11364207877928456, 0.05018148905776772, 3}},
	} {
		got := Trend(logs(drifting[:n]))
		if n == 11 {
			got[0] = Estimate{}
		}
		for i := range want {
			if !near(got[i].Value, want[i].Value) || !near(got[i].Err, want[i].Err) || got[i].DF != want[i].DF {
				t.Errorf("%d values: %+v, want %+v", n, got, want)
			}
		}
	}
	if p := Trend([]float64{1, 2, 3, 4}).Above(0); p != 1 {
		t.Errorf("four values have a trend, p %v", p)
	}
}

// From numpy 1.26.4: var(ddof=1) of the means times 1 + 1/4, and what the next session varies more.
func TestNextIsPredicted(t *testing.T) {
	past := [][]float64{{1.0, 1.2}, {1.3, 1.1, 1.2}, {0.9, 1.0}, {1.4, 1.2}}
	for name, c := range map[string]struct {
		past [][]float64
		next []float64
		want Estimate
	}{
		"varies more":    {past, []float64{1.5, 1.9}, Estimate{0.5625, 0.24780284501998756, 2.4777129}},
		"has fewer":      {past, []float64{1.5}, Estimate{0.3625, 0.1875, 3}},
		"varies less":    {past, []float64{1.5, 1.5}, Estimate{0.3625, 0.16692688020008437, 3}},
		"single values":  {[][]float64{{1.1}, {1.2}, {0.95}, {1.3}}, []float64{1.5}, Estimate{0.3625, 0.16692688020008437, 3}},
		"two past ones":  {past[:2], []float64{1.15}, Estimate{0, math.Sqrt(0.005*1.5 + 0.015 - 0.02/3), 1}},
		"no past change": {[][]float64{{1}, {1}}, []float64{2}, Estimate{1, 0, 1}},
	} {
		if got := Next(c.past, c.next); math.Abs(got.Value-c.want.Value) > 1e-9 || math.Abs(got.Err-c.want.Err) > 1e-3 || math.Abs(got.DF-c.want.DF) > 1e-6 {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	if e := Next(past[:1], []float64{9}); e.Above(0) != 1 || !math.IsInf(e.Upper(0.05), 1) {
		t.Errorf("a single session shows how much sessions differ: %+v", e)
	}
}

// The distances are the T values of MongoDB's signal-processing-algorithms 2.1.6, and so are the changes.
func TestChangesAreMongoDBs(t *testing.T) {
	if at, most := clearest(drifting); at != 6 || !near(most, 13.416666666666664) {
		t.Errorf("%d, %v", at, most)
	}
	if at, most := clearest(drifting[:2]); at != 0 || most != 0 {
		t.Errorf("two values change at %d by %v", at, most)
	}
	series := []float64{
		10.61, 9.23, 10.13, 9.83, 9.86, 9.94, 9.39, 9.93, 9.74, 12.0, 11.07, 10.89, 10.92, 10.8, 10.68, 10.88, 11.14, 10.93, 11.29, 10.94, 11.01,
		10.66, 10.36, 10.05, 10.15, 10.36, 10.78, 10.12, 10.13,
	}
	found := Changes(series, 0.01)
	if len(found) != 2 || found[0].At != 9 || found[1].At != 22 || found[0].P > 0.01 || found[1].P > 0.01 {
		t.Errorf("%+v", found)
	}
	if again := Changes(series, 0.01); !slices.Equal(again, found) {
		t.Errorf("%+v, and then %+v", found, again)
	}
	for _, alike := range [][]float64{nil, {1}, {1, 1, 1, 1, 1, 1}} {
		if found := Changes(alike, 0.05); found != nil {
			t.Errorf("%v: %+v", alike, found)
		}
	}
}

// chain is the values of sessions, each of which has some runs, of a server that nobody changes.
func chain(chance *rand.Rand, sessions, runs int, noise func(*rand.Rand) float64) (all [][]float64, means []float64) {
	for range sessions {
		day, sum := 0.02*chance.NormFloat64(), 0.0
		var values []float64
		for range runs {
			values = append(values, day+noise(chance))
			sum += values[len(values)-1]
		}
		all, means = append(all, values), append(means, sum/float64(runs))
	}
	return all, means
}

func normal(r *rand.Rand) float64 { return 0.02 * r.NormFloat64() }

// 67 is the 99 % bound of what is 5 % in truth.
func TestSessionsThatDifferAreNoChange(t *testing.T) {
	for name, noise := range map[string]func(*rand.Rand) float64{
		"normal":   normal,
		"outliers": func(r *rand.Rand) float64 { return 0.01*r.NormFloat64() + 0.3*float64(r.IntN(10)/9) },
		"tails":    func(r *rand.Rand) float64 { return 0.02 * r.NormFloat64() / math.Sqrt(r.ExpFloat64()) }, // t with 2 degrees of freedom
	} {
		for _, sessions := range []int{4, 6, 12} {
			chance := rand.New(rand.NewPCG(7, uint64(sessions)))
			next, trend := 0, 0
			for range 1000 {
				all, means := chain(chance, sessions+1, 4, noise)
				if Next(all[:sessions], all[sessions]).Above(0) <= 0.05 {
					next++
				}
				if Trend(means).Above(0) <= 0.05 {
					trend++
				}
			}
			if next > 67 || trend > 67 {
				t.Errorf("%s, %d sessions: next %d, trend %d of a thousand", name, sessions, next, trend)
			}
			t.Logf("%s, %d sessions: next %d, trend %d of a thousand", name, sessions, next, trend)
		}
	}
}

// 24 of 300 is the 99 % bound.
func TestSessionsThatDifferHaveNoChangePoint(t *testing.T) {
	chance, found := rand.New(rand.NewPCG(7, 8)), 0
	for range 300 {
		if _, means := chain(chance, 12, 4, normal); len(Changes(means, 0.05)) > 0 {
			found++
		}
	}
	if found > 24 {
		t.Errorf("%d of 300", found)
	}
	t.Logf("%d of 300", found)
}

func ExampleNext() {
	days := [][]float64{{40, 41}, {43, 42}, {38, 39}, {41, 42}}
	today := Next(days, []float64{46, 45})
	fmt.Printf("%+.1f ms, p %.3f\n", today.Value, today.Above(0))
	// Output: +4.8 ms, p 0.044
}
