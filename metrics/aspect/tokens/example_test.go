package tokens_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics/aspect/tokens"
	"github.com/servebench/servebench/metrics/record"
)

func Example() {
	r := &record.Record{Tokens: record.Tokens{Out: 6, PerChunk: []int{1, 5}}}
	r.Answer.Chunks.Append(100 * time.Millisecond)
	r.Answer.Chunks.Append(150 * time.Millisecond)
	var t tokens.Tokens
	t.Add(r)
	fmt.Printf("%g tokens a chunk, at most %d; %.0f ms from one token to the next\n", t.Mean(), t.Largest, t.ITL.Median())
	// Output: 3 tokens a chunk, at most 5; 10 ms from one token to the next
}
