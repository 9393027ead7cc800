package backend_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/loadgen/backend"
)

// List names each backend with its usual endpoint.
func ExampleList() {
	var table strings.Builder
	if err := backend.List(&table); err != nil {
		panic(err)
	}
	for i, line := range slices.Collect(strings.Lines(table.String())) {
		if i < 3 {
			os.Stdout.WriteString(strings.Join(strings.Fields(line), " ") + "\n")
		}
	}
	// Output:
	// BACKEND ENDPOINT API ANSWER
	// vllm /v1/completions OpenAI Completions API text
	// openai /v1/completions OpenAI Completions API text
}

func TestEveryBackendHasItsUsualEndpoint(t *testing.T) {
	for _, b := range backend.All {
		if !b.Has("http://server:8000" + b.Endpoint) {
			t.Errorf("%s: %s ends with none of %q", b.Name, b.Endpoint, b.Suffixes)
		}
		if backend.Find(b.Name) != b {
			t.Errorf("%s is there twice", b.Name)
		}
	}
	if b := backend.Find("tgi"); b != nil {
		t.Errorf("tgi is %v", b)
	}
}
