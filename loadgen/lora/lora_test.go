package lora

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/nprand"
)

// conversations is a Source of n conversations without adapters.
func conversations(n int) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		for range n {
			if !yield(&dataset.Conversation{Turns: make([]dataset.Turn, 1)}, nil) {
				return
			}
		}
	}
}

// assigned are the adapters of n conversations, by Python's seed.
func assigned(c Choice, n int, seed int64) (names []string) {
	for conversation := range c.Assign(conversations(n), nprand.NewPython(seed)) {
		names = append(names, conversation.Adapter)
	}
	return names
}

// The names are those of CPython 3.11: random.seed(0), then [random.choice("abc") for _ in range(12)]
// and random.choices("abcd", weights, k=16).
func TestNamesAreDrawnAsPythonDrawsThem(t *testing.T) {
	for _, test := range []struct {
		choice Choice
		seed   int64
		want   string
	}{
		{Choice{Names: strings.Split("abc", "")}, 0, "bbabcbbbbbca"},
		{Choice{Names: strings.Split("abcd", ""), Weights: []float64{8, 4, 2.5, 1}}, 0, "cbaaaacaabcaabba"},
		{Choice{Names: strings.Split("abcd", ""), Weights: []float64{0, 1, 0, 1}}, 7, "bbdbdbbdbbbbbdbb"},
		{Choice{Names: strings.Split("abcd", ""), Weights: Zipf(4, 1.2)}, 3, "ababbaacaadacaba"},
		{Choice{Names: strings.Split("abc", ""), InTurn: true}, 0, "abcabcabcabc"},
	} {
		if got := strings.Join(assigned(test.choice, len(test.want), test.seed), ""); got != test.want {
			t.Errorf("%+v with seed %d: %s, want %s", test.choice, test.seed, got, test.want)
		}
	}
}

func TestEachIterationDrawsTheSameNames(t *testing.T) {
	c := Choice{Names: []string{"a", "b", "c"}}
	source := c.Assign(conversations(50), nprand.NewPython(5))
	var rounds [2][]string
	for i := range rounds {
		for conversation := range source {
			rounds[i] = append(rounds[i], conversation.Adapter)
		}
	}
	if !slices.Equal(rounds[0], rounds[1]) || len(rounds[0]) != 50 {
		t.Errorf("%v and then %v", rounds[0], rounds[1])
	}
}

func TestAConversationKeepsItsAdapter(t *testing.T) {
	own := &dataset.Conversation{Adapter: "own", Turns: make([]dataset.Turn, 2)}
	bare := &dataset.Conversation{ID: "bare", Turns: make([]dataset.Turn, 2)}
	fault := errors.New("unreadable")
	source := func(yield func(*dataset.Conversation, error) bool) {
		_ = yield(own, nil) && yield(bare, nil) && yield(nil, fault)
	}
	c := Choice{Names: []string{"a", "b"}, InTurn: true}
	var got []string
	for conversation, err := range c.Assign(source, nprand.NewPython(0)) {
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		got = append(got, conversation.ID+conversation.Adapter)
	}
	if want := []string{"own", "bareb", "unreadable"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if bare.Adapter != "" {
		t.Errorf("a conversation of the source was changed: %+v", bare)
	}
	if c := (Choice{}); len(slices.Compact(assigned(c, 3, 0))) != 1 {
		t.Error("names without a Choice")
	}
}

func TestImpossibleChoicesAreRefused(t *testing.T) {
	for _, test := range []struct {
		choice Choice
		want   string
	}{
		{Choice{}, ""},
		{Choice{Weights: []float64{}}, ""},
		{Choice{Names: []string{"a", "a"}, Weights: []float64{0, 2}}, ""},
		{Choice{Names: []string{"a", ""}}, "a name is empty"},
		{Choice{Names: []string{"a", "b"}, Weights: []float64{1}}, "1 weights for 2 names: each name needs one"},
		{Choice{Names: []string{"a"}, Weights: []float64{}}, "0 weights for 1 names: each name needs one"},
		{Choice{Names: []string{"a", "b"}, Weights: []float64{1, -1}}, "a weight must be a number from 0 on"},
		{Choice{Names: []string{"a", "b"}, Weights: []float64{1, math.NaN()}}, "a weight must be a number from 0 on"},
		{Choice{Names: []string{"a", "b"}, Weights: []float64{0, 0}}, "all weights are 0"},
		{Choice{Names: []string{"a", "b"}, Weights: []float64{math.MaxFloat64, math.MaxFloat64}}, "the weights are too large: their sum is infinite"},
		{Choice{Names: []string{"a", "b"}, Weights: []float64{1, 1}, InTurn: true}, "names that are taken in turn have no weights"},
	} {
		got := ""
		if err := test.choice.Check(); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%+v: %q, want %q", test.choice, got, test.want)
		}
	}
}
