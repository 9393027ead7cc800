package api_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/loadgen/api"
)

// List names each backend with its usual endpoint.
func ExampleList() {
	var table strings.Builder
	if err := api.List(&table); err != nil {
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
	for _, b := range api.All {
		if !b.Has("http://server:8000" + b.Endpoint) {
			t.Errorf("%s: %s ends with none of %q", b.Name, b.Endpoint, b.Suffixes)
		}
		if api.Find(b.Name) != b {
			t.Errorf("%s is there twice", b.Name)
		}
	}
	if b := api.Find("tgi"); b != nil {
		t.Errorf("tgi is %v", b)
	}
}
