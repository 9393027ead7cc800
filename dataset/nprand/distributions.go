package nprand

import "math"

// A Uniform draws from [0, 1). RandomState and Python are uniforms.
type Uniform interface{ Random() float64 }

// Zipf draws from 1, 2, … with probabilities in proportion to k^−a, a > 1, as numpy's legacy
// generator does: by Devroye's rejection, "Non-Uniform Random Variate Generation", 1986, X.6.1.
func Zipf(u Uniform, a float64) int64 {
	if a >= 1025 {
		return 1
	}
	less := a - 1
	b := Pow(2, less)
	for {
		x := math.Floor(Pow(1-u.Random(), -1/less))
		v := u.Random()
		if !(x >= 1 && x < 1<<63) {
			continue
		}
		t := Pow(1+1/x, less)
		if v*x*(t-1)/(b-1) <= t/b {
			return int64(x)
		}
	}
}

// Poisson draws a count whose mean is mean, which is not negative, as numpy does.
func Poisson(u Uniform, mean float64) int64 {
	switch {
	case mean >= 10:
		return poissonRejected(u, mean)
	case mean == 0:
		return 0
	}
	limit := Exp(-mean)
	product := u.Random()
	k := int64(0)
	for ; product > limit; k++ {
		product *= u.Random()
	}
	return k
}

// poissonRejected is Hörmann's PTRS: "The transformed rejection method for generating Poisson
// random variables", 1993.
func poissonRejected(r Uniform, mean float64) int64 {
	root, logMean := math.Sqrt(mean), Log(mean)
	b := 0.931 + float64(2.53*root)
	a := -0.059 + float64(0.02483*b)
	inverse := 1.1239 + 1.1328/(b-3.4)
	accept := 0.9277 - 3.6224/(b-2)
	for {
		u := r.Random() - 0.5
		v := r.Random()
		us := 0.5 - math.Abs(u)
		k := math.Floor(float64((2*a/us+b)*u) + mean + 0.43)
		if us >= 0.07 && v <= accept {
			return int64(k)
		}
		if k < 0 || us < 0.013 && v > us {
			continue
		}
		left := Log(v) + Log(inverse) - Log(a/float64(us*us)+b)
		if left <= -mean+float64(k*logMean)-logGamma(k+1) {
			return int64(k)
		}
	}
}

// stirling are the coefficients of Stirling's series of the logarithm of the gamma function, from
// the last to the first, as in Zhang and Jin, "Computation of Special Functions", 1996.
var stirling = [10]float64{
	-1.392432216905900e+00, 1.796443723688307e-01, -2.955065359477124e-02, 6.410256410256410e-03, -1.917526917526918e-03,
	8.417508417508418e-04, -5.952380952380952e-04, 7.936507936507937e-04, -2.777777777777778e-03, 8.333333333333333e-02,
}

// logGamma is the logarithm of the gamma function at x ≥ 1, with numpy's rounding errors.
func logGamma(x float64) float64 {
	if x == 1 || x == 2 {
		return 0
	}
	steps := 0.
	if x < 7 {
		steps = math.Floor(7 - x)
	}
	above := x + steps
	inverse := (1 / above) * (1 / above)
	sum := stirling[0]
	for _, c := range stirling[1:] {
		sum = float64(sum*inverse) + c
	}
	const logTwoPi = 1.8378770664093453
	log := sum/above + float64(0.5*logTwoPi) + float64((above-0.5)*Log(above)) - above
	for range int(steps) {
		log -= Log(above - 1)
		above--
	}
	return log
}
