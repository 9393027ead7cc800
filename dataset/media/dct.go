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

// transform is the discrete cosine transform in place, 8 times as large, with the rounding of the
// reference implementation of JPEG.
func (b *block) transform() {
	for row := 0; row < 64; row += 8 {
		s := (*[8]int32)(b[row : row+8])
		even, odd := butterflies(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7])
		s[0] = (even[0] + even[1]) << rowBits
		s[4] = (even[0] - even[1]) << rowBits
		s[2], s[6] = turned(even, cosBits-rowBits)
		s[1], s[3], s[5], s[7] = mixed(odd, cosBits-rowBits)
	}
	for c := range 8 {
		s := b[c:]
		even, odd := butterflies(s[0], s[8], s[16], s[24], s[32], s[40], s[48], s[56])
		s[0] = rounded(even[0]+even[1], rowBits)
		s[32] = rounded(even[0]-even[1], rowBits)
		s[16], s[48] = turned(even, cosBits+rowBits)
		s[8], s[24], s[40], s[56] = mixed(odd, cosBits+rowBits)
	}
}

// butterflies are the sums and differences of samples that mirror each other: even coefficients are
// made of the first result, odd ones of the second.
func butterflies(s0, s1, s2, s3, s4, s5, s6, s7 int32) (even, odd [4]int32) {
	a, b, c, d := s0+s7, s1+s6, s2+s5, s3+s4
	return [4]int32{a + d, b + c, b - c, a - d}, [4]int32{s3 - s4, s2 - s5, s1 - s6, s0 - s7}
}

// turned are the second and the sixth coefficient.
func turned(even [4]int32, bits int) (second, sixth int32) {
	z := (even[2] + even[3]) * cos0541
	return rounded(z+even[3]*cos0765, bits), rounded(z-even[2]*cos1847, bits)
}

// mixed are the odd coefficients.
func mixed(odd [4]int32, bits int) (first, third, fifth, seventh int32) {
	a, b, c, d := odd[0], odd[1], odd[2], odd[3]
	all := (a + b + c + d) * cos1175
	ad, bc := -(a+d)*cos0899, -(b+c)*cos2562
	ac, bd := all-(a+c)*cos1961, all-(b+d)*cos0390
	return rounded(d*cos1501+ad+bd, bits), rounded(c*cos3072+bc+ac, bits), rounded(b*cos2053+bc+bd, bits), rounded(a*cos0298+ad+ac, bits)
}

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
