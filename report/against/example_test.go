package against_test

import (
	"log"
	"os"

	"github.com/servebench/servebench/metrics/published"
	"github.com/servebench/servebench/report/against"
	"github.com/servebench/servebench/report/screen"
)

// The mean TPOT of a run next to a block of a document.
func Example() {
	block := &published.Block{Document: "bench.md", Number: 1, Runs: "server", Count: 1, Numbers: []published.Number{
		{Name: "mean_tpot", Unit: "ms", Document: 2, Here: 30, Least: 30, Most: 30, Ratio: 15},
	}}
	if err := against.Write(os.Stdout, []*published.Block{block}, screen.Screen{Width: 80}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// Against bench.md
	//                              document (GPU and     this
	// block  runs    number        model not stated)  machine  ratio
	// 1      server  mean TPOT ms               2.00    30.00   15.0
	// Ratio: this machine over the document. This machine is the median over the runs.
	//        A block is one run, so there is no verdict
}
