package files_test

import (
	"fmt"
	"log"
	"os"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/report/files"
)

// Write vLLM's result file of a run of one request.
func Example() {
	dir, err := os.MkdirTemp("", "files")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	c := aspect.Collector(&metrics.Header{Config: metrics.Config{Backend: "openai", Model: "tiny"}})
	c.Add(&record.Record{Tokens: record.Tokens{Out: 8}, Times: record.Times{Last: time.Second, End: time.Second}})
	result := files.Result{Save: true, Dir: dir, Filename: "run.json"}
	if err := result.Write(c.Summary(1)); err != nil {
		log.Fatal(err)
	}
	info, err := os.Stat(result.Path("run.json"))
	fmt.Println(info.Name(), err)
	// Output: run.json <nil>
}
