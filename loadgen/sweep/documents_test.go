package sweep

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/loadgen/sweep/draft"
)

// The first option with several values changes fastest, as in documents of results.
func TestTheFirstOptionChangesFastest(t *testing.T) {
	text, err := draft.Document([]draft.Option{{Flag: "num-prompts", Values: []string{"1", "8"}}, {Flag: "random-input-len", Values: []string{"80", "10000"}}})
	if err != nil {
		t.Fatal(err)
	}
	p := parse(t, string(text))
	var names []string
	for _, c := range p.cells() {
		names = append(names, p.describe(c))
	}
	const want = "random-input-len 80, num-prompts 1; random-input-len 80, num-prompts 8; random-input-len 10000, num-prompts 1; random-input-len 10000, num-prompts 8"
	if got := strings.Join(names, "; "); got != want {
		t.Errorf("%s", got)
	}
}

// What was not read from a file is not said to be on one of its lines.
func TestErrorsOfDocumentsNameNoLine(t *testing.T) {
	for text, want := range map[string]string{
		"repeats: 0":                 "repeats: 0: it must be from 1 to 100000",
		"load: {wrong: 2}":           "there is no flag wrong",
		"a: [":                       "did not find expected node content",
		"load:\n  num-prompts: fail": "server: it fails",
	} {
		flags := &Flags{Words: anyFlag, Load: func(args, varied []string) (*Load, error) {
			if slices.Contains(args, "--num-prompts=fail") {
				return nil, errors.New("it fails")
			}
			return anyLoad(args, varied)
		}}
		if _, err := Parse("", strings.NewReader(text), flags); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
