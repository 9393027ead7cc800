package stream

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
)

// Each result is for one request of one token, as most of a stream's lines are: what a scanned line
// costs and what encoding/json takes for it, then a whole stream from its lines to its Summary.
func BenchmarkRequest(b *testing.B) {
	const n = 100_000
	var text bytes.Buffer
	sw, c := NewWriter(&text), aspect.Collector(testHeader("r"))
	if err := sw.Begin(testHeader("r")); err != nil {
		b.Fatal(err)
	}
	for i := range n {
		r := testRecord("r", i, 1)
		r.Shift(-time.Duration(i) * 999 * time.Millisecond) // a thousand a second
		r.Answer.Text = ""
		c.Add(r)
		if err := sw.Write(r); err != nil {
			b.Fatal(err)
		}
	}
	if err := sw.End(c.Summary(n)); err != nil {
		b.Fatal(err)
	}
	line := bytes.TrimSpace(bytes.SplitN(text.Bytes(), []byte("\n"), 3)[1])
	b.Run("scanned", func(b *testing.B) {
		p := parserOfOne()
		p.lend = true
		for b.Loop() {
			if p.begin(1); p.parse(line).entry.Record == nil {
				b.Fatal("not a request")
			}
		}
	})
	b.Run("json", func(b *testing.B) {
		var head lineHead
		if err := json.Unmarshal(line, &head); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if e, err := decode(head, line); err != nil || e.Record == nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("summed", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if sums, err := Read(bytes.NewReader(text.Bytes()), metrics.Ask{}); err != nil || sums[0].Completed != n {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/request")
	})
}
