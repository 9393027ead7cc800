package stats

import "math"

// A Step is a change at one moment within a side: by how much the values from At on differ from those
// before. The zero value is no step.
type Step struct {
	Estimate     // of the values that do not differ in another way
	In, At   int // the side, and the first value behind the step, from 0
	// P bounds how likely chance alone makes a step as clear anywhere in the sides, up or down: it is
	// the chance of this one times the number of places (Bonferroni).
	P float64
}

// ClearestStep is the clearest step within one of the sides, each in the order of time: the least
// squares of value = mean of its side + step·(from there on). What the sides differ by is no step.
func ClearestStep(sides ...[]float64) Step {
	squares, df, places := 0.0, -1.0, 0
	best, side, at := 0.0, -1, 0 // best is what the step explains of the squares
	var size, share float64
	for i, values := range sides {
		n := len(values)
		if n == 0 {
			continue
		}
		df += float64(n - 1)
		places += n - 1
		mean := 0.0
		for _, v := range values {
			mean += v / float64(n)
		}
		after := 0.0 // sum of the values from k on, from their mean
		for k := n - 1; k >= 0; k-- {
			d := values[k] - mean
			squares += d * d
			after += d
			behind, before := float64(n-k), float64(k)
			if k > 0 && after*after*float64(n)/(behind*before) > best {
				best, side, at = after*after*float64(n)/(behind*before), i, k
				size, share = after/behind+after/before, 1/behind+1/before
			}
		}
	}
	if side < 0 || df < 1 {
		return Step{P: 1}
	}
	step := Estimate{size, math.Sqrt(max(0, squares-best) / df * share), df}
	p := 2 * min(step.Above(0), step.Below(0))
	return Step{step, side, at, min(1, p*float64(places))}
}
