package nprand

import (
	"encoding/json"
	"math/big"
	"os"
	"slices"
	"strconv"
	"testing"
)

// primitives is testdata/golden/rng_primitives.json: draws of numpy 1.24.2 and
// CPython 3.11.2.
type primitives struct {
	Generators []struct {
		Seed    uint64
		Initial struct{ State, Inc string } `json:"initial_state"`
		Raw64   []string
		Ranges  []integers `json:"integers"`
		Chained []integers `json:"integers_chained_one_generator"`
		Scalar  []int64    `json:"scalar_calls"`
	} `json:"pcg64_default_rng"`
	States []struct {
		Seed           uint32
		Raw32          []uint32
		Uniform        []float64
		StdExponential []float64 `json:"standard_exponential"`
		Normal         []float64
		Gamma          []struct {
			Shape, Scale float64
			Values       []float64
		}
		Randint32000  []int64 `json:"randint_0_32000"`
		Randint10     []int64 `json:"randint_0_10"`
		Randint128256 []int64 `json:"randint_0_128256"`
		Permutation   []int   `json:"permutation_20"`
		Choice        []int64 `json:"choice_5_of_10"`
	} `json:"legacy_mt19937"`
	Pythons []struct {
		Seed         string
		Getrandbits  []uint64 `json:"getrandbits32"`
		Random       []float64
		Shuffle      []draws
		Choice       []draws
		Randint32000 []int `json:"randint_0_31999"`
	} `json:"python_random"`
}

type integers struct {
	Lo, Hi int64
	Size   int
	Values []int64
}

type draws struct {
	N, K   int
	Values []int
}

func golden(t *testing.T) primitives {
	t.Helper()
	data, err := os.ReadFile("../../testdata/golden/rng_primitives.json")
	if err != nil {
		t.Fatal(err)
	}
	var p primitives
	if err := json.Unmarshal(data, &p); err != nil {
		t.Fatal(err)
	}
	if len(p.Generators) == 0 || len(p.States) == 0 || len(p.Pythons) == 0 {
		t.Fatal("the golden file lacks a section")
	}
	return p
}

// equal draws as often as want is long, and compares for equality.
func equal[T comparable](t *testing.T, what string, want []T, draw func() T) {
	t.Helper()
	if len(want) == 0 {
		t.Errorf("%s: the golden file has no values", what)
	}
	got := make([]T, len(want))
	for i := range got {
		got[i] = draw()
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %v\nwant %v", what, got, want)
	}
}

func TestGeneratorIsNumpys(t *testing.T) {
	for _, c := range golden(t).Generators {
		name := "seed " + strconv.FormatUint(c.Seed, 10)
		g := NewGenerator(c.Seed)
		for what, pair := range map[string]struct {
			got  uint128
			want string
		}{"state": {g.state, c.Initial.State}, "inc": {g.inc, c.Initial.Inc}} {
			got := new(big.Int).SetUint64(pair.got.hi)
			got.Lsh(got, 64).Add(got, new(big.Int).SetUint64(pair.got.lo))
			if got.String() != pair.want {
				t.Errorf("%s: initial %s %s, want %s", name, what, got, pair.want)
			}
		}
		g = NewGenerator(c.Seed)
		equal(t, name+" raw", c.Raw64, func() string { return strconv.FormatUint(g.uint64(), 10) })
		for _, r := range c.Ranges {
			if r.Size == 0 {
				continue
			}
			g = NewGenerator(c.Seed)
			equal(t, name+" integers", r.Values, func() int64 { return g.Integers(r.Lo, r.Hi) })
		}
		g = NewGenerator(c.Seed)
		for _, r := range c.Chained {
			equal(t, name+" chained integers", r.Values, func() int64 { return g.Integers(r.Lo, r.Hi) })
		}
		g = NewGenerator(c.Seed)
		equal(t, name+" scalar", c.Scalar, func() int64 { return g.Integers(0, 32000) })
	}
}

func TestCopyOfGeneratorGoesOnFromTheSamePlace(t *testing.T) {
	g := NewGenerator(0)
	g.Integers(0, 32000) // leaves half a draw in the buffer
	other := g
	for range 5 {
		if a, b := g.Integers(0, 32000), other.Integers(0, 32000); a != b {
			t.Fatalf("original drew %d, copy %d", a, b)
		}
	}
}

func TestRandomStateIsNumpys(t *testing.T) {
	for _, c := range golden(t).States {
		name := "seed " + strconv.FormatUint(uint64(c.Seed), 10)
		check := func(what string, want []float64, draw func(r *RandomState) float64) {
			r := NewRandomState(c.Seed)
			equal(t, name+" "+what, want, func() float64 { return draw(r) })
		}
		check("uniform", c.Uniform, (*RandomState).Random)
		check("standard exponential", c.StdExponential, (*RandomState).exponential)
		check("normal", c.Normal, (*RandomState).normal)
		for _, gamma := range c.Gamma {
			check("gamma", gamma.Values, func(r *RandomState) float64 { return r.Gamma(gamma.Shape, gamma.Scale) })
		}
		r := NewRandomState(c.Seed)
		equal(t, name+" raw", c.Raw32, r.mt.uint32)
		for n, want := range map[int64][]int64{32000: c.Randint32000, 10: c.Randint10, 128256: c.Randint128256} {
			r := NewRandomState(c.Seed)
			equal(t, name+" randint", want, func() int64 { return r.Intn(n) })
		}
		r = NewRandomState(c.Seed)
		equal(t, name+" choice", c.Choice, func() int64 { return r.Intn(10) })
		if got := NewRandomState(c.Seed).Permutation(len(c.Permutation)); !slices.Equal(got, c.Permutation) {
			t.Errorf("%s: permutation %v, want %v", name, got, c.Permutation)
		}
	}
}

func TestPythonIsCPythons(t *testing.T) {
	for _, c := range golden(t).Pythons {
		seed, err := strconv.ParseInt(c.Seed, 10, 64)
		if err != nil {
			continue // larger than any seed here
		}
		seeded := func() *Python { return NewPython(seed) }
		p := seeded()
		equal(t, c.Seed+" random", c.Random, p.Random)
		p = seeded()
		equal(t, c.Seed+" getrandbits", c.Getrandbits, func() uint64 { return p.bits(32) })
		p = seeded()
		equal(t, c.Seed+" randint(0, 31999)", c.Randint32000, func() int { return p.Intn(32000) })
		for _, choice := range c.Choice {
			p := seeded()
			equal(t, c.Seed+" choice", choice.Values, func() int { return p.Intn(choice.N) })
		}
		for _, shuffle := range c.Shuffle {
			order := make([]int, shuffle.N)
			for i := range order {
				order[i] = i
			}
			seeded().Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			if !slices.Equal(order, shuffle.Values) {
				t.Errorf("seed %s: shuffle of %d: %v, want %v", c.Seed, shuffle.N, order, shuffle.Values)
			}
		}
	}
}
