package speed

import (
	"math"
	"testing"
)

func TestLengthsFollowTheirDistribution(t *testing.T) {
	logNormal := Lengths{Median: 80, Sigma: 1, Low: 1, High: 1 << 20}
	normal := Lengths{First: []int{7, 9}, Mean: 100, SD: 10, Low: 85, High: 1000}
	const n, stride = 10_000, math.Phi - 1
	sum, below := 0.0, 0
	for i := range int64(n) {
		sum += float64(normal.At(i, stride))
		if logNormal.At(i, stride) <= 80 {
			below++
		}
	}
	if below < n/2-60 || below > n/2+60 { // the median and what rounds to it
		t.Errorf("%d of %d lengths are up to the median", below, n)
	}
	if mean := sum / n; mean < 100 || mean > 100.5 { // cut below at 1.5 standard deviations
		t.Errorf("the mean is %v", mean)
	}
	if normal.At(0, stride) != 7 || normal.At(1, stride) != 9 {
		t.Error("the first lengths are not those that are given")
	}
}
