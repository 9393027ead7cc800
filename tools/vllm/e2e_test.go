//go:build vllm && linux

package vllm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A commandLine is one for all clients.
type commandLine struct{ name, argv string }

// Command lines for an engine without any flags. DATA is testdata, PROMPTS a file
// of prompts. The short form runs the first five.
var plainLines = []commandLine{
	{"random", "--random-input-len 30 --random-output-len 24 --random-range-ratio 0.3 --num-prompts 64 --max-concurrency 8 --num-warmups 3 --ready-check-timeout-sec 30 --seed 7"},
	{"sharegpt, chat", "--backend openai-chat --endpoint /v1/chat/completions --dataset-name sharegpt --dataset-path DATA/golden/sharegpt_input.json --sharegpt-output-len 20 --num-prompts 48 --max-concurrency 8 --ready-check-timeout-sec 30"},
	{"responses", "--backend openai-responses --endpoint /v1/responses --random-input-len 30 --random-output-len 12 --num-prompts 24 --max-concurrency 4 --seed 11"},
	{"adapters at random", "--random-input-len 30 --random-output-len 12 --num-prompts 24 --max-concurrency 4 --lora-modules one two --seed 12"},
	{"adapters in turn, chat", "--backend openai-chat --endpoint /v1/chat/completions --dataset-name custom --skip-chat-template --dataset-path PROMPTS --custom-output-len 12 --num-prompts 24 --max-concurrency 4 --lora-modules one two --lora-assignment round-robin --seed 13"},
	{"prefix_repetition", "--dataset-name prefix_repetition --prefix-repetition-prefix-len 300 --prefix-repetition-suffix-len 20 --prefix-repetition-num-prefixes 4 --prefix-repetition-output-len 16 --num-prompts 40 --request-rate 20 --burstiness 0.5 --seed 3 --extra-body {\"stream_options\":{\"include_usage\":true,\"continuous_usage_stats\":true}}"},
	{"custom with a template", "--dataset-name custom --dataset-path PROMPTS --custom-output-len 16 --num-prompts 30 --request-rate 20 --temperature 0 --seed 5"},
	{"custom, chat", "--backend openai-chat --endpoint /v1/chat/completions --dataset-name custom --skip-chat-template --dataset-path PROMPTS --custom-output-len -1 --num-prompts 30 --max-concurrency 4 --request-rate 40 --percentile-metrics ttft,tpot,itl,e2el,client_queue_time --goodput ttft:200 e2el:2000"},
	{"probes and a ramp", "--random-input-len 20 --random-output-len 16 --num-prompts 40 --probe-request-rate 4 --ramp-up-strategy linear --ramp-up-start-rps 5 --ramp-up-end-rps 20 --top-p 0.9"},
	{"the server's model", "--random-input-len 20 --random-output-len 8 --num-prompts 10 --max-concurrency 2"},
	{"--profile", "--random-input-len 10 --random-output-len 4 --num-prompts 4 --max-concurrency 2 --profile"},
}

// Command lines for engines with flags of their own.
var (
	embeddingLines = []commandLine{
		{"embeddings", "--backend openai-embeddings --endpoint /v1/embeddings --random-input-len 30 --random-batch-size 2 --num-prompts 40 --max-concurrency 4 --ready-check-timeout-sec 30 --seed 21"},
		{"embeddings of chats", "--backend openai-embeddings-chat --endpoint /v1/embeddings --dataset-name custom --dataset-path PROMPTS --skip-chat-template --num-prompts 30 --max-concurrency 4 --seed 22"},
		{"embeddings of documents", "--backend openai-embeddings --endpoint /v1/embeddings --dataset-name random-rerank --no-reranker --random-input-len 30 --random-batch-size 3 --num-prompts 30 --max-concurrency 4 --seed 23"},
		{"pooling", "--backend vllm-pooling --endpoint /pooling --random-input-len 30 --num-prompts 30 --max-concurrency 4 --request-rate 40 --seed 24"},
	}
	rankLines = []commandLine{
		{"rerank", "--backend vllm-rerank --endpoint /v1/rerank --dataset-name random-rerank --random-input-len 60 --random-batch-size 4 --num-prompts 40 --max-concurrency 4 --ready-check-timeout-sec 30 --seed 25"},
	}
	specLines = []commandLine{
		{"ngram speculation", "--random-input-len 30 --random-output-len 24 --num-prompts 32 --max-concurrency 8 --seed 2"},
		{"ngram speculation, chat", "--backend openai-chat --endpoint /v1/chat/completions --dataset-name sharegpt --dataset-path DATA/golden/sharegpt_input.json --sharegpt-output-len 20 --num-prompts 32 --max-concurrency 8 --temperature 0"},
	}
	intervalLines = []commandLine{
		{"--stream-interval 3", "--random-input-len 30 --random-output-len 24 --num-prompts 32 --max-concurrency 8 --seed 4"},
		{"--stream-interval 3, chat", "--backend openai-chat --endpoint /v1/chat/completions --dataset-name sharegpt --dataset-path DATA/golden/sharegpt_input.json --sharegpt-output-len 20 --num-prompts 32 --max-concurrency 8"},
	}
)

// full says whether all is to be run, and not the short form.
var full = os.Getenv("FULL") == "1"

// TestEngine loads a real engine with vLLM's own clients and with servebench, by
// the same command lines in turn: the engine's build beside servebench as that
// release, and the latest client beside servebench as the latest.
func TestEngine(t *testing.T) {
	pairs := newPairs(t)
	profiles := fmt.Sprintf(`{"profiler":"torch","torch_profiler_dir":%q,"torch_profiler_with_stack":false}`, t.TempDir())
	t.Run("plain", func(t *testing.T) {
		e := startEngine(t, writeModel(t), "--profiler-config", profiles, tellsCached, "--enable-lora", "--max-lora-rank", strconv.Itoa(adapterRank),
			"--max-loras", "2", "--lora-modules", "one="+writeAdapter(t, 5), "two="+writeAdapter(t, 6))
		lines := plainLines
		if !full {
			lines = lines[:5]
		}
		compareLines(t, e, pairs, lines)
		if full {
			t.Run("prefix cache reset", func(t *testing.T) { resetPrefixCache(t, e) })
		}
		t.Run("messages", func(t *testing.T) { sendMessages(t, e) })
		t.Run("start", func(t *testing.T) { knowStart(t, e) })
		t.Run("sessions", func(t *testing.T) { sendSessions(t, e, 8, 4) })
		t.Run("histograms", func(t *testing.T) { compareHistograms(t, e, pairs) })
	})
	t.Run("embeddings", func(t *testing.T) {
		e := startEngine(t, writeModel(t), "--runner", "pooling")
		compareLines(t, e, pairs, embeddingLines)
	})
	if !full {
		return
	}
	t.Run("rerank", func(t *testing.T) {
		e := startEngine(t, writeRanker(t), "--runner", "pooling")
		compareLines(t, e, pairs, rankLines)
	})
	t.Run("ngram", func(t *testing.T) {
		e := startEngine(t, writeModel(t), "--speculative-config", `{"method":"ngram","num_speculative_tokens":3,"prompt_lookup_max":3,"prompt_lookup_min":1}`)
		compareLines(t, e, pairs, specLines)
	})
	t.Run("stream interval", func(t *testing.T) {
		e := startEngine(t, writeModel(t), "--stream-interval", "3")
		compareLines(t, e, pairs, intervalLines)
	})
}

// newPairs gives those of the engine's own release and of the latest.
func newPairs(t *testing.T) []pair {
	t.Helper()
	return []pair{
		{"0.32.0", newTheirs(t, engineVenv(), "--whole"), newOurs(t, "0.32.0")},
		{"0.33.0", newTheirs(t, venv()), newOurs(t, "latest")},
	}
}

// compareLines runs each command line with each client through a proxy, and prints
// a row for each pair.
func compareLines(t *testing.T, e *engine, pairs []pair, lines []commandLine) {
	t.Helper()
	printHeader()
	through := newProxy(t, e)
	prompts := writePrompts(t)
	for _, line := range lines {
		argv := line.words(e, through.URL, prompts)
		for _, p := range pairs {
			t.Run(line.name+", "+p.release, func(t *testing.T) { compareLine(t, e, through, p, line.name, argv) })
		}
	}
}

// words are those of the command line for an engine behind a proxy.
func (l commandLine) words(e *engine, url, prompts string) []string {
	argv := strings.Fields(strings.NewReplacer("DATA", "../../testdata", "PROMPTS", prompts).Replace(l.argv))
	argv = append(argv, "--base-url", url, "--tokenizer", e.tokenizer)
	if l.name != "the server's model" {
		argv = append(argv, "--model", served)
	}
	if !strings.Contains(l.argv, "--percentile-metrics") {
		argv = append(argv, "--percentile-metrics", "ttft,tpot,itl,e2el")
	}
	return argv
}

// printHeader prints the head of the table whose rows compareLine prints.
func printHeader() {
	fmt.Printf("%-26s %-7s %9s %9s %9s %9s\n", "the same as by vLLM", "release", "requests", "completed", "in", "out")
}

// compareLine runs a command line with both clients of a pair, prints their row, and gives vLLM's result.
func compareLine(t *testing.T, e *engine, through *proxy, p pair, name string, argv []string) *results {
	t.Helper()
	n, _, their := compareClients(t, &through.journal, p, argv, func() { e.forget(t) })
	fmt.Printf("%-26s %-7s %9d %9d %9d %9d\n", name, p.release, n, their.file.Completed, their.file.Input, their.file.Output)
	return their
}

// sendMessages loads Anthropic's API of the engine, which vLLM's client does not know, and holds what
// servebench counts against what the engine counted.
func sendMessages(t *testing.T, e *engine) {
	e.forget(t)
	before := e.totals(t)
	our := newOurs(t, "latest").run(t, []string{"--backend", "anthropic", "--endpoint", "/v1/messages", "--base-url", e.url, "--model", served, "--tokenizer", e.tokenizer,
		"--random-input-len", "30", "--random-output-len", "12", "--num-prompts", "24", "--max-concurrency", "4", "--ready-check-timeout-sec", "0", "--seed", "31"})
	after := e.totals(t)
	if our.file.Completed != 24 || our.file.Output != 24*12 {
		t.Errorf("%d requests completed with %d tokens, want 24 with 288", our.file.Completed, our.file.Output)
	}
	for name, counted := range map[string]int{"vllm:prompt_tokens_total": our.file.Input, "vllm:generation_tokens_total": our.file.Output} {
		if theirs := int(after[name] - before[name]); theirs != counted {
			t.Errorf("%s: the engine counted %d, servebench %d", name, theirs, counted)
		}
	}
	fmt.Printf("%d messages: %d tokens in, %d out\n", our.file.Completed, our.file.Input, our.file.Output)
}

// resetPrefixCache shows by the engine's own count that a sweep that resets the
// prefix cache before its runs finds nothing of what a run before it has left.
func resetPrefixCache(t *testing.T, e *engine) {
	hits := func(run func()) float64 {
		before := e.totals(t)["vllm:prefix_cache_hits_total"]
		run()
		return e.totals(t)["vllm:prefix_cache_hits_total"] - before
	}
	ours := newOurs(t, "latest")
	again := func() {
		ours.run(t, []string{"--base-url", e.url, "--model", served, "--tokenizer", e.tokenizer,
			"--random-input-len", "300", "--random-output-len", "4", "--num-prompts", "8", "--max-concurrency", "2", "--seed", "41"})
	}
	e.forget(t)
	if n := hits(again); n != 0 {
		t.Errorf("the first run found %v tokens in the prefix cache", n)
	}
	if n := hits(again); n == 0 {
		t.Error("the same run found nothing in the prefix cache that the first one had filled")
	}
	plan := filepath.Join(t.TempDir(), "plan.yaml")
	writeFile(t, plan, fmt.Appendf(nil, "seed: 41\nload: {model: %s, tokenizer: %q, random-input-len: 300, random-output-len: 4, num-prompts: 8, max-concurrency: 2, disable-tqdm: true}\n"+
		"arms: [{name: engine, url: %q}]\nbetween: {reset-prefix-cache: true}\n", served, e.tokenizer, e.url))
	if n := hits(func() { command(t, ours.program, []string{"sweep", "-o", filepath.Join(t.TempDir(), "sweep"), plan}) }); n != 0 {
		t.Errorf("a sweep that resets the prefix cache found %v tokens in it", n)
	}
}
