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
	for body, want := range map[string]bool{`{"options": {"num_predict": 3}}`: true, `{"num_predict": 3}`: true, `{"options": {"num_ctx": 9}}`: false, `{"options": null}`: false} {
		v, err := pyjson.Parse(body)
		if err != nil {
			t.Fatal(err)
		}
		if got := (&Sampling{ExtraBody: v.(pyjson.Object)}).OwnLength(); got != want {
			t.Errorf("%s bounds the answer: %t", body, got)
		}
	}
}
