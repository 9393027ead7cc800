package loadgen

import (
	"slices"
	"testing"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/metrics/pyjson"
)

func TestEachKindOfDatasetCanBeOpened(t *testing.T) {
	names := kinds.Names(0)
	for i, name := range names {
		k := kinds.Find(name)
		several := Workload{Dataset: k.Name}
		if k.Open == nil && k.Turns == nil || slices.Index(names, name) != i {
			t.Errorf("%q: it opens nothing, or its name is there twice", k.Name)
		}
		if k.Open == nil != several.Has(kinds.SeveralTurns) {
			t.Errorf("%s: without sessions of several turns only, it makes prompts of one", k.Name)
		}
	}
}

// Memory is checked before prompts are made: what a kind keeps is known by its row.
func TestWhatADatasetKeepsForAPrompt(t *testing.T) {
	for name, test := range map[string]struct {
		w    Workload
		want int64
	}{
		"ids":                  {Workload{Dataset: "random"}, 0},
		"drawn ahead":          {Workload{Dataset: "prefix_repetition"}, 24},
		"lengths of a file":    {Workload{Dataset: "burstgpt", NoOversample: true}, 8},
		"positions in a file":  {Workload{Dataset: "sharegpt"}, 8},
		"a file, each once":    {Workload{Dataset: "sharegpt", NoOversample: true}, 0},
		"sessions of a file":   {Workload{Dataset: "sharegpt", Settings: kinds.Settings{MultiTurn: kinds.MultiTurn{On: true}}}, 24},
		"random sessions":      {Workload{Dataset: "random", Settings: kinds.Settings{MultiTurn: kinds.MultiTurn{On: true}}}, 0},
		"a Source of a caller": {Workload{Dataset: "sharegpt", Source: func(func(*dataset.Conversation, error) bool) {}}, 0},
	} {
		if got := test.w.Kept(); got != test.want {
			t.Errorf("%s: %d bytes, want %d", name, got, test.want)
		}
	}
}

func TestHowToGetShorterPrompts(t *testing.T) {
	for name, test := range map[string]struct {
		w    Workload
		want string
	}{
		"random":             {Workload{Dataset: "random"}, "lower --random-input-len or --random-output-len"},
		"images":             {Workload{Dataset: "random-mm"}, "lower --random-input-len or --random-output-len"},
		"random sessions":    {Workload{Dataset: "random", Settings: kinds.Settings{MultiTurn: kinds.MultiTurn{On: true}}}, kinds.LeaveOutLong},
		"synthetic sessions": {Workload{Dataset: "sessions"}, kinds.LeaveOutLong},
		"a trace":            {Workload{Dataset: "mooncake"}, ""},
	} {
		if got := test.w.Shorter(); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestAnswersGoOnOnlyWhereTheAPICanAskForIt(t *testing.T) {
	for backend, want := range map[string]bool{"openai": true, "anthropic": true, "ollama": false, "openai-embeddings": false} {
		if got := new(Sampling).IgnoresEOS(&Workload{Dataset: "random"}, &Server{Backend: backend}); got != want {
			t.Errorf("%s: %t, want %t", backend, got, want)
		}
	}
	for _, row := range []struct {
		backend, body string
		want          bool
	}{
		{"ollama", `{"options": {"num_predict": 3}}`, true}, {"ollama", `{"num_predict": 3}`, true}, {"ollama", `{"max_tokens": 3}`, true},
		{"ollama", `{"options": {"num_ctx": 9}}`, false}, {"ollama", `{"options": null}`, false},
		{"openai", `{"max_tokens": 3}`, true}, {"openai-chat", `{"max_tokens": 3}`, true}, {"openai-chat", `{"max_completion_tokens": 3}`, true},
		{"openai-responses", `{"max_output_tokens": 3}`, true}, {"anthropic", `{"max_tokens": 3}`, true},
		{"openai-chat", `{"options": {"num_predict": 3}}`, false}, {"openai-chat", `{"n": 2}`, true}, {"openai-embeddings", `{"user": "a"}`, false},
	} {
		v, err := pyjson.Parse(row.body)
		if err != nil {
			t.Fatal(err)
		}
		if got := (&Sampling{ExtraBody: v.(pyjson.Object)}).OwnLength(&Server{Backend: row.backend}); got != row.want {
			t.Errorf("%s: %s bounds the answer: %t", row.backend, row.body, got)
		}
	}
	for backend, dropped := range map[string]string{"openai-responses": "max_output_tokens", "ollama": "num_predict", "anthropic": "max_tokens"} {
		if s := (&Sampling{Drop: []string{dropped}}); !s.OwnLength(&Server{Backend: backend}) {
			t.Errorf("%s: without %s the dataset does not bound the answer", backend, dropped)
		}
	}
}
