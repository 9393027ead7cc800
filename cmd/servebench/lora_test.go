package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestBadAdaptersAreRefused(t *testing.T) {
	for args, want := range map[string]string{
		"--lora-weights 1 2":                                                  "argument --lora-weights: there are no --lora-modules to draw",
		"--lora-assignment zipf":                                              "argument --lora-assignment: zipf: there are no --lora-modules to draw",
		"--lora-modules a b --lora-zipf-exponent 1":                           "argument --lora-zipf-exponent: it is for --lora-assignment zipf",
		"--lora-modules a b --lora-weights 1":                                 "argument --lora-weights: 1 weights for 2 names: each name needs one",
		"--lora-modules a b --lora-weights 1 x":                               "argument --lora-weights: invalid float value: 'x'",
		"--lora-modules a,b --lora-weights 1,-2":                              "argument --lora-weights: a weight must be a number from 0 on",
		"--lora-modules a b --lora-weights 1 2 --lora-assignment round-robin": "argument --lora-weights: they are for --lora-assignment random, not for round-robin",
		"--lora-modules a b --lora-assignment zipf --lora-zipf-exponent -1":   "argument --lora-zipf-exponent: -1: it must be from 0 to 100",
		"--lora-modules a,,b":                                                 "argument --lora-modules: a name is empty",
		"--lora-modules a --lora-assignment none":                             "argument --lora-assignment: invalid choice: 'none' (choose from 'random', 'round-robin', 'zipf')",
	} {
		if _, err := parseRun(strings.Fields(args)); err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", args, err, want)
		}
	}
}

func TestAdaptersAreChosenByFlags(t *testing.T) {
	for args, want := range map[string]string{
		"":                       "{[] false []}",
		"--lora-modules a b":     "{[a b] false []}",
		"--lora-modules a,b,c d": "{[a b c d] false []}",
		"--lora-modules a b --lora-assignment round-robin":                     "{[a b] true []}",
		"--lora-modules a b --lora-weights 3 0.5":                              "{[a b] false [3 0.5]}",
		"--lora-modules a b c d --lora-assignment zipf":                        "{[a b c d] false [1 0.5 0.3333333333333333 0.25]}",
		"--lora-modules a b --lora-assignment zipf --lora-zipf-exponent 2":     "{[a b] false [1 0.25]}",
		"--target x=http://127.0.0.1:1,lora-modules=a,b,lora-weights=1,2":      "{[a b] false [1 2]}",
		"--lora-modules c --target x=http://127.0.0.1:1,lora-modules=a,seed=3": "{[a] false []}",
		"--lora-modules c --target x=http://127.0.0.1:1":                       "{[c] false []}",
	} {
		o := mustParse(t, args)
		if o.Targets != nil {
			o = o.Targets[0]
		}
		if got := fmt.Sprint(o.Plan.Workload.Adapters); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

// An adapterServer answers requests for the models that it has, and lists some of them. It keeps the
// models of the requests, each once in a row.
type adapterServer struct {
	wireRecorder
	has, lists []string

	mu    sync.Mutex
	asked []string
}

func (s *adapterServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/models" {
		if s.lists == nil {
			http.NotFound(w, r)
			return
		}
		listing(http.NotFoundHandler(), s.lists...).ServeHTTP(w, r)
		return
	}
	if strings.HasSuffix(r.URL.Path, "completions") {
		body, _ := io.ReadAll(r.Body)
		_, model, _ := strings.Cut(string(body), `"model": "`)
		model, _, _ = strings.Cut(model, `"`)
		s.mu.Lock()
		s.asked = append(s.asked, model)
		s.mu.Unlock()
		if !slices.Contains(s.has, model) {
			http.Error(w, fmt.Sprintf(`{"error": {"message": "The model %s does not exist."}}`, model), http.StatusNotFound)
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
	}
	s.wireRecorder.ServeHTTP(w, r)
}

func TestAdaptersAreSoughtBeforeTheLoad(t *testing.T) {
	for _, test := range []struct {
		name       string
		has, lists []string
		adapters   string
		failure    string // "" for none
		asked      []string
	}{
		{"all are listed", []string{"m", "a", "b"}, []string{"m", "a", "b"}, "a b", "", []string{"a", "b", "a", "b"}},
		{"one is loaded when it is asked for", []string{"m", "a", "b"}, []string{"m", "a"}, "a b", "", []string{"b", "a", "b", "a", "b"}},
		{"one is missing", []string{"m", "a"}, []string{"m", "a"}, "a b",
			"argument --lora-modules: URL does not have b: it lists m, a, and answers: 404 Not Found: The model b does not exist.", []string{"b"}},
		{"two are missing", []string{"m"}, []string{}, "a b",
			"argument --lora-modules: URL does not have a, b: it lists nothing, and answers: 404 Not Found: The model a does not exist.", []string{"a", "b"}},
		{"a name that is there twice is sought once", []string{"m"}, []string{"m"}, "a a",
			"argument --lora-modules: URL does not have a: it lists m, and answers: 404 Not Found: The model a does not exist.", []string{"a"}},
		{"no list", []string{"m", "a", "b"}, nil, "a b", "", []string{"a", "b", "a", "b"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			handler := &adapterServer{has: test.has, lists: test.lists}
			server := httptest.NewServer(handler)
			defer server.Close()
			o := mustParse(t, "--base-url", server.URL, "--model", "m", "--tokenizer", "stub-100", "--random-input-len", "2", "--random-output-len", "2",
				"--num-prompts", "4", "--max-concurrency", "1", "--disable-tqdm", "--lora-assignment", "round-robin", "--lora-modules", strings.ReplaceAll(test.adapters, " ", ","))
			var talk strings.Builder
			err := newExperiment(o, io.Discard, &talk).run(t.Context())
			got := ""
			if err != nil {
				got = strings.ReplaceAll(err.Error(), server.URL, "URL")
			}
			if got != test.failure || !slices.Equal(handler.asked, test.asked) {
				t.Errorf("error %q\nwant  %q\nasked for %q, want %q\n%s", got, test.failure, handler.asked, test.asked, &talk)
			}
			if told := strings.Contains(talk.String(), "--lora-modules is not checked"); told != (test.lists == nil) {
				t.Errorf("told %s", &talk)
			}
		})
	}
}
