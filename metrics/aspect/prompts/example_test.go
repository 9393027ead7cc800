package prompts_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics/aspect/prompts"
	"github.com/servebench/servebench/metrics/record"
)

func Example() {
	r := &record.Record{Tokens: record.Tokens{In: 2048, InAsked: 8000}}
	r.Answer.Chunks.Append(time.Millisecond)
	var p prompts.Prompts
	p.Add(r)
	fmt.Println(p.Shorter, "of", p.Of, "prompts were cut: the server read", p.Read, "of", p.Asked, "tokens")
	// Output: 1 of 1 prompts were cut: the server read 2048 of 8000 tokens
}
