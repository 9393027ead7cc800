package pooling

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics/record"
)

// BenchmarkRead reads an embedding of 4096 dimensions.
func BenchmarkRead(b *testing.B) {
	var numbers strings.Builder
	for i := range 4096 {
		fmt.Fprintf(&numbers, ", %.16f", 1/float64(i+3))
	}
	body := []byte(`{"id": "embd-1", "object": "list", "created": 1, "model": "m", "data": [{"index": 0, "object": "embedding", "embedding": [0.5` +
		numbers.String() + `]}], "usage": {"prompt_tokens": 9, "total_tokens": 9, "completion_tokens": 0, "prompt_tokens_details": null}}`)
	header := http.Header{"Content-Type": {"application/json"}}
	rec := new(record.Record)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if err := read(header, body, "", rec); err != nil || rec.Tokens.In != 9 {
			b.Fatal(err, rec.Tokens.In)
		}
	}
}
