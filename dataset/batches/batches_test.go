package batches_test

import (
	"encoding/json"
	"flag"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/batches"
	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/tokenizer"
)

const golden = "../../testdata/golden/"

// A batchCase is what vLLM's client made of one command line.
type batchCase struct {
	Name, Tokenizer string
	Argv            []string
	Requests        []request
	Python          float64 `json:"python_random_after"`
}

type request struct {
	ID        string
	Prompt    []string
	PromptLen int `json:"prompt_len"`
	OutputLen int `json:"output_len"`
}

func batchCases(t *testing.T) []*batchCase {
	t.Helper()
	data, err := os.ReadFile(golden + "random_rerank.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Cases []*batchCase }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) != 36 {
		t.Fatalf("%d golden cases", len(file.Cases))
	}
	return file.Cases
}

// open opens the dataset of the command line.
func (c *batchCase) open(t *testing.T, python *nprand.Python) (dataset.Source, int, error) {
	t.Helper()
	f := flag.NewFlagSet("", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	d := dataset.Random{Options: dataset.Options{IDPrefix: "b-", Python: python}}
	name := f.String("dataset-name", "", "")
	f.String("backend", "", "")
	f.Int64Var(&d.Seed, "seed", 0, "")
	f.IntVar(&d.Num, "num-prompts", 0, "")
	f.IntVar(&d.InputLen, "random-input-len", 0, "")
	size := f.Int("random-batch-size", 1, "")
	separate := f.Bool("no-reranker", false, "")
	f.Func("random-range-ratio", "", func(text string) (err error) {
		if strings.HasPrefix(text, "{") {
			return json.Unmarshal([]byte(text), &d.Ratio)
		}
		d.Ratio.Input, err = strconv.ParseFloat(text, 64)
		d.Ratio.Output = d.Ratio.Input
		return err
	})
	err := f.Parse(c.Argv)
	if err == nil {
		d.Tokenizer, err = tokenizer.Open(golden + c.Tokenizer)
	}
	if err != nil {
		t.Fatal(err)
	}
	if *name == "random-rerank" {
		return batches.Rerank{Random: d, Size: *size, Separate: *separate}.Open()
	}
	d.OutputLen = 128
	return batches.Random{Random: d, Size: *size}.Open()
}

func TestBatchesAreThoseOfVLLM(t *testing.T) {
	for _, c := range batchCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			var python nprand.Python
			source, n, err := c.open(t, &python)
			if err != nil {
				t.Fatal(err)
			}
			if n != len(c.Requests) {
				t.Errorf("%d requests, want %d", n, len(c.Requests))
			}
			for range 2 { // a source can be read again
				var got []request
				for conversation, err := range source {
					if err != nil {
						t.Fatal(err)
					}
					turn := &conversation.Turns[0]
					got = append(got, request{conversation.ID, turn.Payload.Batch, turn.PromptLen, turn.OutputLen})
				}
				if diff := cmp.Diff(c.Requests, got); diff != "" {
					t.Errorf("(-vLLM +ours):\n%s", diff)
				}
			}
			if got := python.Random(); got != c.Python {
				t.Errorf("Python goes on with %v, want %v", got, c.Python)
			}
		})
	}
}

func TestASourceOfBatchesCanStop(t *testing.T) {
	for _, c := range batchCases(t)[:6] {
		source, _, err := c.open(t, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range source {
			break
		}
	}
}

func TestWhatMakesNoBatches(t *testing.T) {
	words := tokenizer.Stub{Size: 9}
	random := dataset.Random{Options: dataset.Options{Num: 2, Tokenizer: words}, InputLen: 3}
	untokenized := random
	untokenized.Tokenizer = nil
	for want, d := range map[string]interface {
		Open() (dataset.Source, int, error)
	}{
		"batches of 0 prompts: they need at least 1":            batches.Random{Random: random},
		"batches of prompts are texts: a tokenizer is needed":   batches.Rerank{Random: untokenized, Size: 1},
		"--no-reranker counts the query as one prompt: --num-p": batches.Rerank{Random: random, Size: 1, Separate: true},
	} {
		if _, _, err := d.Open(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
