package dataset

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/servebench/servebench/dataset/rows"
)

// SpecBench takes the first turn of the questions of Spec-Bench, as vLLM's spec_bench dataset does,
// from a file of JSON lines: {"category": "…", "turns": ["…", …]}. Whatever the seed, seed 0
// decides the order and what repeats, as in vLLM's client. That client renders these prompts with
// the chat template even if it is told to skip templates.
type SpecBench struct {
	Options
	Category  string // only its questions; empty: all
	OutputLen int    // tokens to ask for
}

// Open reads the file. It returns the source and the number of its conversations.
func (d SpecBench) Open() (Source, int, error) { return d.open(d.rows) }

// open sends the rows that read finds in the file.
func (d SpecBench) open(read func(io.Reader) ([]promptRow, error)) (Source, int, error) {
	if d.OutputLen < 1 {
		return nil, 0, fmt.Errorf("output length %d: must be at least 1", d.OutputLen)
	}
	rows, err := readFile(d.Path, func(r io.Reader) ([]promptRow, error) {
		rows, err := read(r)
		if err == nil && len(rows) == 0 && d.Category != "" {
			err = fmt.Errorf("%s: no row has the category %q", d.Path, d.Category)
		}
		return rows, err
	})
	if err != nil {
		return nil, 0, err
	}
	d.Seed = 0
	source, n := Custom{d.Options, d.OutputLen}.source(rows)
	return source, n, nil
}

func (d SpecBench) rows(r io.Reader) ([]promptRow, error) {
	type question struct {
		Category string   `json:"category"`
		Turns    []string `json:"turns"`
	}
	return readRows(d.Path, r, func(l rows.Line[question]) (promptRow, bool, error) {
		if len(l.Value.Turns) == 0 {
			return promptRow{}, false, errors.New(`no "turns"`)
		}
		return promptRow{prompt: l.Value.Turns[0], outputLen: d.OutputLen, line: l.Number}, d.wants(l.Value.Category), nil
	})
}

func (d SpecBench) wants(category string) bool { return d.Category == "" || d.Category == category }

// SpeedBench takes the first message of the prompts of SPEED-Bench, as vLLM's
// speed_bench dataset does, from a folder of JSON lines with a file for each subset:
// {"category": "…", "messages": [{"content": "…"}, …]}. Path is
// the folder. Everything else is as in SpecBench.
type SpeedBench struct {
	SpecBench
	Subset string // qualitative, throughput_1k, …: the name of the file without .jsonl
}

// Open reads the file. It returns the source and the number of its conversations.
func (d SpeedBench) Open() (Source, int, error) {
	d.Path = filepath.Join(d.Path, d.Subset+".jsonl")
	return d.open(d.rows)
}

func (d SpeedBench) rows(r io.Reader) ([]promptRow, error) {
	type prompt struct {
		Category string `json:"category"`
		Messages []struct {
			Content *string `json:"content"`
		} `json:"messages"`
	}
	return readRows(d.Path, r, func(l rows.Line[prompt]) (promptRow, bool, error) {
		if len(l.Value.Messages) == 0 || l.Value.Messages[0].Content == nil {
			return promptRow{}, false, errors.New(`no "messages" with a "content"`)
		}
		return promptRow{prompt: *l.Value.Messages[0].Content, outputLen: d.OutputLen, line: l.Number},
			d.wants(l.Value.Category), nil
	})
}
