package media_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/servebench/servebench/dataset/media"
)

// An image is pixels and the file that Pillow made of them.
type image struct {
	Name          string
	Height, Width int
	Pixels, JPEG  []byte
}

// golden are the cases of a golden file.
func golden[T any](t testing.TB, name string) []T {
	t.Helper()
	data, err := os.ReadFile("../../testdata/golden/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []T }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file.Cases
}

func TestJPEGEqualsPillow(t *testing.T) {
	images := golden[image](t, "jpeg.json")
	for _, c := range golden[struct {
		Name     string
		Requests []struct{ Items []image }
	}](t, "random_mm.json") {
		for _, r := range c.Requests {
			for _, item := range r.Items {
				if item.Name = c.Name; item.JPEG != nil && item.Pixels != nil {
					images = append(images, item)
				}
			}
		}
	}
	if len(images) != 19+194 {
		t.Fatalf("%d images", len(images))
	}
	for _, i := range images {
		got := media.Pixels{Width: i.Width, Height: i.Height, RGB: i.Pixels}.JPEG()
		if !bytes.Equal(got, i.JPEG) {
			t.Errorf("%s, %d by %d: %d bytes, Pillow made %d, and they differ from byte %d on", i.Name, i.Width, i.Height, len(got), len(i.JPEG), differs(got, i.JPEG))
		}
	}
}

// differs is the first place where a and b differ.
func differs(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
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
