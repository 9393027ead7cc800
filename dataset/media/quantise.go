package media

// steps are the quantisation steps of a component.
type steps struct {
	half       [64]uint32 // half of a step, in the 8 times larger units of a transform
	reciprocal [64]uint32 // 2³² over a step in these units, rounded up
}

// newSteps are the steps of quality 75: half of the given ones.
func newSteps(table *[64]byte) *steps {
	s := new(steps)
	for i, step := range table {
		step := (uint32(step)*50 + 50) / 100
		s.half[i], s.reciprocal[i] = 4*step, (1<<32-1)/(8*step)+1
	}
	return s
}

// quantise is coefficient number at in steps, rounded, with halves away from zero. It is exact for
// coefficients below 2¹⁶ in size; larger ones do not occur.
func (s *steps) quantise(v int32, at uint8) int32 {
	sign := v >> 31
	size := uint32((v ^ sign) - sign)
	whole := uint64(size+s.half[at&63]) * uint64(s.reciprocal[at&63]) >> 32
	return (int32(whole) ^ sign) - sign
}

// The tables of ITU-T T.81, K.1, row by row.
var (
	lumaQuality = newSteps(&[64]byte{
		16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29, 51, 87, 80, 62,
		18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
	})
	chromaQuality = newSteps(&[64]byte{
		17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99, 99, 99, 99, 99,
		99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99,
	})
)
