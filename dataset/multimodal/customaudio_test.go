package multimodal_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/media/sound"
	"github.com/servebench/servebench/dataset/multimodal"
)

// audioOf is the dataset of a golden command line.
func audioOf(t *testing.T, s *selection) multimodal.CustomAudio {
	t.Helper()
	d := multimodal.CustomAudio{Options: s.options(t), OutputLen: s.number(t, "--custom-output-len", 256), Chat: s.has("--enable-multimodal-chat")}
	if s.Tokenizer != "" {
		var err error
		if d.Template, err = dataset.OpenTemplate(goldenFolder+s.Tokenizer, nil, time.Now); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// absolute is the dataset of the golden audio.jsonl, run in the folder of its sounds.
func absolute(t *testing.T, d *multimodal.CustomAudio) {
	t.Helper()
	d.Path = "audio.jsonl"
	t.Chdir(goldenFolder + "inputs")
}

func TestCustomAudioSelectsAsVLLM(t *testing.T) {
	tried := 0
	for _, s := range selections(t, "custom_media.json") {
		if s.value("--dataset-name") != "custom_audio" {
			continue
		}
		tried++
		t.Run(s.Name, func(t *testing.T) {
			d := audioOf(t, &s)
			absolute(t, &d)
			source, n, err := d.Open()
			if (err != nil) != (s.Exception != "") {
				t.Fatalf("%v, want %q", err, s.Exception)
			}
			if err != nil {
				return
			}
			if n != len(s.Requests) {
				t.Fatalf("%d conversations, want %d", n, len(s.Requests))
			}
			i := 0
			for c, err := range source {
				if err != nil {
					t.Fatal(err)
				}
				checkSound(t, c, &s.Requests[i])
				i++
			}
			if got := d.Python.Random(); got != s.Python {
				t.Errorf("Python's generator then draws %v, want %v", got, s.Python)
			}
		})
	}
	if tried != 13 {
		t.Errorf("%d cases", tried)
	}
}

// checkSound compares a conversation with a golden request.
func checkSound(t *testing.T, c *dataset.Conversation, want *request) {
	t.Helper()
	turn := &c.Turns[0]
	var prompt string
	if err := json.Unmarshal(want.Prompt, &prompt); err != nil {
		t.Fatal(err)
	}
	if c.ID != want.ID || turn.Prompt != prompt || turn.PromptLen != want.PromptLen || turn.OutputLen != want.OutputLen {
		t.Errorf("%s: %+v, want %+v", c.ID, turn, want)
	}
	if want.Media == nil || turn.Payload == nil {
		if (want.Media == nil) != (turn.Payload == nil) {
			t.Errorf("%s: payload %v, want media %s", c.ID, turn.Payload, want.Media)
		}
		return
	}
	medium := &turn.Payload.Media[0]
	if medium.Upload == nil {
		if string(medium.Part) != string(want.Media) {
			t.Errorf("%s: part %s, want %s", c.ID, medium.Part, want.Media)
		}
		return
	}
	var golden struct {
		Audio struct {
			Samples, Rate int
			SHA256        string `json:"float64_sha256"`
		}
	}
	if err := json.Unmarshal(want.Media, &golden); err != nil {
		t.Fatal(err)
	}
	s, err := sound.Read(medium.Upload.Data)
	if err != nil {
		t.Fatal(err)
	}
	var samples []byte
	for _, v := range s.Samples {
		samples = binary.LittleEndian.AppendUint64(samples, math.Float64bits(v))
	}
	sum := sha256.Sum256(samples)
	a := &golden.Audio
	if hex.EncodeToString(sum[:]) != a.SHA256 || s.Rate != a.Rate || len(s.Samples) != a.Samples || medium.Seconds != float64(a.Samples)/float64(a.Rate) {
		t.Errorf("%s: %d samples at %d, %g seconds, want %+v", c.ID, len(s.Samples), s.Rate, medium.Seconds, a)
	}
	if u := medium.Upload; u.Name != "audio.wav" || u.Type != "audio/wav" {
		t.Errorf("%s: uploaded as %s, %s", c.ID, u.Name, u.Type)
	}
}

// Endpoints for files need the sounds, and vLLM's client fails there.
func TestSoundsAreSentWithoutATokenizerIfAsked(t *testing.T) {
	var notices []string
	d := multimodal.CustomAudio{Options: dataset.Options{Num: 2, DisableShuffle: true, Log: func(format string, _ ...any) { notices = append(notices, format) }}, OutputLen: -1}
	absolute(t, &d)
	for _, always := range []bool{false, true} {
		d.Always = always
		source, _, err := d.Open()
		if err != nil {
			t.Fatal(err)
		}
		for c := range source {
			if turn := &c.Turns[0]; (turn.Payload != nil) != always || turn.OutputLen != 256 || turn.PromptLen != 1 {
				t.Errorf("%+v", turn)
			}
		}
	}
	if len(notices) != 1 || !strings.Contains(notices[0], "without their sounds") {
		t.Errorf("notices %q", notices)
	}
}

func TestCustomAudioRefuses(t *testing.T) {
	inputs := goldenFolder + "inputs/"
	tone, err := os.ReadFile(inputs + "tone.wav")
	if err != nil {
		t.Fatal(err)
	}
	empty := written(t, string(tone[:40])+"\x00\x00\x00\x00"+string(tone[44:]))
	for text, want := range map[string]string{
		"":                  "the file is empty",
		`{"audio": "a"}`:    `:1: no "prompt"`,
		`{"prompt": "p"}`:   `:1: no "audio"`,
		"\n{\"prompt\": 1}": `:2: prompt: unexpected JSON number`,
		`{"prompt": "p", "audio": "` + inputs + `tone.wav"}`:                  `:1: no "output_tokens"`,
		`{"prompt": "p", "output_tokens": 1, "audio": "no"}`:                  `:1: open no: no such file`,
		`{"prompt": "p", "output_tokens": 1, "audio": "` + inputs + `a.png"}`: `a.png: it is neither WAV nor FLAC`,
		`{"prompt": "p", "output_tokens": 1, "audio": "` + empty + `"}`:       `: it has no samples: its header gives the length 0`,
	} {
		s := selection{Tokenizer: "tok-plain"}
		d := multimodal.CustomAudio{Options: s.options(t), OutputLen: -1}
		d.Path = written(t, text)
		if _, _, err := d.Open(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for path, length := range map[string]int{"x.json": 1, "x.jsonl": 0} {
		if _, _, err := (multimodal.CustomAudio{Options: dataset.Options{Path: path}, OutputLen: length}).Open(); err == nil {
			t.Errorf("%s, output length %d: no error", path, length)
		}
	}
}
