package media

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // what image.Decode reads, with JPEG
	"image/png"

	_ "golang.org/x/image/bmp"
	_ "golang.org/x/image/tiff"
	_ "golang.org/x/image/webp"
)

// A Reader decodes image files: PNG, JPEG, GIF, WebP, BMP or TIFF. The pixels are
// the ones that Pillow decodes; of JPEG files in rare colours they may differ a little.
type Reader struct {
	// OnWhite lays transparent images on a white ground, as vLLM does with images that it loads
	// itself. Without it, transparency is dropped, as Pillow does when it converts to RGB.
	OnWhite bool
}

// Decode reads an image file.
func (r Reader) Decode(file []byte) (Pixels, error) {
	config, format, err := image.DecodeConfig(bytes.NewReader(file))
	switch {
	case errors.Is(err, image.ErrFormat):
		return Pixels{}, errors.New("it is no PNG, JPEG, GIF, WebP, BMP or TIFF image")
	case err != nil:
		return Pixels{}, fmt.Errorf("reading the image: %w", err)
	case int64(config.Width)*int64(config.Height) > maxPixels:
		return Pixels{}, fmt.Errorf("the image has %d by %d pixels, and %d are the most", config.Width, config.Height,
			maxPixels)
	}
	if format == "jpeg" {
		if decoded, err := decodeJPEG(file); err == nil {
			return *photograph(decoded), nil
		}
	}
	decoded, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		return Pixels{}, fmt.Errorf("decoding the image: %w", err)
	}
	p := pixels(decoded, r.OnWhite && (format == "webp" || format == "png" && file[colourType] == trueColourAlpha))
	if p.Width*p.Height == 0 {
		return Pixels{}, errors.New("the image has no pixels")
	}
	return p, nil
}

const (
	maxPixels = 178956970 // Pillow refuses more

	// Of a PNG file: where its type of colour is, and the type with red, green, blue and alpha. vLLM
	// lays only such images on white.
	colourType      = 25
	trueColourAlpha = 6
)

// pixels are the pixels of an image, on white or without their transparency.
func pixels(from image.Image, onWhite bool) Pixels {
	bounds := from.Bounds()
	p := Pixels{Width: bounds.Dx(), Height: bounds.Dy(), RGB: make([]byte, 0, 3*bounds.Dx()*bounds.Dy())}
	switch from := from.(type) {
	case *image.YCbCr:
		if p := photograph(from); p != nil {
			return *p
		}
	case *image.RGBA:
		if from.Opaque() { // so that nothing is multiplied by its alpha
			p.RGB = appendRows(p.RGB, from.Pix[from.PixOffset(bounds.Min.X, bounds.Min.Y):], from.Stride, p.Width, p.Height,
				false)
			return p
		}
	case *image.NRGBA:
		p.RGB = appendRows(p.RGB, from.Pix[from.PixOffset(bounds.Min.X, bounds.Min.Y):], from.Stride, p.Width, p.Height,
			onWhite)
		return p
	}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c := straight(from.At(x, y))
			if onWhite {
				c = color.NRGBA{R: laid(c.R, c.A), G: laid(c.G, c.A), B: laid(c.B, c.A)}
			}
			p.RGB = append(p.RGB, c.R, c.G, c.B)
		}
	}
	return p
}

// appendRows appends the pixels of rows with four bytes a pixel: red, green, blue and alpha.
func appendRows(rgb, rows []byte, stride, width, height int, onWhite bool) []byte {
	for y := range height {
		for row := rows[y*stride:][:4*width]; len(row) > 0; row = row[4:] {
			if onWhite {
				rgb = append(rgb, laid(row[0], row[3]), laid(row[1], row[3]), laid(row[2], row[3]))
			} else {
				rgb = append(rgb, row[0], row[1], row[2])
			}
		}
	}
	return rgb
}

// straight is a colour that is not multiplied by its alpha.
func straight(c color.Color) color.NRGBA {
	switch c := c.(type) {
	case color.NRGBA:
		return c
	case color.NRGBA64: // Pillow takes the upper bytes
		return color.NRGBA{R: byte(c.R >> 8), G: byte(c.G >> 8), B: byte(c.B >> 8), A: byte(c.A >> 8)}
	}
	return color.NRGBAModel.Convert(c).(color.NRGBA)
}

// laid is a sample on white, with the rounding of Pillow.
func laid(sample, alpha byte) byte {
	sum := 255*(255-uint32(alpha)) + uint32(sample)*uint32(alpha) + 128
	return byte((sum>>8 + sum) >> 8)
}

// PNG is the image as a PNG file. Its pixels are the same in Pillow's file; its bytes are not.
func (p Pixels) PNG() []byte {
	var file bytes.Buffer
	_ = png.Encode(&file, p.opaque()) // a Buffer takes all
	return file.Bytes()
}

// DataURL is a file of that media type, such as image/png, as a URL.
func DataURL(mediaType string, file []byte) string {
	url := make([]byte, 0, len("data:;base64,")+len(mediaType)+base64.StdEncoding.EncodedLen(len(file)))
	url = append(append(append(url, "data:"...), mediaType...), ";base64,"...)
	return string(base64.StdEncoding.AppendEncode(url, file))
}
