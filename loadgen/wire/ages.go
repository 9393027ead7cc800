package wire

import (
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/servebench/servebench/metrics"
)

const (
	ageShift = 4  // 2^ageShift buckets a power of two
	ageLow   = 8  // ages under 2^ageLow ns share one bucket
	ageHigh  = 45 // and so do ages over 2^ageHigh ns, which is 10 h
)

// ages counts durations in log-linear buckets, each with one atomic addition. The zero value is
// empty.
type ages [1 + (ageHigh-ageLow)<<ageShift + 1]atomic.Int64

func (a *ages) add(age time.Duration) { a[bucket(age)].Add(1) }

// bucket is the index of age: the power of two, then the bits that follow the
// highest one.
func bucket(age time.Duration) int {
	if age < 1<<ageLow {
		return 0
	}
	power := bits.Len64(uint64(age)) - 1
	if power >= ageHigh {
		return len(ages{}) - 1
	}
	step := int(age>>(power-ageShift)) & (1<<ageShift - 1)
	return 1 + (power-ageLow)<<ageShift + step
}

// middle is the age that represents bucket i.
func middle(i int) time.Duration {
	switch i {
	case 0:
		return 1 << ageLow / 2
	case len(ages{}) - 1:
		return 1 << ageHigh
	}
	power, step := ageLow+(i-1)>>ageShift, (i-1)&(1<<ageShift-1)
	width := time.Duration(1) << (power - ageShift)
	return 1<<power + time.Duration(step)*width + width/2
}

func (a *ages) total() int64 {
	n := int64(0)
	for i := range a {
		n += a[i].Load()
	}
	return n
}

func (a *ages) reset() {
	for i := range a {
		a[i].Store(0)
	}
}

func (a *ages) histogram() *hdrhistogram.Histogram {
	h := metrics.NewHistogram()
	for i := range a {
		if n := a[i].Load(); n > 0 {
			// It is in range, so this cannot fail.
			_ = h.RecordValues(min(int64(middle(i)), h.HighestTrackableValue()), n)
		}
	}
	return h
}
