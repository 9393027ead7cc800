package main

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// numbers is how many numbers of a run are gated.
const numbers = 3

// A factor is the logarithm of what noise makes of each gated number of a run; worse is above 0.
type factor [numbers]float64

// A noise is what makes runs of one configuration differ. It begins a session of so many runs,
// which gives the factor of one run after the other.
type noise struct {
	name  string
	begin func(chance *rand.Rand, runs int) func(slot) factor
}

// models are the noises of formulas. Percentages are standard deviations or sizes.
func models() []noise {
	return []noise{
		independent(0.01), independent(0.03), independent(0.05), independent(0.08),
		{"AR(1) 0.8, 3 %", autoregressive(0.8, 0.03)},
		{"AR(1) 0.8, 5 %", autoregressive(0.8, 0.05)},
		{"drift 10 %, 1 %", drifting(0.10)},
		{"drift 20 %, 1 %", drifting(0.20)},
		{"step 15 %, 1 %", stepping(0.15)},
		{"starts 3 %, runs 1 %", ofStarts(0.03)},
		{"starts 5 %, runs 1 %", ofStarts(0.05)},
		{"days 1 %, runs 3 %", ofDays(0.01, 0.03)},
		{"days 3 %, runs 1 %", ofDays(0.03, 0.01)},
		{"sticky bimodal 8 %", bimodal(0.08)},
		{"sticky bimodal 15 %", bimodal(0.15)},
		{"heavy tails, t with 2 df", heavyTailed},
		{"a tenth of runs +30 %", outliers},
		{"old 1 %, new 6 %", unequal},
	}
}

func normals(chance *rand.Rand, sd float64) (f factor) {
	for i := range f {
		f[i] = sd * chance.NormFloat64()
	}
	return f
}

// all adds the same to all numbers: what befalls a machine befalls all of them.
func (f factor) all(add float64) factor {
	for i := range f {
		f[i] += add
	}
	return f
}

func independent(sd float64) noise {
	return noise{fmt.Sprintf("iid %.0f %%", sd*100), func(chance *rand.Rand, _ int) func(slot) factor {
		return func(slot) factor { return normals(chance, sd) }
	}}
}

// autoregressive noise remembers the share rho of its last value; one value has the standard deviation sd.
func autoregressive(rho, sd float64) func(*rand.Rand, int) func(slot) factor {
	return func(chance *rand.Rand, _ int) func(slot) factor {
		last := normals(chance, sd)
		return func(slot) factor {
			fresh := normals(chance, sd*math.Sqrt(1-rho*rho))
			for i := range last {
				last[i] = rho*last[i] + fresh[i]
			}
			return last
		}
	}
}

// drifting noise gets worse by that share from the first run to the last, evenly.
func drifting(share float64) func(*rand.Rand, int) func(slot) factor {
	return func(chance *rand.Rand, runs int) func(slot) factor {
		i := -1
		return func(slot) factor {
			i++
			return normals(chance, 0.01).all(math.Log1p(share) * float64(i) / float64(runs-1))
		}
	}
}

// stepping noise gets worse by that share at a random moment of the session, all of it equally likely. The
// run of that moment has its part.
func stepping(share float64) func(*rand.Rand, int) func(slot) factor {
	return func(chance *rand.Rand, runs int) func(slot) factor {
		moment, i := chance.Float64()*float64(runs), 0.0
		return func(slot) factor {
			i++
			return normals(chance, 0.01).all(math.Log1p(share) * min(1, max(0, i-moment)))
		}
	}
}

// ofStarts is an effect of each server start on all of its runs.
func ofStarts(sd float64) func(*rand.Rand, int) func(slot) factor {
	return func(chance *rand.Rand, _ int) func(slot) factor {
		effects := map[int]float64{}
		return func(s slot) factor {
			if _, known := effects[s.start]; !known {
				effects[s.start] = sd * chance.NormFloat64()
			}
			return normals(chance, 0.01).all(effects[s.start])
		}
	}
}

// ofDays is an effect of each day on all of its runs, and the noise of runs. Without days it is the
// same on both sides.
func ofDays(sd, runs float64) func(*rand.Rand, int) func(slot) factor {
	return func(chance *rand.Rand, _ int) func(slot) factor {
		effect := sd * chance.NormFloat64()
		return func(slot) factor { return normals(chance, runs).all(effect) }
	}
}

// bimodal noise has each number in one of two states, which changes before one run in ten.
func bimodal(share float64) func(*rand.Rand, int) func(slot) factor {
	return func(chance *rand.Rand, _ int) func(slot) factor {
		var slow [numbers]bool
		for i := range slow {
			slow[i] = chance.IntN(2) == 0
		}
		return func(slot) factor {
			f := normals(chance, 0.01)
			for i := range f {
				if chance.IntN(10) == 0 {
					slow[i] = !slow[i]
				}
				if slow[i] {
					f[i] += math.Log1p(share)
				}
			}
			return f
		}
	}
}

func heavyTailed(chance *rand.Rand, _ int) func(slot) factor {
	return func(slot) factor {
		f := normals(chance, 0.02)
		for i := range f {
			f[i] /= math.Sqrt(chance.ExpFloat64()) // half of a chi-squared value with two degrees of freedom
		}
		return f
	}
}

func outliers(chance *rand.Rand, _ int) func(slot) factor {
	return func(slot) factor {
		f := normals(chance, 0.03)
		if chance.IntN(10) == 0 {
			f = f.all(math.Log(1.3))
		}
		return f
	}
}

func unequal(chance *rand.Rand, _ int) func(slot) factor {
	return func(s slot) factor {
		if s.new {
			return normals(chance, 0.06)
		}
		return normals(chance, 0.01)
	}
}
