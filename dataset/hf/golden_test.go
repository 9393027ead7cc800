package hf

import (
	"encoding/json"
	"flag"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/jinja"
	"github.com/servebench/servebench/dataset/media/mediatest"
	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/tokenizer"
)

const goldenFolder = "../../testdata/golden/"

// A selection is what vLLM's client made of a command line.
type selection struct {
	Name      string
	Argv      []string
	Tokenizer string
	Exception string
	Requests  []request
	Python    float64 `json:"python_random_after"`
}

// A request is one that vLLM's client would send.
type request struct {
	ID        string          `json:"id"`
	Prompt    json.RawMessage `json:"prompt"`
	PromptLen int             `json:"prompt_len"`
	OutputLen int             `json:"output_len"`
	Media     json.RawMessage `json:"media"`
}

// cached makes the test's cache of Hugging Face the one to look in.
func cached(t *testing.T) {
	t.Helper()
	for name, folder := range map[string]string{"HF_HUB_CACHE": "testdata/hub", "HF_DATASETS_CACHE": "testdata/datasets"} {
		path, err := filepath.Abs(folder)
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv(name, path)
	}
}

// parse reads a command line of vLLM's client.
func parse(t *testing.T, argv []string, tokenizerName string) HF {
	t.Helper()
	d := HF{Options: dataset.Options{IDPrefix: "b-", Python: new(nprand.Python)}}
	f := flag.NewFlagSet("hf", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.String("dataset-name", "", "")
	f.String("backend", "", "")
	f.StringVar(&d.Path, "dataset-path", "", "")
	f.IntVar(&d.Num, "num-prompts", 1000, "")
	f.Int64Var(&d.Seed, "seed", 0, "")
	f.StringVar(&d.Rows.Split, "hf-split", "", "")
	f.StringVar(&d.Rows.Subset, "hf-subset", "", "")
	f.StringVar(&d.Name, "hf-name", "", "")
	f.BoolVar(&d.Rows.NoStream, "no-stream", false, "")
	f.BoolVar(&d.NoOversample, "no-oversample", false, "")
	f.BoolVar(&d.DisableShuffle, "disable-shuffle", false, "")
	f.BoolVar(&d.ChatTemplate.Skip, "skip-chat-template", false, "")
	f.BoolVar(&d.Chat, "enable-multimodal-chat", false, "")
	f.Float64Var(&d.Edits.Min, "blazedit-min-distance", 0, "")
	f.Float64Var(&d.Edits.Max, "blazedit-max-distance", 1, "")
	f.Float64Var(&d.Speech.Min, "asr-min-audio-len-sec", 0, "")
	f.Float64Var(&d.Speech.Max, "asr-max-audio-len-sec", math.Inf(1), "")
	f.String("endpoint", "", "")
	f.Int("max-concurrency", 0, "")
	length := f.Int("hf-output-len", 0, "")
	f.IntVar(length, "output-len", 0, "")
	if err := f.Parse(argv); err != nil {
		t.Fatal(err)
	}
	if *length > 0 {
		d.OutputLen = length
	}
	var err error
	if d.Tokenizer, err = tokenizer.Open(goldenFolder + tokenizerName); err != nil {
		t.Fatal(err)
	}
	d.ChatTemplate.Open = func() (*jinja.Template, error) { return jinja.Open(goldenFolder + tokenizerName) }
	return d
}

func TestRowsAreChosenAsByVLLM(t *testing.T) {
	cached(t)
	var file struct{ Cases []selection }
	readCases(t, goldenFolder+"hf.json", &file)
	if len(file.Cases) != 61 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	for _, s := range file.Cases {
		t.Run(s.Name, func(t *testing.T) {
			d := parse(t, s.Argv, s.Tokenizer)
			source, n, err := d.Open()
			if s.Exception != "" {
				if err == nil && !strings.Contains(s.Exception, "on backend") { // which only the command knows
					t.Errorf("no error; vLLM ends with %s", s.Exception)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				s.check(t, source, n)
			}
			if got := d.Python.Random(); got != s.Python {
				t.Errorf("Python's generator then draws %v, want %v", got, s.Python)
			}
		})
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
		got, want := asGolden(t, c), s.Requests[i]
		if strings.HasPrefix(string(want.Prompt), "[") {
			want.Media = nil // messages have it
		}
		if diff := cmp.Diff(plainly(t, want), plainly(t, got)); diff != "" {
			t.Errorf("request %d: -want +got:\n%s", i, diff)
		}
		i++
	}
	if i != n {
		t.Errorf("%d conversations came, want %d", i, n)
	}
}

// asGolden is a conversation in the form of the golden file.
func asGolden(t *testing.T, c *dataset.Conversation) request {
	t.Helper()
	turn := &c.Turns[0]
	r := request{ID: c.ID, Prompt: json.RawMessage(turn.Messages), PromptLen: turn.PromptLen, OutputLen: turn.OutputLen}
	if turn.Messages == nil {
		r.Prompt, _ = json.Marshal(turn.Prompt)
	}
	if turn.Payload != nil && len(turn.Payload.Media) > 0 {
		r.Media = turn.Payload.Media[0].Part
	}
	return r
}

// plainly is a request with its JSON and its images decoded. The folder of the videos is the one of the golden file.
func plainly(t *testing.T, r request) (all [7]any) {
	t.Helper()
	folder, _ := filepath.Abs("testdata/hub/datasets--yale-nlp--MMVU/snapshots/" + strings.Repeat("0", 39) + "1")
	for i, raw := range []json.RawMessage{r.Prompt, r.Media} {
		if raw == nil {
			continue
		}
		text, pictures := mediatest.Cut(strings.ReplaceAll(string(raw), folder, "/snap/MMVU"))
		if err := json.Unmarshal([]byte(text), &all[i]); err != nil {
			t.Fatal(err)
		}
		all[5+i] = pictures
	}
	all[2], all[3], all[4] = r.ID, r.PromptLen, r.OutputLen
	return all
}
