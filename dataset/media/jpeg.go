package media

import (
	"bytes"
	"image"
	"image/jpeg"
)

const (
	// MaxDimension is the largest width or height of a JPEG file in pixels: libjpeg's JPEG_MAX_DIMENSION, which
	// Pillow keeps to.
	MaxDimension = 65500

	quality = 75 // Pillow's default
)

// Pixels are an image, with three bytes for red, green and blue of each pixel, row by row.
type Pixels struct {
	Width, Height int // at least 1; for JPEG, at most MaxDimension
	RGB           []byte
}

// JPEG is the image as a JPEG file, in the form of Pillow's default: quality 75, half as many samples
// of the colours in each direction, baseline, the standard Huffman tables. The bytes are not Pillow's,
// as the coders round differently.
func (p Pixels) JPEG() []byte {
	file := bytes.NewBuffer(make([]byte, 0, 1024+len(p.RGB)/4))        // random pixels need a fifth
	_ = jpeg.Encode(file, p.opaque(), &jpeg.Options{Quality: quality}) // a Buffer takes all
	return file.Bytes()
}

// opaque is the image with four bytes for each pixel, as coders want it.
func (p Pixels) opaque() *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, p.Width, p.Height))
	for i, at := 0, 0; i < len(p.RGB); i, at = i+3, at+4 {
		copy(img.Pix[at:], p.RGB[i:i+3])
		img.Pix[at+3] = 0xff
	}
	return img
}
