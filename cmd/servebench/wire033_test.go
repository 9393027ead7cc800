package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A wireCase is a whole run of vLLM 0.33.0's client, as its server saw it.
type wireCase struct {
	Name      string
	Argv      []string
	Tokenizer string // folder; empty for none
	Exception string
	Env       map[string]string
	Requests  []wireCall
}

// A wireCall is one request of a run.
type wireCall struct {
	Method, Path string
	Headers      [][2]string
	Body         string
}

func wireCases(t *testing.T) []wireCase {
	t.Helper()
	var file struct{ Cases []wireCase }
	readGolden(t, "wire-0.33/cases.json", &file)
	if len(file.Cases) != 79 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	return file.Cases
}

func readGolden(t *testing.T, name string, v any) {
	t.Helper()
	data, err := os.ReadFile("../../testdata/golden/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

// otherBackends are those of vLLM's that servebench does not have yet, and the
// datasets that only they or multimodal prompts have. Their golden cases wait for them.
var otherBackends = []string{
	"openai-audio", "embeddings", "vllm-pooling", "vllm-rerank", "infinity-",
	"random-mm", "random-rerank", "custom_image", "custom_audio", "Berkeley-Function-Calling", "no/such",
}

// waits says whether a case needs what servebench does not have yet.
func waits(argv []string) bool {
	line := strings.Join(argv, " ")
	return slices.ContainsFunc(otherBackends, func(word string) bool { return strings.Contains(line, word) })
}

// otherwise are cases in which servebench does something else on purpose: see
// docs/vllm-parity.md.
var otherwise = map[string]string{
	"skip-tokenizer-custom": "--custom-output-len is kept, where vLLM asks for one token",
}

// A wireRecorder answers each request with two tokens, and notes it.
type wireRecorder struct {
	metrics string // of each request, a member of the last chunk; empty for none

	mu    sync.Mutex
	calls []wireCall
}

func (w *wireRecorder) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c := wireCall{Method: r.Method, Path: r.URL.Path, Body: string(body)}
	for name := range r.Header {
		c.Headers = append(c.Headers, [2]string{name, r.Header.Get(name)})
	}
	w.mu.Lock()
	w.calls = append(w.calls, c)
	w.mu.Unlock()
	switch {
	case r.URL.Path == "/v1/models":
		io.WriteString(rw, `{"data": [{"id": "served", "root": "root/m"}]}`)
	case r.URL.Path == "/start_profile", r.URL.Path == "/stop_profile":
	case strings.HasSuffix(r.URL.Path, "completions"):
		rw.Header().Set("Content-Type", "text/event-stream")
		for _, token := range []string{"a", " b"} {
			io.WriteString(rw, `data: {"choices":[{"index":0,"text":"`+token+`","delta":{"content":"`+token+`"}}]}`+"\n\n")
		}
		io.WriteString(rw, `data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}`+w.metrics+"}\n\ndata: [DONE]\n\n")
	case r.URL.Path == "/v1/responses":
		rw.Header().Set("Content-Type", "text/event-stream")
		for _, token := range []string{"a", " b"} {
			io.WriteString(rw, "event: response.output_text.delta\ndata: "+`{"type":"response.output_text.delta","delta":"`+token+`"}`+"\n\n")
		}
		io.WriteString(rw, "event: response.completed\ndata: "+`{"type":"response.completed","response":{"id":"r","usage":{"input_tokens":9,"output_tokens":2}`+w.metrics+"}}\n\n")
	default:
		http.NotFound(rw, r)
	}
}

// Nothing is sent that vLLM's client does not send.
func TestRequestsAreThoseOfVLLM033(t *testing.T) {
	for _, c := range wireCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			if waits(c.Argv) {
				t.Skip("its backend or dataset is not there yet")
			}
			for name, value := range c.Env {
				t.Setenv(name, value)
			}
			recorder := new(wireRecorder)
			server := httptest.NewServer(recorder)
			defer server.Close()
			err := c.run(t, server.URL)
			if c.Exception != "" {
				if err == nil || slices.ContainsFunc(recorder.calls, isGeneration) {
					t.Errorf("%v after %+v; vLLM ends with %s", err, recorder.calls, c.Exception)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			c.check(t, recorder.calls)
		})
	}
}

// run makes the run of the case on another server.
func (c *wireCase) run(t *testing.T, url string) error {
	t.Helper()
	argv := slices.Clone(c.Argv)
	golden := slices.Contains(argv, "--port")
	for i, arg := range argv {
		arg = strings.ReplaceAll(arg, "GOLDEN", "../../testdata/golden")
		if golden && i > 0 && argv[i-1] == "--port" {
			arg = url[strings.LastIndex(url, ":")+1:]
		}
		if strings.HasSuffix(arg, ".jsonl") {
			arg = "../../testdata/golden/inputs/" + arg
		}
		argv[i] = arg
	}
	if !golden {
		argv = append(argv, "--base-url", url, "--model", "m", "--request-id-prefix", "b-", "--disable-tqdm")
	}
	if !golden && c.Tokenizer != "" {
		argv = append(argv, "--tokenizer", "../../testdata/golden/"+c.Tokenizer)
	}
	o, err := parseRun(argv)
	if err != nil {
		return err
	}
	return newExperiment(o, io.Discard, io.Discard).run(t.Context())
}

func isGeneration(c wireCall) bool {
	return (strings.HasSuffix(c.Path, "completions") || strings.HasSuffix(c.Path, "responses"))
}

// check compares requests with the golden ones: those with an id by that, all others in
// their order. Probes are as many as there is time for, and the server's metrics
// may be asked for more seldom.
func (c *wireCase) check(t *testing.T, calls []wireCall) {
	t.Helper()
	got, want := sorted(calls), sorted(c.Requests)
	if why, ok := otherwise[c.Name]; ok {
		if cmp.Equal(want.generations, got.generations) {
			t.Errorf("it does as vLLM does: %s", why)
		}
		return
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(wireSeen{}), cmp.FilterPath(func(p cmp.Path) bool {
		return p.Last().String() == ".metrics"
	}, cmp.Ignore())); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got.metrics == 0 || got.metrics > want.metrics {
		t.Errorf("GET /metrics %d times, vLLM's client %d times", got.metrics, want.metrics)
	}
}

// wireSeen is what a server saw of a run.
type wireSeen struct {
	small       []wireCall          // calls beside the load, in order
	generations map[string]wireCall // by their ids
	nameless    []wireCall          // generations without one, in order; of equal ones in a row the first
	metrics     int
}

func sorted(calls []wireCall) wireSeen {
	seen := wireSeen{generations: map[string]wireCall{}}
	for _, call := range calls {
		id, headers := "", [][2]string(nil)
		for _, h := range call.Headers {
			name := http.CanonicalHeaderKey(h[0])
			switch name {
			case "X-Request-Id":
				id = h[1]
			case "Host", "User-Agent", "Accept-Encoding", "Content-Length": // each client has its own
			default:
				headers = append(headers, [2]string{name, h[1]})
			}
		}
		slices.SortFunc(headers, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
		call.Headers = headers
		switch {
		case call.Path == "/metrics":
			seen.metrics++
		case !isGeneration(call):
			call.Headers = slices.DeleteFunc(headers, func(h [2]string) bool {
				// Those of the load go with it: see docs/vllm-parity.md.
				return h[0] == "X-A" || h[0] == "Authorization" || h[0] == "Content-Type" && call.Body == ""
			})
			seen.small = append(seen.small, call)
		case id != "":
			seen.generations[id] = call
		case len(seen.nameless) == 0 || !cmp.Equal(seen.nameless[len(seen.nameless)-1], call):
			seen.nameless = append(seen.nameless, call)
		}
	}
	return seen
}
