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
	p := NewPython(-7)
	equal(t, "getrandbits(64)", []uint64{17485029721327973432, 7283207964119141687, 890727360438182992},
		func() uint64 { return p.bits(64) })
	equal(t, "getrandbits(33)", []uint64{4606078771}, func() uint64 { return p.bits(33) })
	p = NewPython(math.MinInt64)
	equal(t, "seed -2**63", []uint64{2377109768}, func() uint64 { return p.bits(32) })
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
