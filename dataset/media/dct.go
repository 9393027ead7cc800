package media

// A block is 8 by 8 samples or coefficients, row by row.
type block [64]int32

// The cosines of Loeffler, Ligtenberg and Moschytz, "Practical Fast 1-D DCT Algorithms with 11
// Multiplications", 1989, in units of 2⁻¹³.
const (
	cos0298 = 2446
	cos0390 = 3196
	cos0541 = 4433
	cos0765 = 6270
	cos0899 = 7373
	cos1175 = 9633
	cos1501 = 12299
	cos1847 = 15137
	cos1961 = 16069
	cos2053 = 16819
	cos2562 = 20995
	cos3072 = 25172

	cosBits = 13
	rowBits = 2 // that the values have more between the rows and the columns
)

// rounded is v without its last bits, rounded.
func rounded(v int32, bits int) int32 { return (v + 1<<(bits-1)) >> bits }

// restore is the inverse transform. It writes 8 rows of samples, which begin stride apart.
func (b *block) restore(to []byte, stride int) {
	for c := range 8 {
		s := b[c:]
		r := inverted(s[0], s[8], s[16], s[24], s[32], s[40], s[48], s[56])
		for i, v := range r {
			s[8*i] = rounded(v, cosBits-rowBits)
		}
	}
	for row := range 8 {
		s := b[8*row:]
		r := inverted(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7])
		for i, v := range r {
			to[row*stride+i] = clamped(rounded(v, cosBits+rowBits+3) + 128)
		}
	}
}

// inverted is the inverse transform of eight coefficients.
func inverted(s0, s1, s2, s3, s4, s5, s6, s7 int32) [8]int32 {
	z := (s2 + s6) * cos0541
	low, high := z-s6*cos1847, z+s2*cos0765
	sum, difference := (s0+s4)<<cosBits, (s0-s4)<<cosBits
	a, b, c, d := sum+high, difference+low, difference-low, sum-high
	all := (s7 + s3 + s5 + s1) * cos1175
	ends, middles := -(s7+s1)*cos0899, -(s5+s3)*cos2562
	odd, other := all-(s7+s3)*cos1961, all-(s5+s1)*cos0390
	e, f := s7*cos0298+ends+odd, s5*cos2053+middles+other
	g, h := s3*cos3072+middles+odd, s1*cos1501+ends+other
	return [8]int32{a + h, b + g, c + f, d + e, d - e, c - f, b - g, a - h}
}
