package media

import "encoding/binary"

// MaxDimension is the largest width or height of a JPEG file in pixels: libjpeg's JPEG_MAX_DIMENSION, which
// Pillow keeps to.
const MaxDimension = 65500

// Pixels are an image, with three bytes for red, green and blue of each pixel, row by row.
type Pixels struct {
	Width, Height int // at least 1; for JPEG, at most MaxDimension
	RGB           []byte
}

// zigzag is the order in which a file has the 64 values of a block.
var zigzag = [64]uint8{
	0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
}

// JPEG is the image as a JPEG file, byte for byte as Pillow writes it by default: quality 75, half as
// many samples of the colours in each direction, baseline, the standard Huffman tables.
func (p Pixels) JPEG() []byte {
	e := newEncoder(p)
	e.header()
	for top := 0; top < p.Height; top += 16 {
		e.sample(top)
		e.row(min(2, (p.Height-top+7)/8))
	}
	return append(e.end(), 0xff, 0xd9)
}

// A component is Y, Cb or Cr.
type component struct {
	samples []byte // of one row of MCUs
	stride  int
	steps   *steps
	before  int32 // the DC coefficient of the last block
	dc, ac  *huffmanTable
}

// An encoder writes one image. It works on one row of MCUs, 16 pixels high, at a time.
type encoder struct {
	bitWriter
	Pixels
	mcus   int // in a row
	y      component
	colour [2]component
	wide   [4][]byte // Cb and Cr of two rows, not yet halved
}

func newEncoder(p Pixels) *encoder {
	mcus := (p.Width + 15) / 16
	e := &encoder{Pixels: p, mcus: mcus}
	e.out = make([]byte, 0, 1024+len(p.RGB)/2)
	e.y = component{samples: make([]byte, 16*16*mcus), stride: 16 * mcus, steps: lumaQuality, dc: lumaDC, ac: lumaAC}
	for i := range e.colour {
		e.colour[i] = component{samples: make([]byte, 8*8*mcus), stride: 8 * mcus, steps: chromaQuality, dc: chromaDC, ac: chromaAC}
	}
	for i := range e.wide {
		e.wide[i] = make([]byte, 16*mcus)
	}
	return e
}

// header writes all that comes before the coefficients.
func (e *encoder) header() {
	e.out = append(e.out, "\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"...)
	for i, s := range []*steps{lumaQuality, chromaQuality} {
		e.out = append(e.out, 0xff, 0xdb, 0, 67, byte(i))
		for _, at := range zigzag {
			e.out = append(e.out, byte(s.half[at]/4))
		}
	}
	e.out = append(e.out, 0xff, 0xc0, 0, 17, 8)
	e.out = binary.BigEndian.AppendUint16(e.out, uint16(e.Height))
	e.out = binary.BigEndian.AppendUint16(e.out, uint16(e.Width))
	e.out = append(e.out, 3, 1, 0x22, 0, 2, 0x11, 1, 3, 0x11, 1)
	for _, t := range []struct {
		class byte
		*huffmanTable
	}{{0x00, lumaDC}, {0x10, lumaAC}, {0x01, chromaDC}, {0x11, chromaAC}} {
		e.out = append(e.out, 0xff, 0xc4)
		e.out = binary.BigEndian.AppendUint16(e.out, uint16(19+len(t.symbols)))
		e.out = append(append(append(e.out, t.class), t.counts[:]...), t.symbols...)
	}
	e.out = append(e.out, 0xff, 0xda, 0, 12, 3, 1, 0x00, 2, 0x11, 3, 0x11, 0, 63, 0)
}

// row writes a row of MCUs that has one or two rows of Y blocks inside the image.
func (e *encoder) row(high int) {
	wide := (e.Width + 7) / 8
	for m := range e.mcus {
		for i := range 4 {
			x, y := 2*m+i%2, i/2
			if x < wide && y < high {
				e.block(&e.y, 8*x, 8*y)
			} else {
				e.coefficients(new(block), 0, lumaDC, lumaAC)
			}
		}
		for i := range e.colour {
			e.block(&e.colour[i], 8*m, 0)
		}
	}
}

// block writes the block at x, y.
func (e *encoder) block(c *component, x, y int) {
	var b, quantised block
	for row := range 8 {
		at := (y+row)*c.stride + x
		from := (*[8]byte)(c.samples[at : at+8])
		to := (*[8]int32)(b[8*row : 8*row+8])
		for i, sample := range from {
			to[i] = int32(sample) - 128
		}
	}
	b.transform()
	for i, at := range zigzag {
		quantised[i] = c.steps.quantise(b[at&63], at)
	}
	e.coefficients(&quantised, quantised[0]-c.before, c.dc, c.ac)
	c.before = quantised[0]
}
