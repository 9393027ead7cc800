package counts_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics/aspect/counts"
	"github.com/servebench/servebench/metrics/record"
)

func Example() {
	r := &record.Record{Tokens: record.Tokens{In: 100, Cached: 64, Out: 7, OutAsked: 9, Uncounted: true}}
	r.Answer.Chunks.Append(time.Millisecond)
	var c counts.Counts
	c.Add(r)
	fmt.Println(c.Tokenizer, "of", c.Of, "answers were counted by the tokenizer;", c.Cached, "prompt tokens were cached")
	// Output: 1 of 1 answers were counted by the tokenizer; 64 prompt tokens were cached
}
