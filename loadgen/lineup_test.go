package loadgen

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/workload"
	"github.com/servebench/servebench/metrics"
)

// at is a target at a URL or a socket, with a seed.
func at(url, socket string, seed int64) *Plan {
	return &Plan{
		Server: Server{BaseURL: url, Socket: socket}, Workload: Workload{Seed: seed},
		Flags: []metrics.KV{{Key: "seed", Value: fmt.Sprint(seed)}},
	}
}

// several are loaded alone and together, in so many repeats.
func several(repeats int, targets ...*Plan) *run {
	for i, p := range targets {
		p.Target = string(rune('a' + i))
	}
	p := &Plan{Targets: targets, SoloFirst: true, Pairs: true, Repeat: repeats}
	return &run{plan: p, targets: targets}
}

// Whatever a server has seen in an experiment it does not see again, and what can
// be the same for the sake of comparing is.
func TestSeedsDifferWhereAServerWouldRemember(t *testing.T) {
	e := several(3, at("http://h:1", "", 5), at("http://h:2", "", 5), at("http://h:1", "", 5), at("http://h:1", "", 6))
	seen := map[string]map[int64]bool{}
	for repeat := range e.plan.Repeat {
		for i, target := range e.targets {
			var plans []*Plan
			for _, s := range slices.Backward(sequence(e, 0)) {
				if slices.Contains(s, i) {
					plans = append(plans, memberIn(e.plan, i, repeat, s))
				}
			}
			together := plans[0]
			for _, s := range plans {
				if seen[s.Server.BaseURL] == nil {
					seen[s.Server.BaseURL] = map[int64]bool{}
				}
				if seen[s.Server.BaseURL][s.Workload.Seed] {
					t.Errorf("%s sees seed %d again", s.Server.BaseURL, s.Workload.Seed)
				}
				seen[s.Server.BaseURL][s.Workload.Seed] = true
				if i := slices.IndexFunc(s.Flags, func(kv metrics.KV) bool { return kv.Key == "seed" }); s.Flags[i].Value != fmt.Sprint(s.Workload.Seed) {
					t.Errorf("seed %d is recorded as %s", s.Workload.Seed, s.Flags[i].Value)
				}
			}
			for _, part := range plans[1:] {
				if a, b := part.Traffic.Arrivals(&part.Workload).Seed, together.Traffic.Arrivals(&together.Workload).Seed; a != b {
					t.Errorf("%s arrives by seed %d in a part and %d among all", target.Target, a, b)
				}
			}
		}
	}
	all := subset{0, 1, 2, 3}
	if a, b := memberIn(e.plan, 0, 1, all), memberIn(e.plan, 1, 1, all); a.Workload.Seed != b.Workload.Seed {
		t.Errorf("targets on servers of their own have the seeds %d and %d", a.Workload.Seed, b.Workload.Seed)
	}
	if first := memberIn(e.plan, 0, 0, all); first.Workload.Seed != 5 {
		t.Errorf("the first seed is %d", first.Workload.Seed)
	}
}

// Seeds are of 32 bits, so that the next after the last is 0.
func TestSeedsThatAreFarApartDoNotMeet(t *testing.T) {
	for _, other := range []int64{1, 2, 2147483648, 4294967295, 1431655765} {
		e := several(4, at("http://h:1", "", 0), at("http://h:1", "", other))
		seen := map[int64]bool{}
		for repeat := range e.plan.Repeat {
			for i := range e.targets {
				seen[memberIn(e.plan, i, repeat, subset{0, 1}).Workload.Seed], seen[memberIn(e.plan, i, repeat, subset{i}).Workload.Seed] = true, true
			}
		}
		if len(seen) != 16 {
			t.Errorf("seeds 0 and %d: %d different ones in 16 loads: %v", other, len(seen), seen)
		}
	}
}

// Up to v0.9.2, what the dataset draws moves the arrivals, too.
func TestTargetAloneIsLoadedAsAmongOthers(t *testing.T) {
	for _, rule := range []arrivals.Rule{arrivals.SinceV010, arrivals.UpToV092} {
		one := plan(t, rate(20), prompts(50), func(p *Plan) {
			p.Server.Tokenizer, p.Traffic.Rule, p.Workload.Seed = "stub-900", rule, 5
		})
		other := *one
		other.Server.BaseURL += "/other"
		e := several(1, one, &other)
		due := func(s subset) []float64 {
			w, err := workload.Open(t.Context(), memberIn(e.plan, 0, 0, s).spec(), workload.Origin{Say: t.Logf})
			if err != nil {
				t.Fatal(err)
			}
			offsets, err := w.Arrivals().Offsets(50)
			if err != nil {
				t.Fatal(err)
			}
			return slices.Collect(offsets)
		}
		if alone, together := due(subset{0}), due(subset{0, 1}); !slices.Equal(alone, together) {
			t.Errorf("rule %s: requests are due at %v alone and at %v among others", rule, alone, together)
		}
	}
}

// subset are the targets of a load test by their indices.
type subset []int

// memberIn is the plan of a target in the load test of a subset.
func memberIn(p *Plan, index, repeat int, s subset) *Plan {
	for _, members := range p.Sequence(repeat) {
		at := slices.IndexFunc(members, func(m Member) bool { return m.Index == index })
		if at >= 0 && len(members) == len(s) && !slices.ContainsFunc(members, func(m Member) bool { return !slices.Contains(s, m.Index) }) {
			return members[at].Plan
		}
	}
	return nil
}

// sequence are the load tests of a repeat by the indices of their targets.
func sequence(r *run, repeat int) (all []subset) {
	for _, members := range r.plan.Sequence(repeat) {
		var s subset
		for _, m := range members {
			s = append(s, m.Index)
		}
		all = append(all, s)
	}
	return all
}

func TestEachSubsetIsLoadedOnceAndInTurns(t *testing.T) {
	three := []*Plan{at("http://h:1", "", 0), at("http://h:2", "", 0), at("http://h:3", "", 0)}
	e := several(2, three...)
	forth := []subset{{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}}
	back := []subset{{0, 1, 2}, {1, 2}, {0, 2}, {0, 1}, {2}, {1}, {0}}
	if a, b := sequence(e, 0), sequence(e, 1); !reflect.DeepEqual(a, forth) || !reflect.DeepEqual(b, back) {
		t.Errorf("the load tests are of %v, then of %v", a, b)
	}
	if n := e.plan.Trials(); n != 2*12 {
		t.Errorf("%d load tests of single targets, want 24", n)
	}
	two := several(1, three[:2]...)
	if got := sequence(two, 0); !reflect.DeepEqual(got, []subset{{0}, {1}, {0, 1}}) {
		t.Errorf("two targets are loaded as %v", got)
	}
}
