package nprand

import "math"

// Log is the natural logarithm, correctly rounded: evaluated to some 100 bits, it is the nearest
// float64 except for about one argument in 2⁴⁵. The C library of Linux misses it for some 9 in 10
// 000 arguments, and Go's for many more.
func Log(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return math.Log(x)
	}
	return logarithm(x).hi
}

// Pow is x to the power of y, correctly rounded as Log is, if the result is not subnormal and not
// midway between two float64. Special cases are those in math.Pow.
func Pow(x, y float64) float64 {
	switch {
	case y == 1:
		return x
	case y == 2:
		return x * x
	case !(x > 0) || x == 1 || y == 0 || math.IsInf(x, 1) || math.IsInf(y, 0) || math.IsNaN(y):
		return math.Pow(x, y)
	}
	exponent := logarithm(x).scaled(y)
	if !(math.Abs(exponent.hi) < expLimit) {
		return math.Exp(exponent.hi)
	}
	return exponential(exponent)
}

// Exp is e to the power of x, correctly rounded as Log is, if the result is not subnormal.
func Exp(x float64) float64 {
	if x == 0 || !(math.Abs(x) < expLimit) {
		return math.Exp(x)
	}
	return exponential(double{hi: x})
}

const expLimit = 750 // beyond it, results are 0 or infinite

// ln2 is the logarithm of two. The difference of the two constants is taken
// exactly, by the compiler.
var ln2 = double{0x1.62e42fefa39efp-1, math.Ln2 - 0x1.62e42fefa39efp-1}

// oddReciprocals are the coefficients of the series of atanh(s)/s in s².
var oddReciprocals = reciprocals(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 33, 35, 37, 39, 41, 43)

// factorialReciprocals are the coefficients of the exponential series, up to the
// last factorial that float64 holds exactly.
var factorialReciprocals = reciprocals(1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880, 3628800, 39916800,
	479001600, 6227020800, 87178291200, 1307674368000, 20922789888000, 355687428096000, 6402373705728000,
	121645100408832000, 2432902008176640000, 51090942171709440000, 1124000727777607680000)

// logarithm is ln x for finite x > 0. With x = m·2ᵉ and m close to 1, it is e·ln 2 + 2·atanh(s), s
// = (m − 1)/(m + 1) and thus |s| < 0.172.
func logarithm(x float64) double {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	s := double{hi: m - 1}.over(sum(m, 1))
	atanh := series(oddReciprocals, 11, s.times(s)).times(s)
	return ln2.scaled(float64(e)).plus(double{2 * atanh.hi, 2 * atanh.lo})
}

// exponential is e to the power of x, |x| < expLimit. The series runs over the rest of x after
// whole multiples of ln 2: at most 0.35.
func exponential(x double) float64 {
	k := math.Round(x.hi / ln2.hi)
	rest := x.plus(ln2.scaled(-k))
	return math.Ldexp(series(factorialReciprocals, 9, rest).hi, int(k))
}
