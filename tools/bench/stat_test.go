package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestPercentileIsTheNearestRank(t *testing.T) {
	ten := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	for _, test := range []struct {
		sorted []float64
		p      float64
		want   float64
	}{
		{ten, 0, 1}, {ten, 10, 1}, {ten, 10.1, 2}, {ten, 50, 5}, {ten, 99, 10}, {ten, 100, 10},
		{[]float64{7}, 10, 7}, {[]float64{7}, 99.9, 7}, {nil, 50, 0},
	} {
		if got := percentile(test.sorted, test.p); got != test.want {
			t.Errorf("p%v of %v is %v, want %v", test.p, test.sorted, got, test.want)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   float64
	}{{[]float64{3, 1, 2}, 2}, {[]float64{4, 1, 2, 30}, 3}, {[]float64{5}, 5}, {nil, 0}} {
		if got := median(test.values); got != test.want {
			t.Errorf("median of %v is %v, want %v", test.values, got, test.want)
		}
	}
}

const stat = `cpu  796523 7 108902 1217383 31066 5 6360 2027 100 0
cpu0 385104 3 51422 634715 6026 2 2781 987 50 0
cpu1 411419 4 57479 582667 25040 3 3578 1039 50 0
intr 21487849 0 0
ctxt 51489021
`

func TestBusyIsAllButIdleTime(t *testing.T) {
	for name, want := range map[string]time.Duration{
		"cpu":  (796523 + 7 + 108902 + 5 + 6360 + 2027) * 10 * time.Millisecond,
		"cpu1": (411419 + 4 + 57479 + 3 + 3578 + 1039) * 10 * time.Millisecond,
	} {
		if got, err := parseBusy(stat, name); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", name, got, err, want)
		}
	}
	for _, broken := range []string{"", strings.ReplaceAll(stat, "cpu1", "cpu9"), strings.ReplaceAll(stat, "57479", "many"), "cpu1 1 2 3\n"} {
		if got, err := parseBusy(broken, "cpu1"); err == nil {
			t.Errorf("%v of %q", got, broken)
		}
	}
}

func TestWhenAnEventWasWrittenIsItsTextsFirstNumber(t *testing.T) {
	for text, want := range map[string]int64{
		"1795176277123456789 1795176277000000000 1200": 1795176277123456789, "42": 42, "": 0, "hello": 0, " 7": 0,
	} {
		if got := written(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
		if got := written([]byte(text)); got != want {
			t.Errorf("bytes of %q: %d, want %d", text, got, want)
		}
	}
}

func TestVerdictsAtTheirBounds(t *testing.T) {
	for _, test := range []struct{ got, want verdict }{
		{atMost(1.7, 1.7), met}, {atMost(1.7001, 1.7), missed}, {atLeast(1.5, 1.5), met}, {atLeast(1.4999, 1.5), missed},
		{atMost(math.NaN(), 1), missed}, {atLeast(math.NaN(), 1), missed},
	} {
		if test.got != test.want {
			t.Errorf("got %s, want %s", test.got, test.want)
		}
	}
}

func TestTableCountsItsVerdicts(t *testing.T) {
	var out strings.Builder
	table := &table{w: &out, n: make(map[verdict]int)}
	table.add("some", []row{{"floor", "3700 ns", "", none}, {"ours", "1.6 × floor", "≤ 1.7", met}})
	table.add("more", []row{{"late", "3 ms", "≤ 2 ms", missed}, {"many", "no room", "no error", void}})
	table.sum()
	want := `some
  floor  3700 ns             
  ours   1.6 × floor  ≤ 1.7  met

more
  late  3 ms     ≤ 2 ms    missed
  many  no room  no error  void

1 targets met, 1 missed, 1 void
`
	if out.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", out.String(), want)
	}
}
