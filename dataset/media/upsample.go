package media

import "image"

// photograph is the pixels of a JPEG file in colour, with the upsampling of the reference
// implementation of JPEG. It is nil if the file has halved its colours in a rare way.
func photograph(from *image.YCbCr) *Pixels {
	b := from.Rect
	p := &Pixels{Width: b.Dx(), Height: b.Dy(), RGB: make([]byte, 0, 3*b.Dx()*b.Dy())}
	var wide, high bool
	switch from.SubsampleRatio {
	case image.YCbCrSubsampleRatio444:
	case image.YCbCrSubsampleRatio422:
		wide = true
	case image.YCbCrSubsampleRatio420:
		wide, high = true, true
	case image.YCbCrSubsampleRatio440:
		high = true
	default:
		return nil
	}
	cb := plane{from.Cb, from.CStride, p.Width, p.Height}.upsampled(wide, high)
	cr := plane{from.Cr, from.CStride, p.Width, p.Height}.upsampled(wide, high)
	for y := range p.Height {
		for x, luma := range from.Y[y*from.YStride:][:p.Width] {
			at := y*p.Width + x
			p.RGB = appendRGB(p.RGB, int32(luma), int32(cb[at])-128, int32(cr[at])-128)
		}
	}
	return p
}

// appendRGB appends a pixel.
func appendRGB(rgb []byte, y, cb, cr int32) []byte {
	return append(rgb,
		clamped(y+(91881*cr+32768)>>16),
		clamped(y+(-22554*cb-46802*cr+32768)>>16),
		clamped(y+(116130*cb+32768)>>16))
}

func clamped(v int32) byte { return byte(max(0, min(255, v))) }

// A plane is the samples of one colour.
type plane struct {
	samples       []byte
	stride        int
	width, height int // of the image
}

// upsampled is a sample for each pixel. Each new sample has three parts of the nearest old one and one
// of the next in each direction that was halved, unless a row has only two samples.
func (p plane) upsampled(wide, high bool) []byte {
	columns, rows := p.width, p.height
	if wide {
		columns = (columns + 1) / 2
	}
	if high {
		rows = (rows + 1) / 2
	}
	smooth := !wide || columns > 2
	all, sums := make([]byte, p.width*p.height), make([]int32, columns)
	for y := range p.height {
		near, next := y, y
		if high {
			near = y / 2
			next = max(0, min(rows-1, near+2*(y%2)-1))
		}
		for x := range sums {
			sums[x] = int32(p.samples[near*p.stride+x])
			if high && smooth {
				sums[x] = 3*sums[x] + int32(p.samples[next*p.stride+x])
			}
		}
		to := all[y*p.width:][:p.width]
		switch {
		case wide && !smooth:
			repeat(to, sums)
		case wide && high:
			stretch(to, sums, 8, 7, 4)
		case wide:
			stretch(to, sums, 1, 2, 2)
		case high:
			scale(to, sums, int32(1+y%2), 2)
		default:
			scale(to, sums, 0, 0)
		}
	}
	return all
}

// repeat has each sample twice.
func repeat(to []byte, from []int32) {
	for x := range to {
		to[x] = byte(from[x/2])
	}
}

// scale divides by a power of two.
func scale(to []byte, from []int32, bias int32, bits int) {
	for x := range to {
		to[x] = byte((from[x] + bias) >> bits)
	}
}

// stretch makes two samples of each, with other roundings for the left and the right one.
func stretch(to []byte, from []int32, left, right int32, bits int) {
	last := len(from) - 1
	for x := range to {
		near := x / 2
		next, bias := max(0, near-1), left
		if x%2 == 1 {
			next, bias = min(last, near+1), right
		}
		to[x] = byte((3*from[near] + from[next] + bias) >> bits)
	}
}
