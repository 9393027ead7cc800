package sound

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A fileCase is a file, and what libsndfile makes of it. See testdata/soundfile.json.
type fileCase struct {
	Name                    string
	Rate, Channels, Samples int
	Float64                 string `json:"float64_sha256"`
	Double                  string `json:"wav_of_float64"`
	Single                  string `json:"wav_of_float32"`
}

func fileCases(t testing.TB) []fileCase {
	t.Helper()
	var file struct{ Cases []fileCase }
	if err := json.Unmarshal(contents(t, "soundfile.json"), &file); err != nil {
		t.Fatal(err)
	}
	return file.Cases
}

func contents(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func doubles(samples []float64) (b []byte) {
	for _, v := range samples {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

func TestSamplesAndFilesAreLibsndfiles(t *testing.T) {
	cases := fileCases(t)
	if len(cases) != 14 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			data := contents(t, c.Name)
			s, err := Read(data)
			if err != nil {
				t.Fatal(err)
			}
			if s.Rate != c.Rate || s.Channels != c.Channels || len(s.Samples) != c.Samples*c.Channels {
				t.Errorf("rate %d, %d channels, %d samples; want %+v", s.Rate, s.Channels, len(s.Samples), c)
			}
			if got := digest(doubles(s.Samples)); got != c.Float64 {
				t.Errorf("samples %s, want %s", got, c.Float64)
			}
			if got := digest(s.WAV()); got != c.Double {
				t.Errorf("WAV of doubles %s, want %s", got, c.Double)
			}
			whole, err := Seconds(data)
			if want := float64(c.Samples) / float64(c.Rate); err != nil || whole != want || s.Seconds() != want {
				t.Errorf("%g and %g seconds, %v; want %g", whole, s.Seconds(), err, want)
			}
			s.Single()
			if got := digest(s.WAV()); got != c.Single {
				t.Errorf("WAV of singles %s, want %s", got, c.Single)
			}
		})
	}
}

func TestSixteenBitFilesComeBack(t *testing.T) {
	for _, name := range []string{"wav-pcm_16-1.wav", "wav-pcm_16-2.wav"} {
		data := contents(t, name)
		s, err := Read(data)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(s.WAV(), data) {
			t.Errorf("%s: other bytes", name)
		}
	}
}

// The values are libsndfile 1.2.2's.
func TestSamplesAreLimited(t *testing.T) {
	for v, want := range map[float64]int16{
		1: math.MaxInt16, 2: math.MaxInt16, math.Inf(1): math.MaxInt16, 0.99999999: math.MaxInt16,
		-1: math.MinInt16, -2: math.MinInt16, math.Inf(-1): math.MinInt16, 0: 0, -1e-12: 0, -1e-9: -1,
		31959.0 / 32768: 31959, -21983.9999999 / 32768: -21984,
	} {
		if got := pcm16(v); got != want {
			t.Errorf("%v is %d, want %d", v, got, want)
		}
	}
	if got := pcm16(math.NaN()); got != math.MinInt16 {
		t.Errorf("NaN is %d", got)
	}
}

func TestChunksAroundTheSoundAreSkipped(t *testing.T) {
	plain := contents(t, "wav-pcm_16-1.wav")
	odd := append(append(bytes.Clone(plain[:12]), "LIST\x03\x00\x00\x00abc\x00"...), plain[12:]...)
	s, err := Read(append(odd, "LIST\x04\x00\x00\x00abcd"...))
	if err != nil || !bytes.Equal(s.WAV(), plain) {
		t.Errorf("%v, or other bytes", err)
	}
}

// ffmpeg gives this length when it writes to a pipe. libsndfile takes what there is.
func TestACutSoundHasTheSamplesThatAreThere(t *testing.T) {
	plain := contents(t, "wav-pcm_16-1.wav")
	endless := bytes.Clone(plain)
	binary.LittleEndian.PutUint32(endless[40:], math.MaxUint32)
	for name, c := range map[string]struct {
		data []byte
		want int
	}{"cut": {plain[:201], 78}, "of unknown length": {endless, 300}} {
		s, err := Read(c.data)
		if err != nil || len(s.Samples) != c.want {
			t.Errorf("%s: %v, %+v", name, err, s)
		}
	}
}

func TestWrongFilesAreNamed(t *testing.T) {
	wav, flac := contents(t, "wav-pcm_16-1.wav"), contents(t, "flac-pcm_16-1.flac")
	with := func(data []byte, at int, bytes ...byte) []byte {
		changed := append([]byte(nil), data...)
		copy(changed[at:], bytes)
		return changed
	}
	unknown := with(flac, 21, flac[21]&0xf0, 0, 0, 0, 0)
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":             {nil, "neither WAV nor FLAC"},
		"MP3":                 {[]byte("ID3\x04 and so on"), "neither WAV nor FLAC"},
		"no data":             {wav[:36], "without a data chunk"},
		"no format":           {append(bytes.Clone(wav[:12]), wav[36:]...), "without a fmt chunk"},
		"short format":        {with(wav, 16, 8), "less than 16 bytes"},
		"no channel":          {with(wav, 22, 0), "0 channels"},
		"no rate":             {with(wav, 24, 0, 0, 0, 0), "0 samples a second"},
		"ADPCM":               {with(wav, 20, 2), "format 2 with 16 bits"},
		"length 0":            {with(wav, 40, 0, 0, 0, 0), "no samples"},
		"FLAC cut":            {flac[:len(flac)/2], "reading FLAC"},
		"FLAC header cut":     {flac[:20], "reading FLAC"},
		"FLAC without length": {unknown, "how long it is"},
	} {
		if _, err := Read(c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := Seconds(unknown); err != errLength {
		t.Errorf("length of unknown: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	for _, c := range fileCases(f) {
		f.Add(contents(f, c.Name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		length, unmeasured := Seconds(data)
		s, err := Read(data)
		if err != nil {
			return
		}
		if unmeasured != nil || length != s.Seconds() || len(s.Samples) == 0 || len(s.Samples)%s.Channels != 0 {
			t.Fatalf("%g seconds, %v; read %d samples of %d channels, %g seconds", length, unmeasured, len(s.Samples), s.Channels, s.Seconds())
		}
		again, err := Read(s.WAV())
		if err != nil || again.Rate != s.Rate || again.Channels != s.Channels || !bytes.Equal(again.WAV(), s.WAV()) {
			t.Fatalf("its WAV file is read as %v, %v", again, err)
		}
	})
}
