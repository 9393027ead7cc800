package sim_test

import (
	"cmp"
	"math"
	"os"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/sharing"
)

// A tenant is one of several servers with its load.
type tenant struct {
	name        string
	gpu         int     // the same number is the same GPU
	share       float64 // of the SMs
	rate        float64 // requests a second; 0 for one after the other
	prompt, out int     // tokens
	seed        int64   // 0 for its own
	delay       time.Duration
}

// A keeper keeps the views of repeats before they lose their requests.
type keeper struct {
	loadgen.Quiet
	done  []*metrics.Summary
	views map[string]*sharing.View
}

func (k *keeper) Done(r *loadgen.Result) { k.done = append(k.done, r.Summary) }

func (k *keeper) Event(s loadgen.Event) {
	if s.Kind == loadgen.RepeatDone {
		sharing.Keep(k.views, k.done[len(k.done)-s.Count:])
	}
}

// loadOf loads the tenants for so many repeats, alone, in pairs and together, or together only.
func loadOf(t *testing.T, tenants []tenant, seed int64, seconds, repeats int, parts bool) *sharing.Load {
	t.Helper()
	var all []sharing.Load
	synctest.Test(t, func(t *testing.T) {
		gpus := map[int]*speed.GPU{}
		plan := &loadgen.Plan{SoloFirst: parts, Pairs: parts, Repeat: repeats}
		for i, x := range tenants {
			if gpus[x.gpu] == nil {
				gpus[x.gpu] = new(speed.GPU)
			}
			profile := &speed.Profile{Step: speed.StepTime{Cost: speed.DefaultCost(), Jitter: .02}, SMs: speed.SMs{Share: x.share, Decode: .6}}
			server, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}, Profile: profile, Seed: uint64(seed) + uint64(i), Device: sim.Device{GPU: gpus[x.gpu]}})
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			p := &loadgen.Plan{Target: x.name, Server: loadgen.Server{Handler: server, Tokenizer: "stub-32000"}}
			p.Workload.Seed = cmp.Or(x.seed, seed*100+int64(i))
			p.Workload.NumPrompts = int(x.rate * float64(seconds))
			p.Traffic.Delay = x.delay
			p.Workload.Random.InputLen, p.Workload.Random.OutputLen = x.prompt, x.out
			if p.Traffic.RequestRate = x.rate; x.rate == 0 {
				p.Traffic.MaxConcurrency, p.Traffic.Duration = new(int), time.Duration(seconds)*time.Second
				*p.Traffic.MaxConcurrency = 1
				p.Workload.NumPrompts, p.Traffic.Counted = 5*seconds, true // more than there is time for
			}
			plan.Targets = append(plan.Targets, p)
		}
		kept := &keeper{views: map[string]*sharing.View{}}
		sums, err := plan.Run(t.Context(), kept)
		if err != nil {
			t.Fatal(err)
		}
		all = sharing.Loads(sums, kept.views)
	})
	if len(all) != 1 {
		t.Fatalf("%d loads", len(all))
	}
	return &all[0]
}

// full says whether tests make all of their runs.
var full = os.Getenv("FULL") == "1"

// One target has bursts of prefill, and shares a GPU with the victim or not. The innocent has the same
// bursts on another GPU.
func TestTheCauserIsNamed(t *testing.T) {
	if testing.Short() {
		t.Skip("runs of 30 simulated seconds: in go test without -short")
	}
	seeds, most := int64(2), 0 // of targets that are named in error
	if full {
		seeds, most = 20, 1
	}
	tenants := func(gpu int) []tenant {
		return []tenant{
			{name: "aggressor", gpu: gpu, share: 1, rate: 2, prompt: 4000, out: 2},
			{name: "victim", gpu: 0, share: 1, rate: 3, prompt: 50, out: 100},
			{name: "innocent", gpu: 2, share: 1, rate: 2, prompt: 4000, out: 2},
		}
	}
	named, wrong, effect := int64(0), 0, 0.0
	for seed := range seeds {
		coupled := loadOf(t, tenants(0), seed, 30, 1, false).Causes()
		for _, s := range coupled.Slowed {
			if s.Target == "victim" && s.By == "aggressor" {
				named++
			} else if s.By != "" || s.Among != nil {
				t.Logf("seed %d: %+v", seed, s)
				wrong++
			}
		}
		i := slices.IndexFunc(coupled.Pairs, func(c sharing.Cause) bool { return c.By == "aggressor" && c.On == "victim" })
		effect += coupled.Pairs[i].Effect.Value / float64(seeds)
		for _, s := range loadOf(t, tenants(1), seed, 30, 1, false).Causes().Slowed {
			if s.By != "" || s.Among != nil {
				t.Logf("seed %d, without coupling: %+v", seed, s)
				wrong++
			}
		}
	}
	if named != seeds || wrong > most {
		t.Errorf("the aggressor is named in %d of %d runs, and %d targets are named in error", named, seeds, wrong)
	}
	// A decoding step of 5.1 ms fills 0.6 of the SMs and gets a half. Bins are at times only partly in
	// a burst.
	if math.Abs(effect/1.02-1) > .1 {
		t.Errorf("the gaps are longer by %v ms, want 1.02", effect)
	}
}

// The innocent sends 30 ms after each request of the aggressor. What the aggressor does must not count
// for it.
func TestAnInnocentIsNotBlamedForItsCompany(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	for seed := range int64(5) {
		tenants := []tenant{
			{name: "aggressor", gpu: 0, share: 1, rate: 2, prompt: 4000, out: 2, seed: seed + 1},
			{name: "victim", gpu: 0, share: 1, rate: 3, prompt: 50, out: 100, seed: seed + 100},
			{name: "innocent", gpu: 2, share: 1, rate: 2, prompt: 4000, out: 2, seed: seed + 1, delay: 30 * time.Millisecond},
		}
		c := loadOf(t, tenants, seed, 30, 1, false).Causes()
		for _, p := range c.Pairs {
			if p.By == "innocent" && p.On == "victim" && p.Correlation.Low > 0 {
				t.Errorf("seed %d: the innocent has the correlation %+v", seed, p.Correlation)
			}
		}
		if i := slices.IndexFunc(c.Slowed, func(s sharing.Slowed) bool { return s.Target == "victim" }); c.Slowed[i].By != "aggressor" {
			t.Errorf("seed %d: %+v", seed, c.Slowed[i])
		}
	}
}

// Targets with the same seed and rate send at the same instants.
func TestNobodyIsNamedWhereRequestsComeTogether(t *testing.T) {
	tenants := []tenant{
		{name: "a", share: 1, rate: 2, prompt: 4000, out: 2, seed: 1},
		{name: "b", share: 1, rate: 2, prompt: 50, out: 100, seed: 1},
		{name: "c", share: 1, rate: 2, prompt: 4000, out: 2, seed: 2},
	}
	c := loadOf(t, tenants, 7, 30, 1, false).Causes()
	if !reflect.DeepEqual(c.Same, [][2]string{{"a", "b"}}) {
		t.Errorf("%v get requests at the same times", c.Same)
	}
	for _, p := range c.Pairs {
		if p.Confounded != (p.By != "c") {
			t.Errorf("%s on %s: confounded: %v", p.By, p.On, p.Confounded)
		}
	}
	for _, s := range c.Slowed {
		if s.Target == "b" && s.By != "c" {
			t.Errorf("%+v, want c", s)
		}
	}
}

// Servers that always decode fill 0.6 of the SMs. c may use a quarter, so it always gets that, and
// leaves a and b what they need together with one of them, and three eighths with both.
func TestTheMatrixIsTheTruth(t *testing.T) {
	if testing.Short() {
		t.Skip("three servers that always decode: in go test without -short")
	}
	for _, prompt := range []int{1, 2000} {
		holdMatrix(t, prompt)
	}
}

// prompted is how many times as long as alone a first token takes after a prompt of so many tokens, for a
// server that gets this part of the SMs. The prompt can fill all of them, and the rest of the step 0.6.
func prompted(tokens int, granted float64) float64 {
	cost := speed.DefaultCost()
	base, rest := cost.Base.Seconds(), float64(tokens)*cost.PerPromptToken.Seconds()
	return (base*max(1, .6/granted) + rest/granted) / (base + rest)
}

func holdMatrix(t *testing.T, prompt int) {
	t.Helper()
	var tenants []tenant
	for i, share := range []float64{1, 1, .25} {
		tenants = append(tenants, tenant{name: string(rune('a' + i)), share: share, prompt: prompt, out: 50})
	}
	l := loadOf(t, tenants, 1, 10, 3, true)
	nan := math.NaN()
	decoding := [][]float64{{nan, 1.2, 1, 1.6}, {1.2, nan, 1, 1.6}, {1, 1, nan, 1}}
	half, most, least := prompted(prompt, .5), prompted(prompt, .75), prompted(prompt, .375)
	prompts := [][]float64{{nan, half, most, least}, {half, nan, most, least}, {1, 1, nan, 1}}
	for _, m := range l.Matrices() {
		truth := decoding
		switch {
		case m.Measure.Name == "mean_ttft":
			truth = prompts
		case m.Measure.Better == metrics.Higher && prompt > 1:
			continue // it mixes both
		}
		if !slices.Equal(m.With, []string{"a", "b", "c", "(all)"}) {
			t.Errorf("columns %v", m.With)
		}
		for i, row := range m.Rows {
			for j, want := range truth[i] {
				got := row.Slower[j]
				if math.IsNaN(want) != math.IsNaN(got.Value) || math.Abs(got.Value/want-1) > .05 {
					t.Errorf("%s of %s with %s, prompts of %d: %+v, want %v", m.Measure.Name, row.Target, m.With[j], prompt, got, want)
				}
				if want > 0 && !(got.Repeats == 3 && got.Low <= got.Value && got.Value <= got.High && got.High < got.Low*1.15) {
					t.Errorf("%s of %s with %s: %+v", m.Measure.Name, row.Target, m.With[j], got)
				}
			}
		}
	}
	if prompt > 1 {
		return
	}
	// Progress is 1/1.6, 1/1.6 and 1.
	want := math.Pow(2/1.6+1, 2) / 3 / (2/1.6/1.6 + 1)
	for _, f := range l.Evenness() {
		if f.Of == "progress" && (math.Abs(f.Jain.Value-want) > .01 || !(f.Jain.Low <= f.Jain.Value && f.Jain.High <= 1)) {
			t.Errorf("Jain's index %+v, want %v", f.Jain, want)
		}
	}
}

// The model knows one server alone, and how many SMs each of two has. It has no memory bandwidth, so
// two that may use all SMs wait longer for each other than the document's.
func TestSharesOfSMsGiveTheBlocksOfPairs(t *testing.T) {
	if testing.Short() {
		t.Skip("pairs of servers against their blocks: in go test without -short")
	}
	profile, err := speed.Open("mps-solo")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range shared()[1:] {
		share := map[string]float64{"mps-two": 1, "mps-64sm": 64. / 132, "mps-100sm": 100. / 132}[p.profile]
		p.wide = tolerance{"rate": .07, "mean": .40, "p99": .50, "mean TPOT": .18, "median TPOT": .15, "mean ITL": .18}
		if p.profile == "mps-64sm" {
			p.wide = tolerance{"mean": .20, "mean TPOT": .05, "median TPOT": .05, "mean ITL": .05}
		}
		gpu := new(speed.GPU)
		pair := p.together(t, sim.Config{Profile: profile, Seed: 1, Device: sim.Device{GPU: gpu, SMs: share}}, sim.Config{Profile: profile, Seed: 2, Device: sim.Device{GPU: gpu, SMs: share}})
		for i, b := range p.blocks {
			c := compare(&p, b.name, b.read(t), pair[i%2:i%2+1])
			t.Log(c.row())
			for _, miss := range c.misses() {
				t.Error(miss)
			}
		}
	}
}
