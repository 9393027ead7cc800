package nprand

import "math"

// A double is the unevaluated sum of two float64, where hi is the rounded sum: some 106 bits
// (Dekker, "A Floating-Point Technique for Extending the Available Precision", 1971). Conversions
// to float64 keep the compiler from fusing.
type double struct{ hi, lo float64 }

// sum is a + b exactly.
func sum(a, b float64) double {
	s := a + b
	t := s - a
	return double{s, (a - (s - t)) + (b - t)}
}

// quickSum is a + b exactly, where |a| ≥ |b| or a is 0.
func quickSum(a, b float64) double {
	s := a + b
	return double{s, b - (s - a)}
}

// product is a · b exactly.
func product(a, b float64) double {
	p := float64(a * b)
	return double{p, math.FMA(a, b, -p)}
}

func (a double) plus(b double) double {
	s, t := sum(a.hi, b.hi), sum(a.lo, b.lo)
	s = quickSum(s.hi, s.lo+t.hi)
	return quickSum(s.hi, s.lo+t.lo)
}

func (a double) times(b double) double {
	p := product(a.hi, b.hi)
	return quickSum(p.hi, p.lo+(float64(a.hi*b.lo)+float64(a.lo*b.hi)))
}

func (a double) scaled(f float64) double {
	p := product(a.hi, f)
	return quickSum(p.hi, p.lo+float64(a.lo*f))
}

func (a double) over(b double) double {
	quotient := double{}
	for range 3 {
		q := a.hi / b.hi
		a = a.plus(b.scaled(-q))
		quotient = quotient.plus(double{hi: q})
	}
	return quotient
}

// reciprocals gives 1/n for integers that float64 holds exactly.
func reciprocals(integers ...float64) []double {
	inverse := make([]double, len(integers))
	for i, n := range integers {
		inverse[i] = double{hi: 1}.over(double{hi: n})
	}
	return inverse
}

// series evaluates Σ terms[i]·xⁱ. The last plain terms must be so small, relative to the sum, that
// a float64 is exact enough for them.
func series(terms []double, plain int, x double) double {
	split := len(terms) - plain
	tail := 0.0
	for i := len(terms) - 1; i >= split; i-- {
		tail = float64(tail*x.hi) + terms[i].hi
	}
	value := double{hi: tail}
	for i := split - 1; i >= 0; i-- {
		value = value.times(x).plus(terms[i])
	}
	return value
}
