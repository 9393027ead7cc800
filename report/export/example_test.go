package export_test

import (
	"log"
	"os"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/report/export"
)

// Write the throughputs of a run of one request as github-action-benchmark reads them.
func Example() {
	files := export.Files{Stdout: os.Stdout}
	if err := files.Add("bigger-is-better=-"); err != nil {
		log.Fatal(err)
	}
	err := files.Write(func() error {
		h := &metrics.Header{Run: "a", Config: metrics.Config{Backend: "openai", Model: "tiny"}}
		c := aspect.Collector(h)
		r := &record.Record{Tokens: record.Tokens{In: 4, Out: 8}, Times: record.Times{Last: time.Second, End: time.Second}}
		c.Add(r)
		files.Request(h, r)
		files.Run(c.Summary(2))
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// [
	//   {
	//     "name": "request_throughput",
	//     "unit": "req/s",
	//     "value": 0.5,
	//     "extra": "1 run"
	//   },
	//   {
	//     "name": "output_throughput",
	//     "unit": "tok/s",
	//     "value": 4,
	//     "extra": "1 run"
	//   },
	//   {
	//     "name": "total_throughput",
	//     "unit": "tok/s",
	//     "value": 6,
	//     "extra": "1 run"
	//   }
	// ]
}
