package dataset

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/tokenizer"
)

// A datasetCase is what the real program made of one command line. The file says
// with which versions; its tokenizers were those of stubNamed, in Python.
type datasetCase struct {
	Dataset        string
	Seed           int64
	TokenizerName  string `json:"tokenizer"`
	Num            int
	InputLen       int    `json:"input_len"`
	PrefixLen      int    `json:"prefix_len"`
	SuffixLen      int    `json:"suffix_len"`
	NumPrefixes    int    `json:"num_prefixes"`
	OutputLen      int    `json:"output_len"`
	Category       string `json:"category"`
	Chat           bool   `json:"chat"`
	SkipTemplate   bool   `json:"skip_template"`
	DisableShuffle bool   `json:"disable_shuffle"`
	NoOversample   bool   `json:"no_oversample"`
	Want           []goldenTurn
	NumPy          [3]float64

	tokenizer tokenizer.Tokenizer
	folder    string
}

type goldenTurn struct {
	ID        string `json:"id"`
	Prompt    string `json:"prompt"`
	PromptLen int    `json:"prompt_len"`
	OutputLen int    `json:"output_len"`
}

// goldenTemplate is the chat template of the golden cases.
func goldenTemplate(prompt string) (string, error) { return "<user> " + prompt + " <assistant>", nil }

func (c *datasetCase) template() Template {
	if c.SkipTemplate {
		return nil
	}
	return goldenTemplate
}

// goldenCases gives the cases of one dataset, with their files written out.
func goldenCases(t *testing.T, dataset string) []datasetCase {
	t.Helper()
	data, err := os.ReadFile("../testdata/golden/datasets.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Files map[string]string
		Cases []datasetCase
	}
	if err := json.Unmarshal(data, &golden); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for name, text := range golden.Files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var cases []datasetCase
	for _, c := range golden.Cases {
		if c.Dataset == dataset {
			c.tokenizer, c.folder = stubNamed(t, c.TokenizerName), folder
			cases = append(cases, c)
		}
	}
	if len(cases) == 0 {
		t.Fatalf("no golden case of %s", dataset)
	}
	return cases
}

func (c *datasetCase) path(name string) string { return filepath.Join(c.folder, name) }

// check compares what d yields, twice, with what the real program made.
func (c *datasetCase) check(t *testing.T, d interface{ Open() (Source, int, error) }) {
	t.Helper()
	source, n, err := d.Open()
	if err != nil {
		t.Fatalf("%s with seed %d: %v", c.Dataset, c.Seed, err)
	}
	if n != len(c.Want) {
		t.Errorf("%s with seed %d: %d conversations, want %d", c.Dataset, c.Seed, n, len(c.Want))
	}
	for range 2 {
		var ids []string
		var got []goldenTurn
		for i, turn := range turns(t, source, &ids) {
			got = append(got, goldenTurn{ids[i], turn.Prompt, turn.PromptLen, turn.OutputLen})
		}
		if !slices.Equal(got, c.Want) {
			t.Errorf("%s with seed %d:\n%+v\nwant\n%+v", c.Dataset, c.Seed, got, c.Want)
		}
	}
}

// checkNumPy compares where rng goes on with where the real program's does.
func (c *datasetCase) checkNumPy(t *testing.T, rng *nprand.RandomState) {
	t.Helper()
	for i, want := range c.NumPy {
		if got := rng.Random(); got != want {
			t.Errorf("%s with seed %d: draw %d after loading is %v, want %v", c.Dataset, c.Seed, i, got, want)
		}
	}
}
