package html_test

import (
	"fmt"
	"log"
	"os"
	"regexp"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/stream"
	"github.com/servebench/servebench/report/html"
	"github.com/servebench/servebench/report/plot"
)

// A page about a recorded run, which opens from a disk and fetches nothing.
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
	var page strings.Builder
	if err := html.Write(&page, []html.Run{{Run: plot.Run{Summary: sums[0], File: "run.jsonl"}}}, ""); err != nil {
		log.Fatal(err)
	}
	for _, heading := range regexp.MustCompile(`<h[14]>([^<]*)`).FindAllStringSubmatch(page.String(), -1) {
		fmt.Println(heading[1])
	}
	// Output:
	// 20 requests at 20 a second
	// Latency distributions
	// Single requests
	// Over time
}
