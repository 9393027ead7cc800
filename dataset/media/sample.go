package media

// sample fills the components with the row of MCUs that begins at the pixels' row top.
func (e *encoder) sample(top int) {
	rows := min(16, e.Height-top)
	for y := 0; y < rows; y += 2 {
		for i := range 2 {
			line := min(y+i, rows-1) // an odd last row counts twice
			e.convert(top+line, e.y.samples[(y+i)*e.y.stride:], e.wide[2*i], e.wide[2*i+1])
		}
		halve(e.colour[0].samples[y/2*e.colour[0].stride:], e.wide[0], e.wide[2])
		halve(e.colour[1].samples[y/2*e.colour[1].stride:], e.wide[1], e.wide[3])
	}
	e.y.repeat(rows, 16)
	for i := range e.colour {
		e.colour[i].repeat((rows+1)/2, 8)
	}
}

// repeat fills the rows from have to want with the last row before them.
func (c *component) repeat(have, want int) {
	last := c.samples[(have-1)*c.stride : have*c.stride]
	for y := have; y < want; y++ {
		copy(c.samples[y*c.stride:], last)
	}
}

// convert writes row number line as Y, Cb and Cr, in the integers of the reference implementation of
// JPEG. The last pixel fills the rest of the MCU.
func (e *encoder) convert(line int, ys, cbs, crs []byte) {
	width := 16 * e.mcus
	rgb := e.RGB[3*e.Width*line : 3*e.Width*(line+1)]
	ys, cbs, crs = ys[:width], cbs[:width], crs[:width]
	x := 0
	for ; len(rgb) >= 3; rgb = rgb[3:] {
		r, g, b := int32(rgb[0]), int32(rgb[1]), int32(rgb[2])
		ys[x] = byte((19595*r + 38470*g + 7471*b + 32768) >> 16)
		cbs[x] = byte((-11059*r - 21709*g + 32768*b + 8388608 + 32767) >> 16)
		crs[x] = byte((32768*r - 27439*g - 5329*b + 8388608 + 32767) >> 16)
		x++
	}
	y, cb, cr := ys[x-1], cbs[x-1], crs[x-1]
	for ; x < width; x++ {
		ys[x], cbs[x], crs[x] = y, cb, cr
	}
}

// halve writes the means of squares of four samples. They are rounded up and down in turns.
func halve(to, upper, lower []byte) {
	bias := uint32(1)
	for x := 0; x < len(upper); x += 2 {
		sum := uint32(upper[x]) + uint32(upper[x+1]) + uint32(lower[x]) + uint32(lower[x+1])
		to[x/2] = byte((sum + bias) >> 2)
		bias ^= 3
	}
}
