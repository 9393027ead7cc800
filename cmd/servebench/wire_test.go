package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/sim"
)

// wireRuns are the golden runs of vLLM's client, by their commands. Servers were
// mocks without /tokenize.
var wireRuns = []struct{ name, argv string }{
	{"completions", "--model stub-32000 --backend openai --dataset-name random --random-input-len 100 --random-output-len 50 --num-prompts 200 --request-rate inf --percentile-metrics ttft,tpot,itl,e2el --metric-percentiles 50,75,90,95,99"},
	{"chat", "--backend openai-chat --endpoint /v1/chat/completions --seed 7 --num-prompts 50 --random-input-len 100 --random-output-len 50 --request-rate 20 --max-concurrency 16 --num-warmups 2 --ready-check-timeout-sec 10 --header x-foo=bar --extra-body {\"top_p\":0.9} --temperature 0 --goodput ttft:100 e2el:400 --metadata a=b --percentile-metrics ttft,tpot,itl,e2el --metric-percentiles 50,99.9"},
	{"rampup", "--probe-request-rate 2 --num-prompts 30 --random-input-len 20 --random-output-len 10 --num-warmups 3 --ramp-up-strategy linear --ramp-up-start-rps 2 --ramp-up-end-rps 20"},
}

func TestRequestsAndLinesAreVLLMs(t *testing.T) {
	if testing.Short() {
		t.Skip("whole runs at the rates of the golden ones: in go test without -short")
	}
	for _, test := range wireRuns {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			seen := new(wireServer)
			server := seen.start(t)
			o, err := parseRun(append(strings.Fields(test.argv), "--base-url", server, "--disable-tqdm", "--vllm-version", "0.28.0"))
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := newExperiment(o, &out, io.Discard).run(t.Context()); err != nil {
				t.Fatal(err)
			}
			seen.check(t, test.name)
			if want := goldenLines(t, test.name); !strings.HasPrefix(out.String(), want) {
				t.Errorf("before the numbers (-want +got):\n%s", cmp.Diff(want, out.String()))
			}
		})
	}
}

// goldenLines are the lines that vLLM printed, up to the first that a clock
// decided.
func goldenLines(t *testing.T, name string) string {
	text, err := os.ReadFile("../../testdata/golden/wire/" + name + ".stdout.txt")
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.HasPrefix(line, "Benchmark duration"):
			return lines.String()
		case strings.HasPrefix(line, "tip:"):
		default:
			lines.WriteString(line)
		}
	}
	return lines.String()
}

// A wireServer notes requests before a simulated server answers them.
type wireServer struct {
	mu       sync.Mutex
	byID     map[string]wireRequest // by number within the run
	nameless []wireRequest
}

type wireRequest struct {
	Path    string          `json:"path"`
	Headers http.Header     `json:"headers"`
	Body    json.RawMessage `json:"body"`
}

func (w *wireServer) start(t *testing.T) (url string) {
	w.byID = map[string]wireRequest{}
	engine, err := sim.New(sim.Config{Tokenizer: tokenizer.Stub{Size: 32000}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "tokenize") {
			http.NotFound(rw, r)
			return
		}
		if r.Method == http.MethodPost {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			w.note(r, body)
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		engine.ServeHTTP(rw, r)
	}))
	t.Cleanup(func() { server.Close(); engine.Close() })
	return server.URL
}

func (w *wireServer) note(r *http.Request, body []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	request := wireRequest{r.URL.Path, r.Header.Clone(), body}
	if id := r.Header.Get("X-Request-Id"); id != "" {
		w.byID[id[strings.LastIndex(id, "-")+1:]] = request
	} else {
		w.nameless = append(w.nameless, request)
	}
}

// check compares what was seen with each golden request. Ids differ in their
// random part, and user agent and encoding are our own.
func (w *wireServer) check(t *testing.T, name string) {
	file, err := os.Open("../../testdata/golden/wire/" + name + ".requests.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	nameless := 0
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var want wireRequest
		if err := json.Unmarshal(lines.Bytes(), &want); err != nil {
			t.Fatal(err)
		}
		id := want.Headers.Get("X-Request-Id")
		got, ok := w.byID[id[strings.LastIndex(id, "-")+1:]]
		if id == "" {
			if ok = nameless < len(w.nameless); ok {
				got = w.nameless[nameless]
			}
			nameless++
		}
		if !ok {
			t.Errorf("a request of the golden run was not sent: id %q", id)
			continue
		}
		normalize(got.Headers)
		normalize(want.Headers)
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })); diff != "" {
			t.Errorf("request %q (-want +got):\n%s", id, diff)
		}
	}
}

func normalize(h http.Header) {
	for _, name := range []string{"User-Agent", "X-Request-Id"} {
		if h.Get(name) != "" {
			h.Set(name, "…")
		}
	}
	h.Del("Accept-Encoding")
}
