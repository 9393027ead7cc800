package multimodal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/media"
	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/tokenizer"
)

const golden = "../../testdata/golden/"

// A mmCase is what vLLM's random-mm made of a command line.
type mmCase struct {
	Name      string
	Argv      []string
	Tokenizer string
	Python    float64 `json:"python_random_after"`
	Requests  []struct {
		ID        string
		Prompt    string
		PromptLen int `json:"prompt_len"`
		OutputLen int `json:"output_len"`
		Items     []mmItem
	}
}

type mmItem struct {
	Kind          dataset.Kind
	Height, Width int
	Frames        int
	Pixels        []byte // of small images
	Hash          string `json:"pixels_sha256"`
}

func mmCases(t *testing.T) []mmCase {
	t.Helper()
	data, err := os.ReadFile(golden + "random_mm.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []mmCase }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return file.Cases
}

func (c *mmCase) value(flag, otherwise string) string {
	if i := slices.Index(c.Argv, flag); i >= 0 {
		return c.Argv[i+1]
	}
	return otherwise
}

func (c *mmCase) number(t *testing.T, flag, otherwise string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(c.value(flag, otherwise), 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// dataset is the dataset of the command line, with vLLM's defaults.
func (c *mmCase) dataset(t *testing.T) RandomMM {
	t.Helper()
	ratio := c.number(t, "--random-range-ratio", "0")
	d := RandomMM{
		Random: dataset.Random{
			Options:  dataset.Options{Num: int(c.number(t, "--num-prompts", "")), Seed: int64(c.number(t, "--seed", "0")), IDPrefix: "b-", Python: new(nprand.Python)},
			InputLen: int(c.number(t, "--random-input-len", "1024")), OutputLen: int(c.number(t, "--random-output-len", "128")),
			PrefixLen: int(c.number(t, "--random-prefix-len", "0")), Ratio: dataset.RangeRatio{Input: ratio, Output: ratio},
		}, Chat: slices.Contains(c.Argv, "--enable-multimodal-chat"), Media: Media{Items: int(c.number(t, "--random-mm-base-items-per-request", "1")), Ratio: c.number(t, "--random-mm-num-mm-items-range-ratio", "0")},
	}
	var err error
	if d.Media.Buckets, err = ParseBuckets(c.value("--random-mm-bucket-config", "{(256, 256, 1): 0.5, (720, 1280, 1): 0.5, (720, 1280, 16): 0.0}")); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(c.value("--random-mm-limit-mm-per-prompt", `{"image": 255, "video": 1}`)), &d.Media.Limits); err != nil {
		t.Fatal(err)
	}
	if d.Tokenizer, err = tokenizer.Open(golden + c.Tokenizer); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestRandomMMDrawsAsVLLM(t *testing.T) {
	for _, c := range mmCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			d := c.dataset(t)
			choice, err := d.Media.choice()
			if err != nil {
				t.Fatal(err)
			}
			drafts, err := d.drafts(choice)
			if err != nil {
				t.Fatal(err)
			}
			i := 0
			for draft := range drafts {
				want, turn := c.Requests[i], draft.Turns[0]
				if draft.ID != want.ID || turn.Prompt != want.Prompt || turn.PromptLen != want.PromptLen || turn.OutputLen != want.OutputLen {
					t.Errorf("request %d: %+v, want %+v", i, turn, want)
				}
				if len(draft.items) != len(want.Items) {
					t.Fatalf("request %d has %d items, want %d", i, len(draft.items), len(want.Items))
				}
				for k := range draft.items {
					compareItem(t, &draft.items[k], &want.Items[k])
				}
				i++
			}
			if i != len(c.Requests) {
				t.Errorf("%d requests, want %d", i, len(c.Requests))
			}
		})
	}
}

func compareItem(t *testing.T, got *item, want *mmItem) {
	t.Helper()
	if got.kind() != want.Kind || got.Height != want.Height || got.Width != want.Width || got.Frames != want.Frames {
		t.Errorf("%+v, want %+v", got.Bucket, want)
		return
	}
	if sum := sha256.Sum256(got.pixels().RGB); hex.EncodeToString(sum[:]) != want.Hash {
		t.Errorf("the pixels of %+v differ", got.Bucket)
	}
}

func TestRandomMMSendsItsImages(t *testing.T) {
	for _, c := range mmCases(t) {
		if strings.Contains(c.Name, "video") || strings.Contains(c.Name, "default") {
			continue
		}
		d := c.dataset(t)
		source, n, err := d.Open()
		if err != nil || n != len(c.Requests) {
			t.Fatal(n, err)
		}
		i := 0
		for conversation, err := range source {
			if err != nil {
				t.Fatal(err)
			}
			turn, want := &conversation.Turns[0], c.Requests[i]
			if len(turn.Payload.Media) != len(want.Items) || (turn.Messages != nil) != d.Chat {
				t.Fatalf("%s: request %d: %+v", c.Name, i, turn)
			}
			for k, m := range turn.Payload.Media {
				item := &want.Items[k]
				drawn := media.Picture(media.Pixels{Width: item.Width, Height: item.Height, RGB: item.Pixels})
				if m.Kind != dataset.Image || string(m.Part) != string(drawn.Part) {
					t.Errorf("%s: image %d of request %d is %s, want %s", c.Name, k, i, m.Part, drawn.Part)
				}
				if d.Chat && !strings.Contains(string(turn.Messages), string(m.Part)) {
					t.Errorf("%s: the message lacks the image", c.Name)
				}
			}
			i++
		}
		if got := d.Python.Random(); got != c.Python {
			t.Errorf("%s: Python's generator then draws %v, want %v", c.Name, got, c.Python)
		}
	}
}

func TestRandomMMRefuses(t *testing.T) {
	good := RandomMM{
		Random: dataset.Random{Options: dataset.Options{Num: 1, Tokenizer: tokenizer.Stub{Size: 9}}, InputLen: 1, OutputLen: 1}, Media: Media{Items: 1, Limits: map[dataset.Kind]int{dataset.Image: 1}, Buckets: []Bucket{{8, 8, 1, 1}}},
	}
	if _, _, err := good.Open(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		change func(d *RandomMM)
		want   string
	}{
		{func(d *RandomMM) { d.Media.Ratio = 1.5 }, "--random-mm-num-mm-items-range-ratio: it must be from 0 to 1"},
		{func(d *RandomMM) { d.Media.Items = -1 }, "--random-mm-base-items-per-request: -1: it must not be negative"},
		{func(d *RandomMM) { d.Media.Limits = map[dataset.Kind]int{dataset.Video: 1} }, "--random-mm-limit-mm-per-prompt: it has no image, and --random-mm-bucket-config has (8, 8, 1)"},
		{func(d *RandomMM) { d.Media.Limits = map[dataset.Kind]int{dataset.Image: -1} }, "--random-mm-limit-mm-per-prompt: image: -1: it must not be negative"},
		{func(d *RandomMM) { d.Media.Buckets = []Bucket{{8, 8, 1, -1}} }, "--random-mm-bucket-config: weights must not be negative"},
		{func(d *RandomMM) { d.Media.Buckets = []Bucket{{8, 8, 1, 0}} }, "--random-mm-bucket-config: one weight at least must not be 0"},
		{func(d *RandomMM) { d.Media.Buckets = nil }, "--random-mm-bucket-config: one weight at least must not be 0"},
		{func(d *RandomMM) { d.Media.Items = 3 }, "--random-mm-base-items-per-request: each request has at least 3 items, and --random-mm-limit-mm-per-prompt allows 1"},
		{func(d *RandomMM) {
			d.Media.Buckets, d.Media.Limits = []Bucket{{8, 8, 1, 1}, {8, 8, 2, 1}}, map[dataset.Kind]int{dataset.Image: 1, dataset.Video: 1}
		}, "--random-mm-bucket-config: (8, 8, 2) is a video, and servebench has no encoder for videos, as none is written in Go: give it the weight 0"},
		{func(d *RandomMM) { d.Tokenizer = nil }, "random-mm: needs a tokenizer"},
		{func(d *RandomMM) { d.Num = 0 }, "number of prompts 0: must be at least 1"},
	} {
		d := good
		c.change(&d)
		if _, _, err := d.Open(); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestParseBuckets(t *testing.T) {
	want := []Bucket{{256, 256, 1, 0.5}, {720, 1280, 16, 1e-3}}
	for _, text := range []string{
		"{(256, 256, 1): 0.5, (720,1280,16,): 1e-3}",
		` { "(256, 256, 1)" : 0.5 , '( 720, 1280, 16 )':.001, } `,
		"{(256, 256, 1): 9, (720, 1280, 16): 0.001, (256,256,1):0.5}",
	} {
		got, err := ParseBuckets(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"":                            `"": it must be like {(256, 256, 1): 0.5, (720, 1280, 1): 0.5}`,
		"{256: 1}":                    `"256: 1": it must be (height, width, frames): weight`,
		"{(256, 256): 1}":             "(256, 256): it must have three numbers: height, width and frames",
		"{(1, 65501, 1): 1}":          "(1, 65501, 1): height, width and frames must be whole numbers from 1 to 65500",
		"{(256, 256, 0): 1}":          "(256, 256, 0): height, width and frames must be whole numbers from 1 to 65500",
		"{(256, 256, 1): half}":       `(256, 256, 1): "half" is no weight`,
		"{(1, 1, 1): 1 (2, 2, 1): 1}": `"(1, 1, 1): 1 (2, 2, 1): 1": it must be (height, width, frames): weight`,
	} {
		if _, err := ParseBuckets(text); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func FuzzParseBuckets(f *testing.F) {
	f.Add("{(256, 256, 1): 0.5, (720,1280,16,): 1e-3}")
	f.Add(`{"(1, 1, 1)": 1}`)
	f.Fuzz(func(t *testing.T, text string) {
		buckets, err := ParseBuckets(text)
		for _, b := range buckets {
			if err == nil && (b.bytes() < 3 || b.kind() == "") {
				t.Errorf("%q: %+v", text, b)
			}
		}
	})
}
