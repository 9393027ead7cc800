package runs_test

import (
	"log"
	"os"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/stream"
	"github.com/servebench/servebench/report/runs"
)

// Runs side by side, as a sweep shows them.
func Example() {
	f, err := os.Open("../testdata/run.jsonl") // as servebench run -o writes it
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	sums, err := stream.Read(f, metrics.Ask{})
	if err != nil {
		log.Fatal(err)
	}
	table := runs.Table{Rows: []runs.Row{
		{Labels: []metrics.KV{{Key: "arm", Value: "old"}}, Summary: sums[0]},
		{Labels: []metrics.KV{{Key: "arm", Value: "new"}}, Failed: "the server did not start"},
	}}
	if err := table.CSV(os.Stdout); err != nil {
		log.Fatal(err)
	}
	// Output:
	// arm,completed,failed,duration_s,requests_per_s,output_tokens_per_s,total_tokens_per_s,mean_ttft_ms,p90_ttft_ms,mean_tpot_ms,p90_tpot_ms,mean_itl_ms,p90_itl_ms,mean_e2el_ms,p90_e2el_ms,verdict,remark
	// old,20,0,1.20,16.67,183.33,1850.00,49.50,57.10,10.00,10.00,10.00,10.00,149.50,157.10,VALID,
	// new,,,,,,,,,,,,,,,FAILED,the server did not start
}
