package exchange_test

import (
	"bytes"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics/record"
)

// A canned transport answers every request with the same body, without a
// network.
type canned []byte

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(bytes.NewReader(c)), Request: r,
	}, nil
}

// manyEvents is an answer of n chunks, one token each, with its usage.
func manyEvents(n int) canned {
	const chunk = `data: {"id":"cmpl-9b2c7a0e6d0f4f1e8a3f","object":"text_completion","created":1795176277,"model":"meta-llama/Llama-3.1-8B-Instruct","choices":[{"index":0,"text":" token","logprobs":null,"finish_reason":null,"stop_reason":null}],"usage":null}` + "\n\n"
	return canned(strings.Repeat(chunk, n) + lastChunk + usageChunk + doneEvent)
}

func TestAChunkDoesNotAllocate(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // or the buffers kept are lost at times
	o := &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test"}
	req := &engine.Request{ID: "r", Body: []byte("{}")}
	allocs := func(chunks int) float64 {
		o.Transport = manyEvents(chunks)
		return testing.AllocsPerRun(20, func() {
			for _, err := range o.Send(t.Context(), time.Now(), req, new(record.Record)) {
				if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	allocs(5000)
	// Not quite equal: a pool may lose its buffers, and does so on purpose
	// under the race detector.
	if few, many := allocs(50), allocs(5000); many-few > 20 {
		t.Errorf("%v allocations for 50 chunks, %v for 5000", few, many)
	}
}

// BenchmarkEvent reads the same stream with our Sender and with go-openai in
// turns, and gives what an event cost each when nothing else disturbed it, and
// the ratio.
func BenchmarkEvent(b *testing.B) {
	const events = 2000
	transport := manyEvents(events)
	config := openai.DefaultConfig("")
	config.HTTPClient = &http.Client{Transport: transport}
	client := openai.NewClientWithConfig(config)
	o := &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test", Transport: transport}
	req := &engine.Request{ID: "r", Body: []byte("{}")}
	ours, theirs := time.Hour, time.Hour
	for b.Loop() {
		start := time.Now()
		for _, err := range o.Send(b.Context(), start, req, new(record.Record)) {
			if err != nil {
				b.Fatal(err)
			}
		}
		middle := time.Now()
		if _, _, err := readCompletion(b.Context(), client); err != nil {
			b.Fatal(err)
		}
		ours, theirs = min(ours, middle.Sub(start)), min(theirs, time.Since(middle))
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(ours)/events, "ns/event")
	b.ReportMetric(float64(theirs)/events, "go-openai-ns/event")
	b.ReportMetric(float64(theirs)/float64(ours), "x")
}
