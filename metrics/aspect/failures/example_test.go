package failures_test

import (
	"fmt"

	"github.com/servebench/servebench/metrics/aspect/failures"
	"github.com/servebench/servebench/metrics/record"
)

func Example() {
	var f failures.Failures
	f.Add(&record.Record{Attempts: 3, Result: record.Result{Class: record.Status, Status: 503, Error: "no room"}})
	fmt.Println(f.Requests(record.Status), "request failed by HTTP status", f.Classes[record.Status].Statuses)
	fmt.Println(f.Resent.Requests, "request was sent", f.Resent.Times, "times more")
	// Output:
	// 1 request failed by HTTP status map[503:1]
	// 1 request was sent 2 times more
}
