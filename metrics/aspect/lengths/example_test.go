package lengths_test

import (
	"fmt"

	"github.com/servebench/servebench/metrics/aspect/lengths"
	"github.com/servebench/servebench/metrics/record"
)

func Example() {
	var l lengths.Lengths
	l.Add(&record.Record{Tokens: record.Tokens{Out: 12, OutAsked: 9}})
	fmt.Println(l.Long, "of", l.Of, "answers were longer, by", l.Extra, "tokens")
	// Output: 1 of 1 answers were longer, by 3 tokens
}
