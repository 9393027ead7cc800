package dataset

import (
	"fmt"
	"math"
)

// A RangeRatio says how far lengths may be from the ones asked for: a length n is
// drawn from ⌊n(1−r)⌋ to ⌈n(1+r)⌉. Each ratio is at least 0 and below 1; at 0 all
// lengths are equal.
type RangeRatio struct{ Input, Output float64 }

func (r RangeRatio) check() error {
	for _, v := range []float64{r.Input, r.Output} {
		if !(v >= 0 && v < 1) {
			return fmt.Errorf("%v is not at least 0 and below 1", v)
		}
	}
	return nil
}

// A span is a range of lengths or ids, both ends included.
type span struct{ low, high int }

// around is the span of lengths around n.
func around(n int, ratio float64) span {
	return span{int(math.Floor(float64(n) * (1 - ratio))), int(math.Ceil(float64(n) * (1 + ratio)))}
}
