//go:build e2e || servers

package main_test

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

const ollamaVersion = "v0.6.5"

// modelName is the tiny model's as ollama lists it. Under the shorter name that
// ollama also answers to, servebench would try the model with a request of its own
// before the load.
const modelName = "tiny:latest"

// The prompts are at most 1024 words of a token each, so 1280 tokens hold any of
// them, the template and the answer. One thread is no slower on a model of this
// size, and much faster where the machine is busy.
const modelfile = `FROM ./tiny.gguf
TEMPLATE """user: {{ .Prompt }} assistant:"""
PARAMETER num_ctx 1280
PARAMETER num_thread 1
`

// startOllama starts ollama on a free port of the loopback with a home of its own,
// gives it the tiny model and returns its URL. It is ended with the test; its log is
// shown if the test failed.
func startOllama(t *testing.T, program string) string {
	t.Helper()
	home := t.TempDir()
	env := append(os.Environ(),
		"HOME="+home,
		"OLLAMA_MODELS="+filepath.Join(home, "models"),
		"OLLAMA_NO_CLOUD=1",
		"OLLAMA_NUM_PARALLEL=4",
		"OLLAMA_KEEP_ALIVE=-1",
	)
	serve := exec.CommandContext(t.Context(), program, "serve")
	serve.Env = append(env, "OLLAMA_HOST=127.0.0.1:0")
	addr := listening(t, serve)
	create := exec.CommandContext(t.Context(), program, "create", modelName, "-f", "Modelfile")
	create.Dir = t.TempDir()
	create.Env = append(env, "OLLAMA_HOST="+addr)
	writeModel(t, create.Dir)
	if out, err := create.CombinedOutput(); err != nil {
		t.Fatalf("ollama create: %v\n%s", err, out)
	}
	return "http://" + addr
}

// writeModel writes what ollama creates the tiny model from.
func writeModel(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "Modelfile"), []byte(modelfile), 0o600); err != nil {
		t.Fatal(err)
	}
	write := exec.CommandContext(t.Context(), "go", "-C", "../../tools", "run", "./llamacpp", "-write", filepath.Join(dir, "tiny.gguf"))
	if out, err := write.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// installOllama gives the path of ollama, building it from the module proxy into
// the user's cache the first time. Where that is impossible the test is skipped,
// except under CI.
func installOllama(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "servebench-e2e", ollamaVersion)
	program := filepath.Join(dir, "ollama")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	t.Logf("installing ollama %s, once: this takes a few minutes", ollamaVersion)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	install := exec.CommandContext(ctx, "go", "install", "github.com/ollama/ollama@"+ollamaVersion)
	install.Env = append(os.Environ(), "GOBIN="+dir, "CGO_ENABLED=1")
	if out, err := install.CombinedOutput(); err != nil {
		notHad(t, "installing ollama %s: %v\n%s", ollamaVersion, err, out)
	}
	return program
}

// ownAPI loads Ollama by its own API. It has to count the tokens that it counts for OpenAI's, and to say when it loads
// the model.
func (s servebench) ownAPI(t *testing.T, url string) {
	const prompts = 40
	load := func(t *testing.T, backend, path string, more ...string) *results {
		return s.run(t, append([]string{"--backend", backend, "--endpoint", path, "--base-url", url, "--model", modelName,
			"--num-prompts", strconv.Itoa(prompts), "--max-concurrency", "4", "--temperature", "0"}, more...)...)
	}
	want := load(t, "openai-chat", chatPath).block()
	for _, path := range []string{"/api/chat", "/api/generate"} {
		t.Run(path, func(t *testing.T) {
			r := load(t, "ollama", path)
			for _, got := range []counts{r.block(), r.stream.counts, r.file.counts()} {
				if got != want || got.output != prompts*outputLen {
					t.Errorf("%+v, want %+v as by OpenAI's API", got, want)
				}
			}
			if whole := load(t, "ollama", path, "--extra-body", `{"stream": false, "max_tokens": 16}`).stream.counts; whole != want {
				t.Errorf("not streamed: %+v, want %+v", whole, want)
			}
		})
	}
	reply, err := http.Post(url+"/api/generate", "application/json", strings.NewReader(`{"model": "`+modelName+`", "keep_alive": 0}`))
	if err != nil {
		t.Fatal(err)
	}
	reply.Body.Close()
	// The tiny model is loaded in a few hundred milliseconds.
	stream := filepath.Join(t.TempDir(), "cold.jsonl")
	s.exec(t, "run", "--backend", "ollama", "--base-url", url, "--model", modelName, "--tokenizer", "stub-32000",
		"--num-prompts", "2", "--random-input-len", "8", "--random-output-len", "2", "-o", stream)
	out := s.exec(t, "report", "--numbers", "mean_model_load_ms", stream)
	if !regexp.MustCompile(`(?m)^\| +[0-9]{2,}\.[0-9]+ \|`).MatchString(out) {
		t.Errorf("no time to load the model in\n%s", out)
	}
}
