package nprand

import (
	"math"
	"testing"
)

// The values are Python's decimal module's at 70 digits, rounded once.
func TestFunctionsAreCorrectlyRounded(t *testing.T) {
	for _, row := range []struct {
		call      string
		got, want float64
	}{
		{"Log(0x1.e759ff97b7508p-3)", Log(0x1.e759ff97b7508p-3), -0x1.6f85a8ff87b4cp+0},
		{"Log(0x1.16a5368858d8dp-1)", Log(0x1.16a5368858d8dp-1), -0x1.377e34c08e9a2p-1},
		{"Log(0x1.7ad586f53dadep-2)", Log(0x1.7ad586f53dadep-2), -0x1.fd1e846239a23p-1},
		{"Log(0x1.353501de56e4ap-1)", Log(0x1.353501de56e4ap-1), -0x1.0235603ec6ef6p-1},
		{"Log(0x1.56e1fc2f8f359p-997)", Log(0x1.56e1fc2f8f359p-997), -0x1.5963447f87fb5p+9},
		{"Log(0x1.fffffffffffffp-1)", Log(0x1.fffffffffffffp-1), -0x1.0000000000000p-53},
		{"Log(0x1.0000000000001p+0)", Log(0x1.0000000000001p+0), 0x1.fffffffffffffp-53},
		{"Log(0x1.b6e83b85f253bp+333)", Log(0x1.b6e83b85f253bp+333), 0x1.ceb6d8a40aef8p+7},
		{"Log(0x0.0000000000001p-1022)", Log(0x0.0000000000001p-1022), -0x1.74385446d71c3p+9},
		{"exponential(0x1.41d80ef9df670p+2)", exponential(double{hi: 0x1.41d80ef9df670p+2}), 0x1.3180bf87932b2p+7},
		{"exponential(-0x1.160fc06f8d526p+4)", exponential(double{hi: -0x1.160fc06f8d526p+4}), 0x1.e6f2d5623eaadp-26},
		{"exponential(-0x1.37928e674b664p+4)", exponential(double{hi: -0x1.37928e674b664p+4}), 0x1.dfb3be9b81588p-29},
		{"exponential(0x1.aff5de6b13c1cp+3)", exponential(double{hi: 0x1.aff5de6b13c1cp+3}), 0x1.63b85b15f0e8fp+19},
		{"exponential(0x1.62c0000000000p+9)", exponential(double{hi: 0x1.62c0000000000p+9}), 0x1.81e9b4b52d0c9p+1023},
		{"exponential(-0x1.5e20000000000p+9)", exponential(double{hi: -0x1.5e20000000000p+9}), 0x1.af5fe9a485c8ep-1011},
		{"exponential(0x1.0000000000000p-30)", exponential(double{hi: 0x1.0000000000000p-30}), 0x1.0000000400000p+0},
		{"exponential(-0x1.0000000000000p-53)", exponential(double{hi: -0x1.0000000000000p-53}), 0x1.fffffffffffffp-1},
		{"Pow(0x1.09941946801c6p-2, 0x1.111e344ab0896p+2)", Pow(0x1.09941946801c6p-2, 0x1.111e344ab0896p+2), 0x1.9d5948a87b77fp-9},
		{"Pow(0x1.fdc528ede5c0ep-1, 0x1.1030151e9815cp+1)", Pow(0x1.fdc528ede5c0ep-1, 0x1.1030151e9815cp+1), 0x1.fb451aaad790fp-1},
		{"Pow(0x1.ac44ace32d283p-1, 0x1.0cb54ac4dd986p+1)", Pow(0x1.ac44ace32d283p-1, 0x1.0cb54ac4dd986p+1), 0x1.5fef469d5fdacp-1},
		{"Pow(0x1.0000000000000p+6, 0x1.4e5e0a72f0539p-6)", Pow(0x1.0000000000000p+6, 0x1.4e5e0a72f0539p-6), 0x1.16ad41575c174p+0},
		{"Pow(0x1.0000000000000p+6, 0x1.6343eb1a1f58dp-2)", Pow(0x1.0000000000000p+6, 0x1.6343eb1a1f58dp-2), 0x1.0ee72c277d727p+2},
		{"Pow(0x1.0000000000000p+6, 0x1.58d0fac687d63p-1)", Pow(0x1.0000000000000p+6, 0x1.58d0fac687d63p-1), 0x1.07589a84d0ba5p+4},
		{"Pow(0x1.999999999999ap-4, -0x1.4000000000000p+1)", Pow(0x1.999999999999ap-4, -0x1.4000000000000p+1), 0x1.3c3a4edfa9758p+8},
		{"Pow(0x1.0000000000000p+2, 0x1.0000000000000p-1)", Pow(0x1.0000000000000p+2, 0x1.0000000000000p-1), 0x1.0000000000000p+1},
		{"Pow(0x1.7e43c8800759cp+996, 0x1.051eb851eb852p+0)", Pow(0x1.7e43c8800759cp+996, 0x1.051eb851eb852p+0), 0x1.6c8e5ca239078p+1016},
		{"Pow(0x1.000001ad7f29bp+0, 0x1.dcd6500000000p+29)", Pow(0x1.000001ad7f29bp+0, 0x1.dcd6500000000p+29), 0x1.349445c228792p+144},
	} {
		if row.got != row.want {
			t.Errorf("%s = %x, want %x", row.call, row.got, row.want)
		}
	}
}

func TestFunctionsKeepSpecialCases(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, x := range []float64{0, math.Copysign(0, -1), 1, -1, inf, -inf, nan, 800, -800, 0.5, math.MaxFloat64} {
		same(t, "Log", Log(x), math.Log(x))
		for _, y := range []float64{0, 1, -1, inf, -inf, nan, 2} {
			same(t, "Pow", Pow(x, y), math.Pow(x, y))
		}
	}
}

func same(t *testing.T, name string, got, want float64) {
	t.Helper()
	if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
		t.Errorf("%s gives %v, want %v", name, got, want)
	}
}

func BenchmarkGamma(b *testing.B) {
	r := NewRandomState(0)
	for b.Loop() {
		r.Gamma(0.5, 1)
	}
}

func BenchmarkIntegers(b *testing.B) {
	g := NewGenerator(0)
	for b.Loop() {
		g.Integers(0, 32000)
	}
}
