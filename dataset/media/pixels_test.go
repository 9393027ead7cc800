package media

import (
	"image"
	"reflect"
	"testing"
)

// A veiled image hides its type.
type veiled struct{ image.Image }

func TestRowsOfPixelsAreReadAsSinglePixels(t *testing.T) {
	nrgba, rgba := image.NewNRGBA(image.Rect(-2, 3, 9, 8)), image.NewRGBA(image.Rect(1, 1, 8, 5))
	for i := range nrgba.Pix {
		nrgba.Pix[i] = byte(i * 37)
	}
	for i := range rgba.Pix {
		rgba.Pix[i] = byte(i*53) | byte(i%4/3*255)
	}
	part := nrgba.SubImage(image.Rect(0, 4, 5, 7))
	for _, img := range []image.Image{nrgba, rgba, part} {
		for _, onWhite := range []bool{false, true} {
			if got, want := pixels(img, onWhite), pixels(veiled{img}, onWhite); !reflect.DeepEqual(got, want) {
				t.Errorf("%T on white %v: %v, want %v", img, onWhite, got, want)
			}
		}
	}
}
