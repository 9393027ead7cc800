package delivery_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics/aspect/delivery"
	"github.com/servebench/servebench/metrics/record"
)

func Example() {
	r := &record.Record{Tokens: record.Tokens{Out: 40}, Times: record.Times{Last: time.Second}}
	r.Answer.Chunks.Append(time.Second) // all 40 tokens
	var d delivery.Delivery
	d.Add(r)
	fmt.Println(d.AtOnce, "of", d.Of, "answers came at once")
	// Output: 1 of 1 answers came at once
}
