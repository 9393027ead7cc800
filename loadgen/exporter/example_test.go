package exporter_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/exporter"
	"github.com/servebench/servebench/metrics/record"
)

// A scrape after two requests, one of which failed.
func Example() {
	e := exporter.New("1.2.3")
	series := e.Series("", "a")
	series.Take(&record.Record{Result: record.Result{Class: record.OK}, Times: record.Times{End: 2 * time.Second}, Tokens: record.Tokens{In: 7, Out: 3}})
	series.Take(&record.Record{Result: record.Result{Class: record.Stall}, Times: record.Times{End: time.Second}})

	answer := httptest.NewRecorder()
	e.ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(answer.Body.String()) {
		if name, value, _ := strings.Cut(line, " "); !strings.HasPrefix(line, "#") && strings.Contains(name, "requests_") && value != "0\n" {
			fmt.Print(line)
		}
	}
	// Output:
	// servebench_requests_completed_total{arm="",target="a"} 1
	// servebench_requests_failed_total{arm="",class="stall",target="a"} 1
}
