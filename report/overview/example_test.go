package overview_test

import (
	"fmt"
	"log"
	"os"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/stream"
	"github.com/servebench/servebench/report/overview"
	"github.com/servebench/servebench/report/plot"
)

// What a reader of a recorded run is to see first.
func Example() {
	file, err := os.Open("../testdata/run.jsonl")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	sums, err := stream.Read(file, metrics.Ask{Trace: true})
	if err != nil {
		log.Fatal(err)
	}
	runs := []plot.Run{{Summary: sums[0]}}
	f := overview.Of(runs, plot.Chapters(runs), "")
	fmt.Println(f.Title)
	for _, fact := range f.Facts[:4] {
		fmt.Printf("%s: %s\n", fact.Name, fact.Value)
	}
	fmt.Println("and the chart", f.Chart.Title)
	// Output:
	// 20 requests at 20 a second
	// Completed: 20
	// Failed: 0
	// Request throughput: 16.67 req/s
	// Output throughput: 183.3 tok/s
	// and the chart Requests over time
}
