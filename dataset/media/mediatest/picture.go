// Package mediatest compares the images of requests, for tests: the files of two coders differ where the
// images are the same.
package mediatest

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg" // the formats of images in requests
	_ "image/png"
	"regexp"
)

// By how much the samples of a JPEG file may differ: on average, and each. Random pixels are the worst case:
// coding alone changes them by 47 of 255 on average. The most between Go's coder and Pillow's, of 3000
// images of up to 64 by 64 random pixels, was 24 on average, of a small one, and 114 for one sample.
const (
	meanLoss = 25 * sample
	mostLoss = 120 * sample

	sample = 0xffff / 255
)

// A Picture is an image of a request.
type Picture struct {
	image.Image
	Format string // png or jpeg
	coding []byte // of a JPEG file: its sampling of the colours, and its steps of quantisation
}

var urls = regexp.MustCompile(`data:image/(?:png|jpeg);base64,[A-Za-z0-9+/=]+`)

// Cut takes images out of a text that has them as data URLs. What is no image stays.
func Cut(text string) (rest string, pictures []Picture) {
	rest = urls.ReplaceAllStringFunc(text, func(url string) string {
		p, err := decode(url)
		if err != nil {
			return url
		}
		pictures = append(pictures, p)
		return fmt.Sprintf("picture %d", len(pictures))
	})
	return rest, pictures
}

func decode(url string) (p Picture, err error) {
	_, data, _ := bytes.Cut([]byte(url), []byte(","))
	file, err := base64.StdEncoding.AppendDecode(nil, data)
	if err != nil {
		return p, err
	}
	if p.Image, p.Format, err = image.Decode(bytes.NewReader(file)); p.Format == "jpeg" {
		p.coding = coding(file)
	}
	return p, err
}

// coding are the tables of quantisation and the frame of a JPEG file.
func coding(file []byte) (segments []byte) {
	const tables, frame = 0xdb, 0xc0
	for at := 2; at+4 <= len(file); {
		marker, length := file[at+1], int(binary.BigEndian.Uint16(file[at+2:]))
		if marker == tables || marker == frame {
			segments = append(segments, file[at+4:at+2+length]...)
		}
		if marker == frame {
			break
		}
		at += 2 + length
	}
	return segments
}

// Equal says whether two images have one format, size and coding, and the same pixels: of JPEG files, within the
// loss of coding.
func (p Picture) Equal(other Picture) bool {
	if p.Format != other.Format || p.Bounds() != other.Bounds() || !bytes.Equal(p.coding, other.coding) {
		return false
	}
	sum, most := p.difference(other)
	if p.Format == "png" {
		return most == 0
	}
	size := p.Bounds().Size()
	return sum <= 3*size.X*size.Y*meanLoss && most <= mostLoss
}

// difference is by how much the samples differ: all, and the one that differs most.
func (p Picture) difference(other Picture) (sum, most int) {
	bounds := p.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			a := color.NRGBA64Model.Convert(p.At(x, y)).(color.NRGBA64)
			b := color.NRGBA64Model.Convert(other.At(x, y)).(color.NRGBA64)
			for _, d := range [...]int{int(a.R) - int(b.R), int(a.G) - int(b.G), int(a.B) - int(b.B), int(a.A) - int(b.A)} {
				d = max(d, -d)
				sum += d
				most = max(most, d)
			}
		}
	}
	return sum, most
}
