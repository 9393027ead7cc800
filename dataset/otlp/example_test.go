package otlp_test

import (
	"fmt"
	"strings"

	"github.com/servebench/servebench/dataset/otlp"
)

func ExampleSpans() {
	file := strings.NewReader(`{"resourceSpans": [{"scopeSpans": [{"spans": [
		{"spanId": "1", "attributes": [{"key": "gen_ai.usage.input_tokens", "value": {"intValue": "42"}}]}]}]}]}`)
	err := otlp.Spans(file, "spans.json", func(span *otlp.Span, _ otlp.Place) error {
		tokens, err := span.Count("gen_ai.usage.input_tokens")
		fmt.Println(span.ID, tokens)
		return err
	})
	fmt.Println(err)
	// Output:
	// 1 42
	// <nil>
}
