package plot

import (
	"math"
	"strconv"
)

// A tick is a mark of an axis.
type tick struct {
	at   float64
	text string
}

// ticks are about n marks of the axis.
func (a *Axis) ticks(n int) (ticks []tick) {
	switch a.Scale {
	case Category:
		for i, name := range a.Names {
			ticks = append(ticks, tick{float64(i), name})
		}
	case Percentile:
		for t := 0.0; t <= a.Max; t = math.Floor(t) + 1 {
			ticks = append(ticks, tick{t, percentText(t)})
			if t == 0 {
				ticks = append(ticks, tick{math.Log10(2), "50"})
			}
		}
	case Log:
		if ticks = a.decades(); len(ticks) < 3 {
			return a.steps(n)
		}
	default:
		return a.steps(n)
	}
	return ticks
}

// decades are the marks of a Log axis: 1, 2 and 5 times each power of ten, or only the powers
// of many decades.
func (a *Axis) decades() (ticks []tick) {
	digits := []float64{1, 2, 5}
	if a.Max/a.Min > 2000 {
		digits = digits[:1]
	}
	for decade := math.Floor(math.Log10(a.Min)); decade <= math.Log10(a.Max); decade++ {
		for _, digit := range digits {
			if at := digit * math.Pow(10, decade); at >= a.Min && at <= a.Max {
				ticks = append(ticks, tick{at, strconv.FormatFloat(at, 'f', -1, 64)})
			}
		}
	}
	return ticks
}

// steps are about n marks at even distances.
func (a *Axis) steps(n int) (ticks []tick) {
	step := even((a.Max - a.Min) / float64(n))
	for i := math.Ceil(a.Min / step); i*step <= a.Max; i++ {
		ticks = append(ticks, tick{i * step, strconv.FormatFloat(i*step, 'f', max(0, -int(math.Floor(math.Log10(step)))),
			64)})
	}
	return ticks
}

// percentText is the percentile at a position of a Percentile axis.
func percentText(t float64) string {
	return strconv.FormatFloat(100-100*math.Pow(10, -t), 'f', max(0, int(t)-2), 64)
}

// even is the smallest number that is at least v and 1, 2 or 5 times a power of ten. v
// must be positive.
func even(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, digit := range []float64{1, 2, 5} {
		if digit*power >= v*(1-1e-9) {
			return digit * power
		}
	}
	return 10 * power
}

// place is where a value lies along the axis, from 0 to 1.
func (a *Axis) place(v float64) float64 {
	least, most := a.Min, a.Max
	if a.Scale == Log {
		least, most, v = math.Log10(least), math.Log10(most), math.Log10(v)
	}
	at := (v - least) / (most - least)
	if a.Down {
		return 1 - at
	}
	return at
}
