package wire

import (
	"testing"
	"time"
)

func TestAnAgeIsKeptToFourPercent(t *testing.T) {
	for age := time.Duration(256); age < 8*time.Hour; age += age/40 + 1 {
		got := middle(bucket(age))
		if off := (got - age).Abs(); float64(off) > 0.04*float64(age) {
			t.Fatalf("%v is kept as %v", age, got)
		}
	}
	for i := range len(ages{}) {
		if bucket(middle(i)) != i {
			t.Errorf("bucket %d stands for %v, which is in bucket %d", i, middle(i), bucket(middle(i)))
		}
	}
	for _, age := range []time.Duration{0, 1, 255} {
		if bucket(age) != 0 {
			t.Errorf("%v is in bucket %d", age, bucket(age))
		}
	}
	if last := bucket(1 << 62); last != len(ages{})-1 {
		t.Errorf("the longest age is in bucket %d", last)
	}
}

func TestTheHistogramOfAgesHoldsAllOfThem(t *testing.T) {
	var a ages
	for _, age := range []time.Duration{0, time.Microsecond, time.Millisecond, time.Millisecond, time.Second, 100 * time.Hour} {
		a.add(age)
	}
	h := a.histogram()
	if h.TotalCount() != 6 || a.total() != 6 || h.Max() < int64(7*time.Hour) {
		t.Errorf("%d ages, the longest %v", h.TotalCount(), time.Duration(h.Max()))
	}
	if p50 := time.Duration(h.ValueAtPercentile(50)); (p50 - time.Millisecond).Abs() > 40*time.Microsecond {
		t.Errorf("median %v", p50)
	}
	if a.reset(); a.total() != 0 {
		t.Errorf("%d ages after a reset", a.total())
	}
}
