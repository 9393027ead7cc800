package witness_test

import (
	"context"
	"fmt"
	"time"

	"github.com/servebench/servebench/loadgen/witness"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/scrape"
)

// A server has looked up 5,000 tokens of prompts, and the run sent 100.
func Example() {
	var looked int64
	w := witness.Witness{Counters: func(context.Context) []scrape.Counters {
		return []scrape.Counters{{PrefixQueries: looked}}
	}}
	w.Look(context.Background())
	w.Send(&record.Record{Tokens: record.Tokens{In: 100}})
	looked = 5000

	s := aspect.Collector(&metrics.Header{Epoch: time.Now()}).Summary(1)
	s.Evidence = new(evidence.Evidence)
	w.Report(context.Background(), s, w.Most(0, 1))
	fmt.Println(s.Evidence.Server.Mixed)
	// Output: 5000 prompt tokens were looked up in the prefix cache, and this run sent 100
}
