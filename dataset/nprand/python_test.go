package nprand

import (
	"math"
	"slices"
	"testing"
)

// The values are those of CPython 3.11 and numpy 1.24.2, where the golden file
// has none.
func TestPythonDrawsThatTheGoldenFileLacks(t *testing.T) {
	if got, want := NewPython(7).Choices(100, 8), []int{32, 15, 65, 7, 53, 36, 5, 50}; !slices.Equal(got, want) {
		t.Errorf("choices: %v, want %v", got, want)
	}
	p := NewPython(7)
	equal(t, "gammavariate(2.5, 1.5)", []float64{2.595162759087551, 5.1209015122933845, 4.029504547407541,
		0.9304982049592578, 0.740151138256115, 1.027675738750967}, func() float64 { return p.Gamma(2.5, 1.5) })
	p = NewPython(7)
	equal(t, "gammavariate(1, 2)", []float64{0.7826296884696086, 0.3270369140109563, 2.1049912361418537},
		func() float64 { return p.Gamma(1, 2) })
	p = NewPython(-7)
	equal(t, "getrandbits(64)", []uint64{17485029721327973432, 7283207964119141687, 890727360438182992},
		func() uint64 { return p.Bits(64) })
	equal(t, "getrandbits(0), getrandbits(33)", []uint64{0, 4606078771}, func() func() uint64 {
		k := -33
		return func() uint64 { k += 33; return p.Bits(k) }
	}())
	p = NewPython(math.MinInt64)
	equal(t, "seed -2**63", []uint64{2377109768}, func() uint64 { return p.Bits(32) })
	p, q := NewPythonKey(nil), NewPython(0)
	equal(t, "seed without words", []uint64{q.Bits(32)}, func() uint64 { return p.Bits(32) })
}

func TestWideAndEmptyRangesAreNumpys(t *testing.T) {
	r := NewRandomState(7)
	equal(t, "randint(0, 2**40)", []int64{752595690692, 108744157686, 291964244179}, func() int64 { return r.Intn(1 << 40) })
	equal(t, "randint(0, 1)", []int64{0, 0}, func() int64 { return r.Intn(1) })
	equal(t, "randint(0, 100) after it", []int64{23}, func() int64 { return r.Intn(100) })
	g := NewGenerator(1<<63 + 5)
	equal(t, "integers(-2**63, 2**63 - 1)", []int64{-364634847233096340, 7455682847179550677, 2614468730474774975},
		func() int64 { return g.Integers(math.MinInt64, math.MaxInt64) })
}
