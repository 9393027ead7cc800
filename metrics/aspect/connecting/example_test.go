package connecting_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics/aspect/connecting"
	"github.com/servebench/servebench/metrics/record"
)

func Example() {
	r := &record.Record{Conn: record.Conn{New: true, DNS: time.Millisecond, Connect: 2 * time.Millisecond}}
	r.Answer.Chunks.Append(9 * time.Millisecond)
	var c connecting.Connecting
	c.Add(r)
	fmt.Println(c.Requests, "of", c.Of, "requests connected, in", c.Mean())
	// Output: 1 of 1 requests connected, in 3ms
}
