package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/loadgen/sim/speed"
)

// Answers of each API that are not streamed are read, and have only an E2EL.
func TestAnswersThatAreNotStreamedHaveOnlyE2EL(t *testing.T) {
	engine, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}, Cost: speed.Cost{Base: time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(engine)
	defer server.Close()
	for _, flags := range []string{
		`--extra-body {"stream":false}`,
		"--drop-body stream",
		`--backend openai-chat --endpoint /v1/chat/completions --extra-body {"stream":false}`,
		`--backend openai-responses --endpoint /v1/responses --extra-body {"stream":false}`,
	} {
		dir := t.TempDir()
		o := mustParse(t, flags+" --base-url "+server.URL+" --tokenizer stub-32000 --num-prompts 3 --random-input-len 4 --random-output-len 5 --goodput e2el:60000"+
			" --save-result --save-detailed --result-filename r.json --result-dir", dir, "-o", filepath.Join(dir, "s.jsonl"))
		var out, talk bytes.Buffer
		if err := newExperiment(o, &out, &talk).run(t.Context()); err != nil {
			t.Fatalf("%s: %v\n%s", flags, err, &talk)
		}
		for _, want := range []string{"Successful requests:                     3 ", "Total generated tokens:                  15 ", "End-to-end Latency"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %q in\n%s", flags, want, &out)
			}
		}
		result, err := os.ReadFile(filepath.Join(dir, "r.json"))
		if err != nil {
			t.Fatal(err)
		}
		for text, name := range map[string]string{out.String(): "Time to First Token", string(result): `"ttfts"`} {
			if strings.Contains(text, name) {
				t.Errorf("%s: %s in %s", flags, name, text)
			}
		}
		if want := "the answers are not streamed: there is E2EL, but no TTFT, TPOT or ITL"; !strings.Contains(talk.String(), want) {
			t.Errorf("%s: no %q in\n%s", flags, want, &talk)
		}
	}
}

func TestLatenciesOfTokensNeedAStream(t *testing.T) {
	for flags, want := range map[string]string{
		`--extra-body {"stream":false} --goodput ttft:5`:         "argument --goodput: ttft: answers that are not streamed have none: it must be e2el",
		`--drop-body stream --goodput e2el:7 tpot:5`:             "argument --goodput: tpot: ",
		`--extra-body {"stream":false} --continuous-usage-stats`: "argument --continuous-usage-stats: ",
		`--drop-body stream,model`:                               "argument --drop-body: model: ",
	} {
		if _, err := parseRun(strings.Fields(flags)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", flags, err, want)
		}
	}
}

// A row's members go with its request alone, and the first row's with probes.
func TestRowsHaveTheirOwnMembers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	rows := `{"prompt": "a", "extra_body": {"top_p": 0.5, "tools": [{"a":1}]}}` + "\n" + `{"prompt": "b"}` + "\n"
	if err := os.WriteFile(path, []byte(rows), 0o666); err != nil {
		t.Fatal(err)
	}
	recorder := new(wireRecorder)
	server := httptest.NewServer(recorder)
	defer server.Close()
	o := mustParse(t, "--dataset-name custom --skip-chat-template --skip-tokenizer-init --disable-shuffle --num-prompts 2 --model m --custom-output-len 5 --request-id-prefix b- "+
		`--top-p 0.9 --request-rate 50 --probe-request-rate 1000 --base-url `+server.URL+" --dataset-path", path)
	if err := newExperiment(o, io.Discard, io.Discard).run(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen := sorted(recorder.calls)
	const rest = `, "repetition_penalty": 1.0, "max_tokens": 5, "logprobs": null, "stream": true, "stream_options": {"include_usage": true}, "top_p": `
	for id, want := range map[string]string{
		"b-0": `{"model": "m", "prompt": "a"` + rest + `0.5, "tools": [{"a": 1}]}`,
		"b-1": `{"model": "m", "prompt": "b"` + rest + `0.9}`,
	} {
		if got := seen.generations[id].Body; got != want {
			t.Errorf("%s\n got %s\nwant %s", id, got, want)
		}
	}
	probe := `{"model": "m", "prompt": "Hi"` + strings.Replace(rest, "5", "1", 1) + `0.5, "tools": [{"a": 1}]}`
	if !slices.ContainsFunc(seen.nameless, func(c wireCall) bool { return c.Body == probe }) {
		t.Errorf("no probe %s among %+v", probe, seen.nameless)
	}
}

func TestABlockWithoutATokenizerSaysWhatItLacks(t *testing.T) {
	const note = "without a tokenizer the block has no output tokens, TTFT, TPOT or ITL"
	const custom = "--dataset-name custom --skip-chat-template --dataset-path x.jsonl "
	for flags, want := range map[string]bool{
		custom + "--skip-tokenizer-init": true,
		custom:                           false,
		custom + `--skip-tokenizer-init --extra-body {"stream":false}`:   false, // another note says it
		custom + "--skip-tokenizer-init --backend vllm-pooling":          false,
		custom + "--skip-tokenizer-init --backend openai-chat --top-p 1": true,
	} {
		notes := mustParse(t, flags).Notes
		if got := slices.ContainsFunc(notes, func(n string) bool { return strings.HasPrefix(n, note) }); got != want {
			t.Errorf("%s: %q", flags, notes)
		}
	}
}

// Images and tools of datasets go to Anthropic's API as to a chat.
func TestBothAPIsOfChatsTakeImagesAndTools(t *testing.T) {
	for _, name := range []string{"openai-chat", "anthropic"} {
		for _, dataset := range []string{"random-mm", "hf --dataset-path Lin-Chen/MMStar", "hf --dataset-path gorilla-llm/Berkeley-Function-Calling-Leaderboard"} {
			mustParse(t, "--tokenizer stub-32000 --backend "+name+" --dataset-name "+dataset)
		}
	}
}

func TestARequestThatTheBackendDoesNotTakeIsOfADataset(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.jsonl")
	if err := os.WriteFile(path, []byte(`{"id":"r-0","prompt":"","prompt_len":2,"output_len":1,"batch":["a","b"]}`+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	o := mustParse(t, "--base-url "+server.URL+" --model m --backend openai-chat --dataset-name file --dataset-path", path)
	err := newExperiment(o, io.Discard, io.Discard).run(t.Context())
	if want := "dataset file: a chat endpoint takes one prompt in a request"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
