//go:build vllm

package vllm_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// vllmCommands are command lines for both clients. MODELS is the folder of
// tokenizers, DATA is testdata, and one request at a time keeps them in order.
var vllmCommands = []struct{ name, argv string }{
	{"random, GPT-2", "--tokenizer MODELS/gpt2 --num-prompts 200 --random-input-len 200 --random-output-len 40 --random-range-ratio 0.4 --request-rate 60 --seed 7"},
	{"random, Llama 3", "--tokenizer MODELS/llama3 --num-prompts 200 --random-input-len 300 --random-output-len 50 --random-range-ratio {\"input\":0.9,\"output\":0.2} --random-prefix-len 20 --request-rate 60 --burstiness 0.7 --seed 1"},
	{"sharegpt, Qwen 2.5", "--tokenizer MODELS/qwen2_5 --dataset-name sharegpt --dataset-path DATA/golden/sharegpt_input.json --num-prompts 150 --ramp-up-strategy linear --ramp-up-start-rps 20 --ramp-up-end-rps 100"},
	{"prefix_repetition, Mistral Nemo", "--tokenizer MODELS/mistral_nemo --dataset-name prefix_repetition --prefix-repetition-prefix-len 100 --prefix-repetition-suffix-len 40 --num-prompts 200 --request-rate 60 --burstiness 2.5 --seed 3"},
	{"custom with a template, Qwen 3", "--tokenizer MODELS/qwen3 --dataset-name custom --dataset-path PROMPTS --custom-output-len -1 --num-prompts 150 --request-rate 60 --seed 11"},
}

// A vllmRequest is one request, as vLLM's client plans it, as it arrives, or as
// servebench dataset prints it.
type vllmRequest struct {
	ID        string  `json:"id"`
	Prompt    string  `json:"prompt"`
	PromptLen int     `json:"prompt_len"`
	OutputLen int     `json:"output_len"`
	Due       float64 `json:"due"`
	at        time.Time
}

// TestVLLMSendsTheSame runs vLLM's client, from the virtual environment in $VLLM,
// against a server that records, and holds what arrives and when it was due
// against what servebench dataset prints.
func TestVLLMSendsTheSame(t *testing.T) {
	prompts := writePrompts(t)
	client := newTheirs(t, venv())
	fmt.Printf("%-32s %8s %8s %8s %8s %9s %18s\n", "the same as vLLM's", "requests", "ids", "prompts", "lengths", "due times", "arrived within, ms")
	for _, c := range vllmCommands {
		argv := strings.Fields(strings.NewReplacer("MODELS", os.Getenv("ORACLE"), "DATA", "../../testdata", "PROMPTS", prompts).Replace(c.argv))
		argv = append(argv, "--model", "m", "--request-id-prefix", idPrefix, "--max-concurrency", "1", "--ready-check-timeout-sec", "0")
		sent, planned := sendWith(t, client, argv)
		ours := decodeLines[vllmRequest](t, command(t, newOurs(t, "latest").program, append([]string{"dataset"}, argv...)))
		if len(sent) != len(ours) || len(planned) != len(ours) || len(ours) == 0 {
			t.Errorf("%s: vLLM planned %d and sent %d requests, servebench %d", c.name, len(planned), len(sent), len(ours))
			continue
		}
		n := len(ours)
		same := [...]int{
			howMany(ours, func(i int, r vllmRequest) bool { return r.ID == sent[i].ID && r.ID == planned[i].ID }),
			howMany(ours, func(i int, r vllmRequest) bool { return r.Prompt == sent[i].Prompt && r.Prompt == planned[i].Prompt }),
			howMany(ours, func(i int, r vllmRequest) bool {
				return r.OutputLen == sent[i].OutputLen && r.OutputLen == planned[i].OutputLen && r.PromptLen == planned[i].PromptLen
			}),
			howMany(ours, func(i int, r vllmRequest) bool { return r.Due == planned[i].Due }),
		}
		fmt.Printf("%-32s %8d %8d %8d %8d %9d %18.0f\n", c.name, n, same[0], same[1], same[2], same[3], spread(sent, ours).Seconds()*1000)
		if same != [...]int{n, n, n, n} {
			t.Errorf("%s: not the same as vLLM's:\n%s", c.name, firstDifference(ours, planned))
		}
	}
}

// writePrompts writes a file for the custom dataset and gives its name.
func writePrompts(t *testing.T) string {
	words := strings.Fields("Wer misst, misst Mist: naïve café 服务器 быстро 😀 don't x<<20 {{ user }} <|im_end|> 3.14 응답 été … end.")
	var lines bytes.Buffer
	for i := range 60 {
		text := strings.Join(words[i%7:len(words)-i%5], " ") + strings.Repeat("\n  more ", i%4)
		if err := json.NewEncoder(&lines).Encode(map[string]any{"prompt": text, "output_tokens": i + 5}); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(t.TempDir(), "prompts.jsonl")
	if err := os.WriteFile(name, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// sendWith gives the requests that vLLM's client sent, in the order of their
// arrival, and those it planned.
func sendWith(t *testing.T, client *theirs, argv []string) (sent, planned []vllmRequest) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := time.Now()
		if r.URL.Path != "/v1/completions" {
			http.NotFound(w, r)
			return
		}
		var body struct {
			Prompt    string
			MaxTokens int `json:"max_tokens"`
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		sent = append(sent, vllmRequest{ID: r.Header.Get("X-Request-Id"), Prompt: body.Prompt, OutputLen: body.MaxTokens, at: at})
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, `data: {"choices":[{"text":"a"}]}`+"\n\n"+`data: {"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}`+"\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()
	_, dir := client.plan(t, append(argv, "--base-url", server.URL))
	return sent, readLines[vllmRequest](t, filepath.Join(dir, "plan.jsonl"))
}

// spread is by how much the lateness of arrivals varies.
func spread(sent, ours []vllmRequest) time.Duration {
	var least, most time.Duration
	for i, r := range ours {
		late := sent[i].at.Sub(sent[0].at) - time.Duration((r.Due-ours[0].Due)*1e9)
		least, most = min(least, late), max(most, late)
	}
	return most - least
}

func firstDifference(ours, theirs []vllmRequest) string {
	for i, r := range ours {
		if diff := cmp.Diff(theirs[i], r, cmpopts.IgnoreUnexported(r)); diff != "" {
			return fmt.Sprintf("request %d (-vLLM's +ours):\n%s", i, diff)
		}
	}
	return "what was sent is not what vLLM's client planned"
}

func howMany(requests []vllmRequest, same func(i int, r vllmRequest) bool) (n int) {
	for i, r := range requests {
		if same(i, r) {
			n++
		}
	}
	return n
}
