package mediatokens

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset/media/sound"
)

func encoded(t *testing.T, w, h int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func TestMediaHaveTokensByTheirSize(t *testing.T) {
	second := (&sound.Sound{Rate: 8000, Channels: 1, Samples: make([]float64, 8000)}).WAV()
	for part, want := range map[string]int{
		`{"type":"image_url","image_url":{"url":"data:image/png;base64,` + encoded(t, 512, 512) + `"}}`:                    18 * 18,
		`{"type":"image_url","image_url":{"url":"data:image/png;base64,` + encoded(t, 1, 1) + `"}}`:                        1,
		`{"type":"image_url","image_url":{"url":"file:///a.png"}}`:                                                         unseen,
		`{"type":"video_url","video_url":{"url":"data:video/mp4;base64,AAAA"}}`:                                            unseen,
		`{"type":"input_audio","input_audio":{"data":"` + base64.StdEncoding.EncodeToString(second) + `","format":"wav"}}`: 26,
	} {
		tokens, ok, err := Part(json.RawMessage(part))
		if err != nil || !ok || len(tokens) != want || slices.Max(tokens) > firstToken {
			t.Errorf("%.60s: %d tokens, %v, %v; want %d", part, len(tokens), ok, err, want)
		}
		again, _, _ := Part(json.RawMessage(part))
		if !slices.Equal(tokens, again) {
			t.Errorf("%.60s: other tokens", part)
		}
	}
}

func TestOtherPartsAreNoMedia(t *testing.T) {
	for _, part := range []string{`{"type":"text","text":"a"}`, `{}`, `1`} {
		if _, ok, err := Part(json.RawMessage(part)); ok || err != nil {
			t.Errorf("%s: %v, %v", part, ok, err)
		}
	}
}

func TestDamagedMediaAreRefused(t *testing.T) {
	for part, want := range map[string]string{
		`{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}`: "cannot identify image file",
		`{"type":"image_url","image_url":{"url":"data:image/png;base64,?"}}`:    "base64",
		`{"type":"input_audio","input_audio":{"data":"?"}}`:                     "base64",
		`{"type":"input_audio","input_audio":{"data":"AAAA"}}`:                  "invalid or unsupported audio file",
	} {
		if _, ok, err := Part(json.RawMessage(part)); !ok || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v, want %s", part, ok, err, want)
		}
	}
}
