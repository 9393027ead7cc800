package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/dataset/media/mediatest"
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

// A wireCall is one request of a run, with a Body or a form.
type wireCall struct {
	Method, Path string
	Headers      [][2]string
	Body         string
	Pictures     []mediatest.Picture `json:"-"` // that are taken out of the body
	Form         []wirePart          `json:"multipart"`
}

// A wirePart is a part of a form. The golden files have the size and the hash of a file, and the value
// of any other part.
type wirePart struct {
	Name, Value string
	Headers     []string
	Bytes       int
	SHA256      string
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
	data, err := os.ReadFile(goldenFolder(t) + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

// refusals are what the errors of servebench have where vLLM's client ends with an exception.
var refusals = map[string]string{
	"infinity-clip-two-images":    "infinity-embeddings-clip",
	"bad-url-":                    "argument --endpoint: ",
	"bad-audio-sampling":          "argument --temperature: ",
	"bad-audio-random":            "openai-audio",
	"bad-rerank-random":           "vllm-rerank",
	"bad-random-mm-completions":   "random-mm",
	"bad-random-mm-bucket":        "argument --random-mm-bucket-config: ",
	"bad-random-mm-limit":         "argument --random-mm-limit-mm-per-prompt: ",
	"bad-random-mm-min-over-max":  "argument --random-mm-",
	"bad-random-mm-ratio":         "argument --random-mm-num-mm-items-range-ratio: ",
	"bad-custom-image-fields":     "prompts.jsonl:1: ",
	"bad-no-reranker-batch":       "--random-batch-size",
	"bad-bfcl-completions":        "openai-chat",
	"bad-hf-unknown":              "no/such",
	"bad-max-concurrency":         "--max-concurrency",
	"bad-path-with-random-rerank": "argument --dataset-path: ",
	"bad-rerank-probe":            "argument --probe-request-rate: ",
	"bad-audio-probe":             "argument --probe-request-rate: ",
	"bad-self-timed":              "argument --self-timed: ",
	"skip-tokenizer-random":       "argument --skip-tokenizer-init: ",
	"bfcl-bad-category":           "nope",
}

// refusal is what the error of a case has.
func refusal(name string) string {
	if strings.HasPrefix(name, "bad-url-") {
		name = "bad-url-"
	}
	return refusals[name]
}

// otherwise are cases in which servebench does something else on purpose: see
// docs/vllm.md.
var otherwise = map[string]string{
	"skip-tokenizer-custom": "--custom-output-len is kept, where vLLM asks for one token",
}

// Nothing is sent that vLLM's client does not send.
func TestRequestsAreThoseOfVLLM033(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	for _, c := range wireCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			inInputs(t)
			for name, value := range c.Env {
				t.Setenv(name, value)
			}
			recorder := new(wireRecorder)
			server := httptest.NewServer(recorder)
			defer server.Close()
			err := c.run(t, server.URL)
			if c.Exception != "" {
				want := refusal(c.Name)
				if err == nil || want == "" || !strings.Contains(err.Error(), want) || slices.ContainsFunc(recorder.calls, isGeneration) {
					t.Errorf("%v after %+v; want an error with %q; vLLM ends with %s", err, recorder.calls, want, c.Exception)
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
		arg = strings.ReplaceAll(arg, "GOLDEN", "..")
		if golden && i > 0 && argv[i-1] == "--port" {
			arg = url[strings.LastIndex(url, ":")+1:]
		}
		argv[i] = arg
	}
	if !golden {
		argv = append(argv, "--base-url", url, "--model", "m", "--request-id-prefix", "b-", "--disable-tqdm")
	}
	if !golden && c.Tokenizer != "" {
		argv = append(argv, "--tokenizer", "../"+c.Tokenizer)
	}
	o, err := parseRun(argv)
	if err != nil {
		return err
	}
	return newExperiment(o, io.Discard, io.Discard).run(t.Context())
}

// isGeneration says whether a call is a request of the load, or one like them.
func isGeneration(c wireCall) bool {
	return c.Method == http.MethodPost && c.Path != "/tokenize" && !strings.HasSuffix(c.Path, "_profile")
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
				value, _, _ := strings.Cut(h[1], "; boundary=") // drawn at random
				headers = append(headers, [2]string{name, value})
			}
		}
		slices.SortFunc(headers, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
		call.Headers = headers
		call.Body, call.Pictures = mediatest.Cut(call.Body)
		switch {
		case call.Path == "/metrics":
			seen.metrics++
		case !isGeneration(call):
			call.Headers = slices.DeleteFunc(headers, func(h [2]string) bool {
				// Those of the load go with it: see docs/vllm.md.
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
