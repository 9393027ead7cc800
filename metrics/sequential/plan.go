package sequential

import (
	"math/rand/v2"
	"slices"
)

// A Design is what to expect of a Rule before the first pair.
type Design struct {
	Alike Expected // if no number has changed
	Worse Expected // if the number that is hardest to tell is worse by as much as must be excluded
}

// Expected is what to expect of a Rule for known true changes.
type Expected struct {
	Right  float64 // chance of the right decision by the most pairs
	Mean   float64 // pairs
	Median int     // pairs
	Likely int     // pairs by which there is a decision with a chance of Likely; 0 if by none
}

// Plan predicts what the Rule does to numbers whose pairs have a standard deviation of Err. Their Values
// do not count. The seed is fixed.
func (r *Rule) Plan(numbers []Number) Design {
	return Design{Alike: r.expect(numbers, -1, fine), Worse: r.expect(numbers, hardest(numbers), worse)}
}

// hardest is the place of the number whose change drowns most in its noise.
func hardest(numbers []Number) (at int) {
	for i, n := range numbers {
		if n.Err*numbers[at].Excluded > numbers[at].Err*n.Excluded {
			at = i
		}
	}
	return at
}

// expect simulates numbers of which one has changed; none if it is below 0.
func (r *Rule) expect(numbers []Number, changed int, right outcome) Expected {
	numbers = slices.Clone(numbers)
	for i := range numbers {
		if numbers[i].Value = 0; i == changed {
			numbers[i].Value = numbers[i].Excluded
		}
	}
	ended := r.simulate(0, numbers, func(_ *rand.Rand, n Number) truth { return truth{n.Value, n.Err} })
	e := Expected{Right: ended.chance(right, r.Most)}
	for n := range r.Most {
		e.Mean += 1 - ended.decided(n)
		if e.Median == 0 && ended.decided(n+1) >= 0.5 {
			e.Median = n + 1
		}
		if e.Likely == 0 && ended.decided(n+1) >= Likely {
			e.Likely = n + 1
		}
	}
	return e
}

// Fixed is the fewest pairs, from the first on, that decide rightly with a chance of Likely in both cases of a
// Plan if nobody looks before all are there. It is 0 if that takes more than the most.
func Fixed(worse, fine float64, numbers []Number, first, most int) int {
	enough := func(pairs int) bool {
		p := NewRule(worse, fine, pairs, pairs).Plan(numbers)
		return min(p.Alike.Right, p.Worse.Right) >= Likely
	}
	low, high := first-1, first // enough is false at low, as far as known
	for !enough(high) {
		if low, high = high, 2*high; low >= most {
			return 0
		}
	}
	for high-low > 1 {
		if middle := (low + high) / 2; enough(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	if high > most {
		return 0
	}
	return high
}
