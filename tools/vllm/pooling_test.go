//go:build vllm && linux

package vllm_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A pooledLine is a command line for a BERT. Each of its inputs has so many special
// tokens that the dataset does not count: [CLS] and [SEP], or none.
type pooledLine struct {
	commandLine
	special int
}

var (
	bertLines = []pooledLine{
		{commandLine{"BERT, embeddings", "--backend openai-embeddings --endpoint /v1/embeddings --random-input-len 40 --random-range-ratio 0.5 --random-batch-size 2 --num-prompts 60 --max-concurrency 4 --seed 51"}, 2},
		{commandLine{"BERT, prefixes", "--backend openai-embeddings --endpoint /v1/embeddings --random-input-len 40 --random-prefix-len 9 --num-prompts 30 --max-concurrency 4 --seed 52"}, 2},
		{commandLine{"BERT, documents", "--backend openai-embeddings --endpoint /v1/embeddings --dataset-name random-rerank --no-reranker --random-input-len 30 --random-batch-size 3 --num-prompts 30 --max-concurrency 4 --seed 53"}, 2},
		{commandLine{"BERT, texts", "--backend openai-embeddings --endpoint /v1/embeddings --dataset-name custom --dataset-path PROMPTS --skip-chat-template --num-prompts 40 --max-concurrency 4 --seed 54"}, 0},
		{commandLine{"BERT, pooling", "--backend vllm-pooling --endpoint /pooling --random-input-len 300 --random-range-ratio 0.3 --num-prompts 30 --max-concurrency 4 --seed 55"}, 2},
	}
	// An input is [CLS] query [SEP] document [SEP] here, and the dataset counts one of the three.
	crossLines = []pooledLine{
		{commandLine{"BERT, rerank", "--backend vllm-rerank --endpoint /v1/rerank --dataset-name random-rerank --random-input-len 60 --random-batch-size 4 --num-prompts 40 --max-concurrency 4 --seed 56"}, 2},
		{commandLine{"BERT, rerank of any length", "--backend vllm-rerank --endpoint /rerank --dataset-name random-rerank --random-input-len 90 --random-range-ratio 0.6 --random-batch-size 3 --num-prompts 30 --max-concurrency 4 --seed 57"}, 2},
	}
)

// TestEnginePooling loads two BERTs, whose tokenizer is WordPiece, with both clients as
// TestEngine does, and holds what servebench counted of the prompts against what the
// engine counted.
func TestEnginePooling(t *testing.T) {
	pairs := newPairs(t)
	t.Run("embeddings", func(t *testing.T) { comparePooled(t, "BertModel", pairs, bertLines) })
	t.Run("rerank", func(t *testing.T) { comparePooled(t, "BertForSequenceClassification", pairs, crossLines) })
}

// comparePooled runs command lines on an engine with a BERT of an architecture.
func comparePooled(t *testing.T, architecture string, pairs []pair, lines []pooledLine) {
	prompts := writePrompts(t)
	e := startEngine(t, writeBERT(t, architecture, prompts), "--runner", "pooling", "--load-format", "dummy")
	through := newProxy(t, e)
	printHeader()
	for _, line := range lines {
		argv := line.words(e, through.URL, prompts)
		for _, p := range pairs {
			t.Run(line.name+", "+p.release, func(t *testing.T) {
				before := e.totals(t)
				their := compareLine(t, e, through, p, line.name, argv).file
				counted := int(e.totals(t)["vllm:prompt_tokens_total"] - before["vllm:prompt_tokens_total"])
				made := promptTokens(t, p.ours, argv) + line.special*their.Sequences
				if their.Failed != 0 || counted != 2*their.Input || made != their.Input {
					t.Errorf("of each client %d requests failed; the engine counted %d tokens of both, its answers say %d to each, and servebench made prompts of %d",
						their.Failed, counted, their.Input, made)
				}
			})
		}
	}
}

// promptTokens is how many tokens servebench counts in the prompts of a command line as it makes them.
func promptTokens(t *testing.T, c client, argv []string) (n int) {
	t.Helper()
	o := c.(ours)
	args := append([]string{"dataset", "--vllm-version", o.version}, argv...)
	for _, r := range decodeLines[vllmRequest](t, command(t, o.program, args)) {
		n += r.PromptLen
	}
	return n
}

// writeBERT writes a BERT without weights, which the engine draws. Its tokenizer knows the letters of prompts.
func writeBERT(t *testing.T, architecture, prompts string) model {
	t.Helper()
	m := model{t.TempDir(), t.TempDir()}
	python := filepath.Join(engineVenv(), "bin", "python")
	script, license := filepath.Join(folder, "testdata", "wordpiece.py"), filepath.Join(folder, "../../LICENSE")
	tokens, err := strconv.Atoi(strings.TrimSpace(string(command(t, python, []string{script, m.tokenizer, license, prompts}))))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(m.dir, os.DirFS(m.tokenizer)); err != nil {
		t.Fatal(err)
	}
	writeJSON(t, m.dir, "config.json", map[string]any{
		"architectures": []string{architecture}, "model_type": "bert", "dtype": "float32",
		"hidden_size": hidden, "intermediate_size": inner, "num_hidden_layers": layers, "num_attention_heads": heads,
		"vocab_size": tokens, "type_vocab_size": 2, "max_position_embeddings": longest, "position_embedding_type": "absolute",
		"hidden_act": "gelu", "layer_norm_eps": 1e-12, "pad_token_id": 0,
		"id2label": map[string]string{"0": "score"}, "label2id": map[string]int{"score": 0},
	})
	return m
}
