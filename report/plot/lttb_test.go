package plot

import (
	"math"
	"slices"
	"testing"
)

func TestThinKeepsSpikesAndEnds(t *testing.T) {
	for _, n := range []int{100, 101, 9999} {
		x, y := make([]float64, 10000), make([]float64, 10000)
		for i := range x {
			x[i], y[i] = float64(i), math.Sin(float64(i)/500)
		}
		y[1234], y[7777] = 50, -50
		gotX, gotY := thin(x, y, n)
		if len(gotX) != n || len(gotY) != n {
			t.Errorf("%d points, want %d", len(gotX), n)
		}
		if !slices.IsSorted(gotX) || gotX[0] != 0 || gotX[n-1] != 9999 {
			t.Errorf("x from %g to %g", gotX[0], gotX[n-1])
		}
		if !slices.Contains(gotY, 50) || !slices.Contains(gotY, -50) {
			t.Errorf("a spike is lost among %d points", n)
		}
	}
}

// The middle part has (2, 1) and (3, 2). With (0, 0) and the last, (4, 0), their
// triangles have areas of 2 and 4.
func TestThinTakesTheLargestTriangle(t *testing.T) {
	x, y := thin([]float64{0, 2, 3, 4}, []float64{0, 1, 2, 0}, 3)
	if !slices.Equal(x, Numbers{0, 3, 4}) || !slices.Equal(y, Numbers{0, 2, 0}) {
		t.Errorf("got %v %v", x, y)
	}
}

func TestThinLeavesFewAlone(t *testing.T) {
	x, y := thin([]float64{1, 2}, []float64{3, 4}, 3)
	if !slices.Equal(x, Numbers{1, 2}) || !slices.Equal(y, Numbers{3, 4}) {
		t.Errorf("got %v %v", x, y)
	}
}
