package multimodal_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/multimodal"
	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/tokenizer"
)

const goldenFolder = "../../testdata/golden/"

// A selection is what vLLM's client made of a command line.
type selection struct {
	Name      string
	Argv      []string
	Tokenizer string
	Requests  []request
	Exception string
	Python    float64 `json:"python_random_after"`
}

// A request is one that vLLM's client would send.
type request struct {
	ID        string
	Prompt    json.RawMessage
	PromptLen int             `json:"prompt_len"`
	OutputLen int             `json:"output_len"`
	Media     json.RawMessage `json:"media"`
}

func selections(t *testing.T, name string) []selection {
	t.Helper()
	data, err := os.ReadFile(goldenFolder + name)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []selection }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file.Cases
}

// value is the argument after a flag.
func (s *selection) value(flag string) string {
	for i, arg := range s.Argv {
		if arg == flag {
			return s.Argv[i+1]
		}
	}
	return ""
}

func (s *selection) has(flag string) bool {
	return strings.Contains(strings.Join(s.Argv, " ")+" ", flag+" ")
}

// number is a number after a flag, or what holds without the flag.
func (s *selection) number(t *testing.T, flag string, otherwise int) int {
	t.Helper()
	text := s.value(flag)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// options are the Options of the command line.
func (s *selection) options(t *testing.T) dataset.Options {
	t.Helper()
	o := dataset.Options{
		Path: strings.Replace(s.value("--dataset-path"), "INPUTS", goldenFolder+"inputs", 1), Num: s.number(t, "--num-prompts", 1000), Seed: int64(s.number(t, "--seed", 0)),
		DisableShuffle: s.has("--disable-shuffle"), NoOversample: s.has("--no-oversample"), IDPrefix: "b-", Python: new(nprand.Python),
	}
	if s.Tokenizer != "" {
		var err error
		if o.Tokenizer, err = tokenizer.Open(goldenFolder + s.Tokenizer); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

func TestCustomImageSelectsAsVLLM(t *testing.T) {
	tried := 0
	for _, s := range selections(t, "custom_media.json") {
		if s.value("--dataset-name") != "custom_image" {
			continue
		}
		tried++
		t.Run(s.Name, func(t *testing.T) {
			d := multimodal.CustomImage{Options: s.options(t), OutputLen: s.number(t, "--custom-output-len", 256), Chat: s.has("--enable-multimodal-chat")}
			source, n, err := d.Open()
			if err != nil {
				t.Fatal(err)
			}
			s.check(t, source, n)
			if got := d.Python.Random(); got != s.Python {
				t.Errorf("Python's generator then draws %v, want %v", got, s.Python)
			}
		})
	}
	if tried != 20 {
		t.Errorf("%d cases", tried)
	}
}

// check compares a source with the golden requests.
func (s *selection) check(t *testing.T, source dataset.Source, n int) {
	t.Helper()
	if n != len(s.Requests) {
		t.Fatalf("%d conversations, want %d", n, len(s.Requests))
	}
	i := 0
	for c, err := range source {
		if err != nil {
			t.Fatal(err)
		}
		turn, want := &c.Turns[0], s.Requests[i]
		prompt, media := asGolden(t, turn)
		got := request{ID: c.ID, Prompt: prompt, PromptLen: turn.PromptLen, OutputLen: turn.OutputLen, Media: media}
		for _, raw := range []*json.RawMessage{&got.Prompt, &got.Media, &want.Prompt, &want.Media} {
			*raw = compact(t, *raw)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("request %d: -want +got:\n%s", i, diff)
		}
		i++
	}
}

// asGolden is a turn in the form of the golden files.
func asGolden(t *testing.T, turn *dataset.Turn) (prompt, media json.RawMessage) {
	t.Helper()
	switch {
	case turn.Messages != nil:
		prompt = turn.Messages
	case turn.Payload.Content != nil:
		prompt = turn.Payload.Content
	default:
		prompt, _ = json.Marshal(turn.Prompt)
	}
	switch parts := turn.Payload.Media; len(parts) {
	case 0:
	case 1:
		media = parts[0].Part
	default:
		var list []json.RawMessage
		for _, m := range parts {
			list = append(list, m.Part)
		}
		media, _ = json.Marshal(list)
	}
	return prompt, media
}

// compact is a JSON value without its spaces.
func compact(t *testing.T, raw json.RawMessage) json.RawMessage {
	t.Helper()
	if raw == nil {
		return nil
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	raw, _ = json.Marshal(v)
	return raw
}

func TestCustomImageMakesMessages(t *testing.T) {
	d := multimodal.CustomImage{Options: dataset.Options{Path: goldenFolder + "inputs/images.jsonl", DisableShuffle: true}, OutputLen: 1, Chat: true}
	turn := first(t, d)
	const want = `[{"role": "user", "content": [{"text": "one luka groshi Kali", "type": "text"}, {"type": "image_url", "image_url": {"url": "file://a.png"}}]}]`
	if string(turn.Messages) != want || len(turn.Payload.Media) != 1 || turn.PromptLen != 1 {
		t.Errorf("%+v", turn)
	}
	d.Path = goldenFolder + "inputs/interleaved.jsonl"
	turn = first(t, d)
	if len(turn.Payload.Within) != 3 || turn.Payload.Media != nil {
		t.Errorf("%+v", turn.Payload)
	}
}

func first(t *testing.T, d multimodal.CustomImage) *dataset.Turn {
	t.Helper()
	source, _, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	for c, err := range source {
		if err != nil {
			t.Fatal(err)
		}
		return &c.Turns[0]
	}
	t.Fatal("nothing")
	return nil
}

func TestCustomImageLoadsImages(t *testing.T) {
	png, err := os.ReadFile(goldenFolder + "inputs/a.png")
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		w.Write(png)
	}))
	defer server.Close()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a b.png"), png, 0o600); err != nil {
		t.Fatal(err)
	}
	d := multimodal.CustomImage{Options: dataset.Options{Num: 9}, OutputLen: 1, Inline: true}
	d.Path = written(t, `{"prompt": "p", "image_files": ["`+server.URL+`", "data:image/png;base64,AAAA", "file://`+folder+`/a%20b.png", "`+folder+`/a b.png"]}`)
	parts := first(t, d).Payload.Media
	const kept = `{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}`
	if len(parts) != 4 || string(parts[1].Part) != kept || !strings.Contains(string(parts[0].Part), `"data:image/png;base64,iVBOR`) ||
		string(parts[2].Part) != string(parts[0].Part) || string(parts[3].Part) != string(parts[0].Part) {
		t.Errorf("%+v", parts)
	}
	if calls != 1 {
		t.Errorf("%d calls for one image", calls)
	}
}

func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCustomImageRefuses(t *testing.T) {
	missing := httptest.NewServer(http.NotFoundHandler())
	defer missing.Close()
	for text, want := range map[string]string{
		"":                       "the file is empty",
		"{":                      ":1: unexpected end of JSON input",
		"\n" + `{"prompt": "p"}`: `:2: it must have "prompt" and "image_files", or "content"`,
		`{"prompt": 1, "image_files": ["a.png"]}`:                                 `:1: "prompt" is no text`,
		`{"prompt": "p", "image_files": []}`:                                      `:1: "image_files" must be a list of at least one URL or path`,
		`{"prompt": "p", "image_files": "a"}`:                                     `:1: "image_files" must be a list of at least one URL or path`,
		`{"content": []}`:                                                         `:1: "content" must be a list of at least one part`,
		`{"content": [{"type": "video"}]}`:                                        `:1: part 1 of "content" must be {"type": "text", "text": TEXT}`,
		`{"prompt": "p", "image_files": ["` + goldenFolder + `inputs/tone.wav"]}`: `:1: ../../testdata/golden/inputs/tone.wav: it is no PNG, JPEG, GIF, WebP, BMP or TIFF image`,
		`{"prompt": "p", "image_files": ["no.png"]}`:                              `:1: open no.png: no such file or directory`,
		`{"prompt": "p", "image_files": ["` + missing.URL + `"]}`:                 `:1: ` + missing.URL + `: the server answers 404 Not Found`,
	} {
		d := multimodal.CustomImage{Options: dataset.Options{Path: written(t, text)}, OutputLen: 1, Inline: true}
		if _, _, err := d.Open(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
