package vllm_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/adapters"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/vllm"
)

// adapted is a run of two requests to an adapter, and of a failed one to another.
func adapted() *metrics.Summary {
	c := aspect.Collector(&metrics.Header{Config: metrics.Config{Goodput: []metrics.SLO{{Metric: "ttft", Limit: 150}}}})
	for i := range 3 {
		r := &record.Record{Index: i, Adapter: "sql", Tokens: record.Tokens{In: 5, Out: 2}}
		first := time.Duration(100+100*i) * time.Millisecond
		r.Answer.Chunks.Append(first)
		r.Answer.Chunks.Append(first + 10*time.Millisecond)
		if r.Times.Last, r.Times.End = r.Answer.Chunks.Last(), r.Answer.Chunks.Last(); i == 2 {
			r.Adapter, r.Result.Class, r.Result.Error = "chat", record.Status, "no"
		}
		c.Add(r)
	}
	return c.Summary(2)
}

const adaptersText = `[{"name": "chat", "completed": 0, "failed": 1, "input_tokens": 0, "output_tokens": 0, "good": 0, ` +
	`"request_throughput": 0.0, "output_throughput": 0.0, "request_goodput": 0.0}, ` +
	`{"name": "sql", "completed": 2, "failed": 0, "input_tokens": 10, "output_tokens": 4, "good": 1, ` +
	`"request_throughput": 1.0, "output_throughput": 2.0, "request_goodput": 0.5, ` +
	`"n_ttft_ms": 2, "mean_ttft_ms": 150.0, "median_ttft_ms": 150.0, "p90_ttft_ms": 190.0, "p95_ttft_ms": 195.0, "p99_ttft_ms": 199.0, ` +
	`"n_tpot_ms": 2, "mean_tpot_ms": 10.0, "median_tpot_ms": 10.0, "p90_tpot_ms": 10.0, "p95_tpot_ms": 10.0, "p99_tpot_ms": 10.0, ` +
	`"n_e2el_ms": 2, "mean_e2el_ms": 160.0, "median_e2el_ms": 160.0, "p90_e2el_ms": 200.0, "p95_e2el_ms": 205.0, "p99_e2el_ms": 209.0}]`

func TestResultFilesHaveTheAdapters(t *testing.T) {
	objects := vllm.Adapters(adapters.Of(adapted()))
	for i := range objects {
		for k, m := range objects[i] {
			if v, ok := m.Value.(float64); ok {
				objects[i][k].Value = math.Round(v*1e6) / 1e6
			}
		}
	}
	if got := string(pyjson.Append(nil, objects)); got != adaptersText {
		t.Fatalf("%s\nwant %s", got, adaptersText)
	}
	file := `{"duration": 2, "completed": 2, "total_input_tokens": 10, "adapters": ` + adaptersText + `}`
	sums, err := vllm.ReadResults(strings.NewReader(file), metrics.Ask{})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(pyjson.Append(nil, vllm.Adapters(adapters.Of(sums[0])))); got != adaptersText {
		t.Errorf("read back: %s\nwant %s", got, adaptersText)
	}
	asked, err := vllm.ReadResults(strings.NewReader(file), metrics.Ask{Goodput: []metrics.SLO{{Metric: "ttft", Limit: 1}}})
	if err != nil || len(adapters.Of(asked[0])) != 2 || !math.IsNaN(adapters.Of(asked[0])[1].Goodput) {
		t.Errorf("goodput by other limits: %+v, %v", adapters.Of(asked[0]), err)
	}
	for _, odd := range []string{`null`, `7`, `{}`, `[3]`, `[{"name": 3, "completed": "x"}]`} {
		if _, err := vllm.ReadResults(strings.NewReader(strings.Replace(file, adaptersText, odd, 1)), metrics.Ask{}); err != nil {
			t.Errorf("%s: %v", odd, err)
		}
	}
}
