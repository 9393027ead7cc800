package plot_test

import (
	"fmt"
	"io"
	"log"
	"os"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/stream"
	"github.com/servebench/servebench/report/plot"
)

// The charts of a recorded run. Each can be drawn as a picture.
func Example() {
	f, err := os.Open("../testdata/run.jsonl")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	sums, err := stream.Read(f, metrics.Ask{Trace: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, chapter := range plot.Chapters([]plot.Run{{Summary: sums[0]}}) {
		for _, chart := range chapter.Charts {
			fmt.Printf("%s: %s over %s\n", chart.Name, chart.Y.Title, chart.X.Title)
			if err := plot.SVG(io.Discard, &chart); err != nil {
				log.Fatal(err)
			}
		}
	}
	// Output:
	// ttft-ecdf: Share of values at or below (%) over TTFT (ms)
	// ttft-percentiles: TTFT (ms) over Percentile
	// tpot-ecdf: Share of values at or below (%) over TPOT (ms)
	// tpot-percentiles: TPOT (ms) over Percentile
	// itl-ecdf: Share of values at or below (%) over ITL (ms)
	// itl-percentiles: ITL (ms) over Percentile
	// e2el-ecdf: Share of values at or below (%) over E2EL (ms)
	// e2el-percentiles: E2EL (ms) over Percentile
	// timeline: Request, in order of due time over Time since the start (s)
	// ttft-points: TTFT (ms) over Time at which the request was sent (s)
	// itl-points: ITL (ms) over Time at which the token came (s)
	// lengths: Share of requests at or below (%) over Length (tokens)
	// throughput: Output throughput (tok/s) over Time since the start (s)
	// requests: Request rate (req/s) over Time since the start (s)
	// concurrency: Requests over Time since the start (s)
	// ttft: TTFT (ms) over Time since the start (s)
	// itl: ITL (ms) over Time since the start (s)
}
