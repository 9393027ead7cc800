package record_test

import (
	"fmt"
	"time"

	"github.com/servebench/servebench/metrics/record"
)

// A request is sent, its answer comes in two chunks, and the record of it is a line.
func Example() {
	r := &record.Record{Index: 3, Attempts: 1, Tokens: record.Tokens{In: 12, InAsked: 12, Out: 2, OutAsked: 2}}
	r.Times.Due, r.Times.Slot, r.Times.Sent = time.Second, time.Second, time.Second+50*time.Microsecond
	for _, at := range []time.Duration{1100 * time.Millisecond, 1120 * time.Millisecond} {
		r.Answer.Chunks.Append(at)
	}
	r.Times.FirstContent, r.Times.Last, r.Times.End = r.Answer.Chunks.First(), r.Answer.Chunks.Last(), r.Answer.Chunks.Last()
	r.Result.Status = 200
	fmt.Println(r.TTFT(), r.TPOT(), r.Lag())
	line := append(record.Append([]byte(`{"k":"req"`), r), '}')
	fmt.Printf("%s\n", line)
	var back record.Record
	fmt.Println(record.Parse(line, &back), back.TTFT())
	// Output:
	// 99.95ms 20ms 50µs
	// {"k":"req","i":3,"sent":1000050000,"lag":50000,"chunks":2,"first":99950000,"last":119950000,"gaps":"gLSJEw==","end":119950000,"in":12,"out":2}
	// <nil> 99.95ms
}
