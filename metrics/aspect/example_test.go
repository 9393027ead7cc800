package aspect_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/endings"
	"github.com/servebench/servebench/metrics/record"
)

func Example() {
	c := aspect.Collector(&metrics.Header{})
	for _, reason := range []string{"stop", "length", "stop"} {
		r := &record.Record{Answer: record.Answer{Finish: reason}}
		r.Answer.Chunks.Append(time.Millisecond)
		c.Add(r)
	}
	fmt.Println(endings.Of(c.Summary(1)).Reasons)
	// Output: map[length:1 stop:2]
}
