package sound

import (
	"bytes"
	"strings"
	"testing"
)

// The lengths are libsndfile 1.2.2's; LAME 3.100 made the files.
func TestMP3IsMeasuredAsByLibsndfile(t *testing.T) {
	for name, want := range map[string]form{
		"mp3-44100-1.mp3": {44100, 1, 3000}, "mp3-16000-1.mp3": {16000, 1, 16000}, "mp3-8000-1.mp3": {8000, 1, 4000},
		"mp3-48000-2.mp3": {48000, 2, 1000}, "mp3-22050-1.mp3": {22050, 1, 1},
	} {
		data := contents(t, name)
		tagged := append([]byte("ID3\x04\x00\x00\x00\x00\x01\x02"), append(make([]byte, 130), data...)...)
		for kind, file := range map[string][]byte{"plain": data, "with a tag": tagged} {
			if got, err := formOf(file); err != nil || got != want {
				t.Errorf("%s, %s: %+v, %v; want %+v", name, kind, got, err, want)
			}
		}
		// Without the first frame, which tells the length, all frames count, with what was added.
		first, ok := parseFrame(data)
		if !ok {
			t.Fatal(name)
		}
		got, err := formOf(data[first.size:])
		if err != nil || got.frames < want.frames || got.frames > want.frames+3*int64(first.samples) || got.frames%int64(first.samples) != 0 {
			t.Errorf("%s without its first frame: %+v, %v", name, got, err)
		}
		if _, err := Read(data); err == nil || !strings.Contains(err.Error(), "neither WAV nor FLAC") {
			t.Errorf("%s: read with %v", name, err)
		}
	}
	if _, err := Seconds(append([]byte("ID3\x04\x00\x00\x00\x00\x00\x00"), bytes.Repeat([]byte{0xff}, 99)...)); err != errMP3 {
		t.Errorf("no frame: %v", err)
	}
}

func FuzzSeconds(f *testing.F) {
	for _, name := range []string{"mp3-44100-1.mp3", "mp3-48000-2.mp3", "wav-alaw-1.wav", "flac-pcm_24-2.flac"} {
		f.Add(contents(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if seconds, err := Seconds(data); err == nil && !(seconds > 0) {
			t.Fatalf("%g seconds", seconds)
		}
	})
}
