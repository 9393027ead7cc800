package chunk_test

import (
	"fmt"

	"github.com/servebench/servebench/loadgen/api/chunk"
	"github.com/servebench/servebench/loadgen/api/exchange"
)

func Example() {
	var p exchange.Piece
	d := chunk.Decoder{Deltas: true}
	err := d.Decode([]byte(`{"choices": [{"index": 0, "delta": {"reasoning": "So"}}]}`), &p)
	fmt.Println(p.Chunk, p.Content, p.Answers, string(p.Thought), err)
	// Output: true true false So <nil>
}
