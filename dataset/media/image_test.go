package media_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset/media"
)

// What the client loads itself has the pixels that vLLM's client sends.
func TestDecodeReadsWhatPillowReads(t *testing.T) {
	cases := golden[struct {
		Name     string
		Requests []struct{ Body string }
	}](t, "wire-0.33/cases.json")
	at := slices.IndexFunc(cases, func(c struct {
		Name     string
		Requests []struct{ Body string }
	}) bool {
		return c.Name == "chat-image-client-side"
	})
	var sent [][]byte
	for _, r := range cases[at].Requests {
		_, url, ok := strings.Cut(r.Body, "data:image/png;base64,")
		if !ok {
			continue
		}
		url, _, _ = strings.Cut(url, `"`)
		file, err := base64.StdEncoding.DecodeString(url)
		if err != nil {
			t.Fatal(err)
		}
		sent = append(sent, file)
	}
	if len(sent) != 3 {
		t.Fatalf("%d images", len(sent))
	}
	for i, name := range []string{"a.png", "rgba.png", "c.jpg"} {
		file, err := os.ReadFile("../../testdata/golden/inputs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		want, got := decoded(t, sent[i]), decoded(t, file)
		if got.Width != want.Width || got.Height != want.Height || !bytes.Equal(got.RGB, want.RGB) {
			t.Errorf("%s:\n%v, Pillow reads\n%v", name, got, want)
		}
		if again := decoded(t, got.PNG()); !bytes.Equal(again.RGB, got.RGB) {
			t.Errorf("%s changes when it is written as PNG", name)
		}
	}
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

func TestDecodeJPEGAsPillow(t *testing.T) {
	data, err := os.ReadFile("testdata/decoded.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct {
			Name          string
			Width, Height int
			File, Pixels  []byte
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Cases {
		got := decoded(t, c.File)
		if got.Width != c.Width || got.Height != c.Height || !bytes.Equal(got.RGB, c.Pixels) {
			t.Errorf("%s:\n%v, Pillow reads\n%v", c.Name, got.RGB, c.Pixels)
		}
	}
}

func decoded(t *testing.T, file []byte) media.Pixels {
	t.Helper()
	p, err := media.Reader{OnWhite: true}.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDecodeRefuses(t *testing.T) {
	png, err := os.ReadFile("../../testdata/golden/inputs/a.png")
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"":                                   "it is no PNG, JPEG, GIF, WebP, BMP or TIFF image",
		"<html>":                             "it is no PNG, JPEG, GIF, WebP, BMP or TIFF image",
		string(png[:40]):                     "decoding the image: unexpected EOF",
		"GIF89a\x42\x34\x41\x34\x00\x00\x00": "the image has 13378 by 13377 pixels, and 178956970 are the most",
		"GIF89a\xff\xff\xff\xff\x00\x00\x00": "the image has 65535 by 65535 pixels, and 178956970 are the most",
	} {
		if _, err := (media.Reader{}).Decode([]byte(file)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", file, err, want)
		}
	}
}

func TestParts(t *testing.T) {
	linked := media.Linked("image", media.ImageURL("é.png"))
	if want := `{"type": "image_url", "image_url": {"url": "file://\u00e9.png"}}`; string(linked.Part) != want {
		t.Errorf("%s, want %s", linked.Part, want)
	}
	video := media.Linked("video", media.VideoURL("/x/v.mp4"))
	if want := `{"type": "video_url", "video_url": {"url": "file:///x/v.mp4"}}`; string(video.Part) != want {
		t.Errorf("%s, want %s", video.Part, want)
	}
	p := media.Pixels{Width: 1, Height: 1, RGB: []byte{1, 2, 3}}
	var part struct {
		ImageURL struct{ URL string } `json:"image_url"`
	}
	if err := json.Unmarshal(media.Picture(p).Part, &part); err != nil || part.ImageURL.URL != media.DataURL("image/jpeg", p.JPEG()) {
		t.Errorf("%+v %v", part, err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, name := range []string{"a.png", "rgba.png", "c.jpg"} {
		file, err := os.ReadFile("../../testdata/golden/inputs/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) > 1<<16 {
			return
		}
		p, err := media.Reader{OnWhite: true}.Decode(file)
		if err == nil && len(p.RGB) != 3*p.Width*p.Height {
			t.Errorf("%d by %d pixels of %d bytes", p.Width, p.Height, len(p.RGB))
		}
	})
}
