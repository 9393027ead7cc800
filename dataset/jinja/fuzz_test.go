package jinja

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// FuzzRender wants any text to be refused or rendered within its budget, and the
// same text twice.
func FuzzRender(f *testing.F) {
	golden, err := os.ReadFile("testdata/golden.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	given, rest, _ := strings.Cut(string(golden), "\n")
	var g struct {
		Messages []Message
		Kwargs   json.RawMessage
	}
	if err := json.Unmarshal([]byte(given), &g); err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(rest) {
		var v vector
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			f.Fatal(err)
		}
		f.Add(v.Template)
	}
	f.Fuzz(func(t *testing.T, source string) {
		template, err := Parse(source, nil)
		if err != nil {
			return
		}
		kwargs, err := ParseKwargs(string(g.Kwargs))
		if err != nil {
			t.Fatal(err)
		}
		const budget = 1 << 20
		text, err := template.render(g.Messages, kwargs, budget)
		if len(text) > budget {
			t.Errorf("%d bytes", len(text))
		}
		again, errAgain := template.render(g.Messages, kwargs, budget)
		if again != text || (err == nil) != (errAgain == nil) {
			t.Errorf("%q, then %q", text, again)
		}
	})
}

func FuzzParseKwargs(f *testing.F) {
	f.Add(`{"a": [1, 2.5, "x", null, true, {"b": {}}]}`)
	f.Fuzz(func(_ *testing.T, text string) { _, _ = ParseKwargs(text) })
}
