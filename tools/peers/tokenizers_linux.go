package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/dataset/tokenizer/tokenizertest"
)

// library times Hugging Face's library: the best of five passes over the texts, in seconds.
const library = `
import json, sys, time
from tokenizers import Tokenizer
tokenizer, texts = Tokenizer.from_file(sys.argv[1]), json.load(open(sys.argv[2]))
def seconds():
    began = time.perf_counter()
    for text in texts:
        tokenizer.encode(text, add_special_tokens=False)
    return time.perf_counter() - began
print(min(seconds() for _ in range(5)))
`

// encoding times both ways to make ids of texts of 1000 tokens, on a core each. Make families
// installs the library, in $ORACLE; without it, only ours is timed.
func encoding(p *plan) ([]line, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	python := filepath.Join(cmp.Or(os.Getenv("ORACLE"), filepath.Join(home, ".cache", "servebench-oracle")), "venv",
		"bin", "python")
	var lines []line
	for _, model := range []struct {
		name string
		text []byte
	}{
		{"BPE of Llama 3's size", tokenizertest.Llama()},
		{"WordPiece of BERT's size", tokenizertest.BERT()},
		{"Unigram of XLM-R's size", tokenizertest.XLMR()},
	} {
		file, texts := filepath.Join(p.dir, "model.json"), filepath.Join(p.dir, "texts.json")
		if err := os.WriteFile(file, model.text, 0o600); err != nil {
			return nil, err
		}
		stop := observe()
		ours, bytes, err := encode(file, texts)
		if err != nil {
			return nil, err
		}
		l := line{measure: model.name, figure: fmt.Sprintf("%.1f MB/s", float64(bytes)/1e6/ours.Seconds())}
		switch out, err := exec.Command(python, "-c", library, file, texts).Output(); {
		case err != nil:
			l.figure += "; " + python + " has no library to compare with: make families"
		default:
			theirs, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", python, err)
			}
			ratio := theirs / ours.Seconds()
			l.figure += fmt.Sprintf(", %.1f × Hugging Face's library", ratio)
			l.target, l.verdict = "≥ 1 ×", verdictOf(ratio >= 1)
		}
		lines = append(lines, l.despite(stop().Void))
	}
	return lines, nil
}

// encode writes texts of 1000 random tokens, and times the best of five passes over them.
func encode(file, texts string) (best time.Duration, bytes int, err error) {
	t, err := tokenizer.Open(file)
	if err != nil {
		return 0, 0, err
	}
	draw := rand.New(rand.NewPCG(1, 2))
	all := make([]string, 100)
	for i := range all {
		ids := make([]int, 1000)
		for j := range ids {
			ids[j] = draw.IntN(t.VocabSize())
		}
		all[i] = t.Decode(ids)
		bytes += len(all[i])
	}
	data, err := json.Marshal(all)
	if err != nil {
		return 0, 0, err
	}
	best = longest
	for range 5 {
		began := time.Now()
		for _, text := range all {
			t.Encode(text, false)
		}
		best = min(best, time.Since(began))
	}
	return best, bytes, os.WriteFile(texts, data, 0o600)
}
