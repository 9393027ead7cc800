package sim_test

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/metrics"
)

// heldOut is the profile that was fitted to every other row of the ladders.
const heldOut = "testdata/sweep-every-other.yaml"

// unseen are the rows of the ladders to which heldOut was not fitted, beside what
// it makes of them.
func unseen(t *testing.T, runs int) (all []comparison) {
	t.Helper()
	other, err := speed.Open(heldOut)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rungs(t) {
		if r.fitted() {
			continue
		}
		var simulated []*metrics.Summary
		for seed := range runs {
			simulated = append(simulated, r.with(t, other, uint64(seed+1)))
		}
		all = append(all, compare(&r.plan, "", r.seed, simulated))
	}
	return all
}

// fitted says whether heldOut was fitted to a row of the ladders.
func (p *plan) fitted() bool { return int(math.Log2(float64(p.num)))%2 == 0 }

// A rung is a row of a ladder with what was measured.
type rung struct {
	plan
	profile *speed.Profile
	seed    *metrics.Summary
}

func rungs(t *testing.T) (all []rung) {
	t.Helper()
	for _, p := range ladders() {
		if !strings.HasPrefix(p.group, "ladder") {
			continue
		}
		profile, err := speed.Open(p.profile)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rung{p, profile, p.blocks[0].read(t)})
	}
	return all
}

// with simulates the rung with the step times of another profile.
func (r *rung) with(t *testing.T, other *speed.Profile, seed uint64) *metrics.Summary {
	t.Helper()
	profile := *r.profile
	profile.Step, profile.FrontEnd = other.Step, other.FrontEnd
	return r.replay(t, sim.Config{Profile: &profile, Seed: seed})
}

// SEEDS_FIT names the file that gets the profile fitted to every other row: the
// simplex search of Nelder and Mead over the logarithms of ten parameters, from
// round numbers on, for the least squares of the logarithms of
// simulated/measured. The spread of steps and the tokens held back are not
// fitted, and lengths of answers are those of the profiles of all rows.
func TestFitLadders(t *testing.T) {
	name := os.Getenv("SEEDS_FIT")
	if name == "" {
		t.Skip("SEEDS_FIT names no file")
	}
	var rows []rung
	for _, r := range rungs(t) {
		if r.fitted() {
			rows = append(rows, r)
		}
	}
	all, _ := statistics()
	misfit := func(x []float64) (sum float64) {
		if x[6] > 0 {
			return math.Inf(1) // an overlap beyond 1
		}
		for _, r := range rows {
			got := r.with(t, ladderProfile(x), 1)
			for _, s := range all {
				if s.name != "P99 ITL" {
					off := math.Log(s.of(got) / s.of(r.seed))
					sum += off * off
				}
			}
		}
		return sum
	}
	start := []float64{50, 700, 200, 10, 100, 300, .3, 50, 200, 10}
	for i := range start {
		start[i] = math.Log(start[i])
	}
	best := minimize(misfit, start, 260)
	t.Logf("misfit %.4f from %.4f", misfit(best), misfit(start))
	if err := os.WriteFile(name, []byte(ladderYAML(best)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// ladderProfile is the profile of logarithms: of base, prompt token, front end,
// how much each of three knots is above the one before, overlap, attention, context and far.
func ladderProfile(x []float64) *speed.Profile {
	in := func(i int, unit time.Duration) time.Duration {
		return time.Duration(math.Exp(x[i]) * float64(unit)).Round(time.Nanosecond)
	}
	rise := func(steps ...int) (sum time.Duration) {
		for _, i := range steps {
			sum += in(i, time.Millisecond)
		}
		return sum
	}
	return &speed.Profile{
		FrontEnd: in(2, time.Millisecond),
		Step: speed.StepTime{
			Cost:    speed.Cost{Base: in(0, time.Millisecond), PerPromptToken: in(1, time.Microsecond)},
			Knots:   []speed.Knot{{Requests: 16, Time: rise(3)}, {Requests: 64, Time: rise(3, 4)}, {Requests: 256, Time: rise(3, 4, 5)}},
			Overlap: math.Exp(x[6]), Attention: in(7, time.Nanosecond), Context: in(8, time.Nanosecond), Far: in(9, time.Millisecond),
			Jitter: 0.05,
		},
	}
}

func ladderYAML(x []float64) string {
	p := ladderProfile(x)
	s := p.Step
	text := "like: sweep-80\nabout: the same server, fitted to the rows of 1, 4, 16 … prompts\n"
	text += fmt.Sprintf("front-end: %v\nstep:\n  base: %v\n  per-prompt-token: %v\n  knots:\n", p.FrontEnd, s.Base, s.PerPromptToken)
	for _, k := range s.Knots {
		text += fmt.Sprintf("    - {requests: %d, time: %v}\n", k.Requests, k.Time)
	}
	return text + fmt.Sprintf("  overlap: %.3f\n  attention: %v\n  context: %v\n  far: %v\n", s.Overlap, s.Attention, s.Context, s.Far)
}

// minimize walks a simplex around start downhill.
func minimize(f func([]float64) float64, start []float64, steps int) []float64 {
	type corner struct {
		x []float64
		y float64
	}
	at := func(x []float64) corner { return corner{x, f(x)} }
	simplex := []corner{at(start)}
	for i := range start {
		x := slices.Clone(start)
		x[i] += .25
		simplex = append(simplex, at(x))
	}
	low := func(a, b corner) int { return cmp.Compare(a.y, b.y) }
	for range steps {
		slices.SortFunc(simplex, low)
		worst := &simplex[len(start)]
		center := make([]float64, len(start))
		for _, c := range simplex[:len(start)] {
			for i := range center {
				center[i] += c.x[i] / float64(len(start))
			}
		}
		along := func(by float64) corner {
			x := make([]float64, len(start))
			for i := range x {
				x[i] = center[i] + by*(worst.x[i]-center[i])
			}
			return at(x)
		}
		next := along(-1)
		if next.y < simplex[0].y {
			if further := along(-2); further.y < next.y {
				next = further
			}
		} else if next.y >= simplex[len(start)-1].y {
			next = along(.5)
		}
		if next.y < worst.y {
			*worst = next
			continue
		}
		for i := range simplex[1:] {
			x := simplex[i+1].x
			for k := range x {
				x[k] = (x[k] + simplex[0].x[k]) / 2
			}
			simplex[i+1] = at(x)
		}
	}
	return slices.MinFunc(simplex, low).x
}
