package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An adapterCase is a run of vLLM 0.33.0's client with adapters: which model each request asked for.
type adapterCase struct {
	Name   string
	Argv   []string
	Models []adapterCall
}

// An adapterCall is a request of such a run. A request of the load has an ID, except with
// prefix_repetition.
type adapterCall struct{ Path, ID, Model, Prompt string }

func TestAdaptersAreAssignedAsInVLLM033(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second: in go test without -short")
	}
	var file struct{ Cases []adapterCase }
	readGolden(t, "lora.json", &file)
	if len(file.Cases) != 19 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	for _, c := range file.Cases {
		t.Run(c.Name, func(t *testing.T) {
			inInputs(t)
			recorder := new(wireRecorder)
			server := httptest.NewServer(listing(recorder, "m", "ad-a", "ad-b", "ad-c"))
			defer server.Close()
			folder := "tok-plain"
			if strings.Contains(c.Name, "custom") {
				folder = "tok-bos"
			}
			o, err := parseRun(append(slices.Clone(c.Argv), "--base-url", server.URL, "--model", "m", "--tokenizer", "../"+folder,
				"--request-id-prefix", "b-", "--disable-tqdm"))
			if err != nil {
				t.Fatal(err)
			}
			if err := newExperiment(o, io.Discard, io.Discard).run(t.Context()); err != nil {
				t.Fatal(err)
			}
			whole := c.Models[0].Path != "" // the golden case has all calls
			var got []adapterCall
			for _, call := range recorder.calls {
				if isGeneration(call) || whole && call.Path == "/tokenize" {
					got = append(got, adapterCallOf(t, call, whole))
				}
			}
			if c.Name == "lora-warmup" { // at an infinite rate, any request may be the first
				got, c.Models = inOrder(got), inOrder(c.Models)
			}
			if diff := cmp.Diff(c.Models, slices.Compact(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// listing is a server that lists models and leaves the rest to another.
func listing(other http.Handler, names ...string) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", other)
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		var models []string
		for _, name := range names {
			models = append(models, fmt.Sprintf(`{"id": %q}`, name))
		}
		fmt.Fprintf(w, `{"data": [%s]}`, strings.Join(models, ", "))
	})
	return mux
}

func adapterCallOf(t *testing.T, call wireCall, withPath bool) adapterCall {
	t.Helper()
	var a adapterCall
	if err := json.Unmarshal([]byte(call.Body), &a); err != nil {
		t.Fatal(err)
	}
	if withPath {
		a.Path = call.Path
	}
	for _, h := range call.Headers {
		if http.CanonicalHeaderKey(h[0]) == "X-Request-Id" {
			a.ID = h[1]
		}
	}
	return a
}

// inOrder puts requests without an id first, and each of them only once.
func inOrder(calls []adapterCall) []adapterCall {
	calls = slices.Clone(calls)
	slices.SortStableFunc(calls, func(a, b adapterCall) int {
		if a.Path != b.Path {
			return strings.Compare(b.Path, a.Path)
		}
		return strings.Compare(a.ID+a.Prompt, b.ID+b.Prompt)
	})
	return slices.Compact(calls)
}
