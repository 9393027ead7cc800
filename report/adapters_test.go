package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/aspect/adapters"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/vllm"
)

// lora is a run of 40 requests to three adapters. Those to the last one are slow, and some fail.
func lora(slos ...metrics.SLO) *metrics.Summary {
	c := aspect.Collector(&metrics.Header{Config: metrics.Config{Goodput: slos}})
	c.Keep.Trace = true
	for i := range 40 {
		slow := i % 4 / 3
		r := &record.Record{Index: i, Adapter: []string{"chat", "sql", "chat", "an/adapter/with-a-long-name"}[i%4], Tokens: record.Tokens{Out: 3}, Times: record.Times{Sent: time.Duration(i) * 10 * ms}}
		for j := range 3 {
			r.Answer.Chunks.Append(r.Times.Sent + time.Duration(20+i%5+100*slow+8*j)*ms)
		}
		r.Times.FirstContent, r.Times.Last, r.Times.End = r.Answer.Chunks.First(), r.Answer.Chunks.Last(), r.Answer.Chunks.Last()
		if slow == 1 && i > 30 {
			r.Result.Class, r.Result.Status, r.Result.Error, r.Answer.Chunks, r.Times.Last = record.Status, 404, "no", record.Stamps{}, 0
		}
		c.Add(r)
	}
	return c.Summary(0.5)
}

func TestAdaptersHaveALineEach(t *testing.T) {
	var got bytes.Buffer
	if err := Adapters(&got, lora(metrics.SLO{Metric: "ttft", Limit: 100})); err != nil {
		t.Fatal(err)
	}
	const want = `
LoRA adapters
                                                     good  output  TTFT ms           TPOT ms  E2EL ms
adapter                   completed  failed  req/s  req/s   tok/s   median      P99   median   median      P99
an/adapter/with-a-long-…          7       3  14.00   0.00   42.00   122.00  123.94*     8.00   138.00  139.94*
chat                             20          40.00  40.00  120.00    22.00   24.00*     8.00    38.00   40.00*
sql                              10          20.00  20.00   60.00    22.00   24.00*     8.00    38.00   40.00*
* fewer than 10 values beyond this percentile: too few to decide anything by it
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Columns without a value are left out, and a run without adapters has no table.
func TestAdaptersLeaveOutWhatThereIsNot(t *testing.T) {
	var got bytes.Buffer
	s := lora()
	all := adapters.Of(s)[1:]
	adapters.Give(s, all)
	if err := Adapters(&got, s); err != nil || strings.Contains(got.String(), "good") || strings.Contains(got.String(), "failed") || !strings.Contains(got.String(), "sql") {
		t.Errorf("%s, %v", &got, err)
	}
	got.Reset()
	for i := range all { // of a pooling endpoint
		all[i].Output = 0
	}
	if err := Adapters(&got, s); err != nil || strings.Contains(got.String(), "tok/s") {
		t.Errorf("%s, %v", &got, err)
	}
	got.Reset()
	if err := Adapters(&got, &metrics.Summary{}); err != nil || got.Len() > 0 {
		t.Errorf("%s, %v", &got, err)
	}
}

func TestAWindowHasItsAdapters(t *testing.T) {
	s := lora()
	s.Parts.Window = s.Within(metrics.Window{From: 100 * ms, To: 300 * ms})
	var text, file bytes.Buffer
	if err := Window(&text, s, vllm.Version{}); err != nil {
		t.Fatal(err)
	}
	if err := JSON(&file, s, vllm.Version{}); err != nil {
		t.Fatal(err)
	}
	wanted := fmt.Sprintf(`"name": "sql", "completed": %d, "failed": 0, `, adapters.Of(s.Parts.Window)[2].Completed)
	if adapters.Of(s.Parts.Window)[2].Completed == adapters.Of(s)[2].Completed || !strings.Contains(file.String(), wanted) || strings.Count(file.String(), `"adapters": [`) != 2 ||
		!strings.Contains(text.String(), "LoRA adapters") {
		t.Errorf("%s\n%s", &text, &file)
	}
}
