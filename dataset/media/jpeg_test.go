package media_test

import (
	"testing"

	"github.com/servebench/servebench/dataset/media"
	"github.com/servebench/servebench/dataset/media/mediatest"
)

// A file has the coding of Pillow's, and shows the same.
func TestJPEGShowsWhatPillowsFileShows(t *testing.T) {
	const most = 8 // of 255
	for _, c := range golden[struct {
		Name          string
		Height, Width int
		Pixels, JPEG  []byte
	}](t, "jpeg.json") {
		file := media.Pixels{Width: c.Width, Height: c.Height, RGB: c.Pixels}.JPEG()
		_, got := mediatest.Cut(media.DataURL("image/jpeg", file))
		_, want := mediatest.Cut(media.DataURL("image/jpeg", c.JPEG))
		if !got[0].Equal(want[0]) {
			t.Errorf("%s is another image", c.Name)
		}
		ours, pillows := decoded(t, file).RGB, decoded(t, c.JPEG).RGB
		for i, sample := range ours {
			if difference := int(sample) - int(pillows[i]); max(difference, -difference) > most {
				t.Errorf("%s: sample %d is %d, of Pillow's file %d", c.Name, i, sample, pillows[i])
			}
		}
	}
}

func BenchmarkJPEG(b *testing.B) {
	rgb := make([]byte, 512*512*3)
	state := uint32(1)
	for i := range rgb {
		state = state*1664525 + 1013904223
		rgb[i] = byte(state >> 24)
	}
	p := media.Pixels{Width: 512, Height: 512, RGB: rgb}
	for b.Loop() {
		p.JPEG()
	}
}
