package media

import "testing"

func TestQuantiseDivides(t *testing.T) {
	for _, s := range []*steps{lumaQuality, chromaQuality} {
		for at := range uint8(64) {
			step := int32(s.half[at]) * 2
			for size := range int32(1 << 16) {
				want := (size + step/2) / step
				if got := s.quantise(size, at); got != want {
					t.Fatalf("%d in steps of %d: %d, want %d", size, step, got, want)
				}
				if got := s.quantise(-size, at); got != -want {
					t.Fatalf("%d in steps of %d: %d, want %d", -size, step, got, -want)
				}
			}
		}
	}
}
