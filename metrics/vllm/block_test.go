package vllm

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
)

// everything is a run that gives every version all it can print.
func everything() *metrics.Summary {
	c := aspect.Collector(&metrics.Header{Config: metrics.Config{
		MaxConcurrency: 4, RequestRate: 2, Goodput: []metrics.SLO{{Metric: "ttft", Limit: 1}}, Percentiles: []float64{50, 99.9},
		Metrics: []string{"ttft", "tpot", "itl", "e2el", "client_queue_time", "e2el_including_client_queue"},
	}})
	r := &record.Record{Tokens: record.Tokens{In: 3, Out: 2}, Times: record.Times{Last: time.Second}}
	r.Answer.Chunks.Append(time.Millisecond)
	r.Answer.Chunks.Append(time.Second)
	c.Add(r)
	s := c.Summary(1)
	s.Rates.RTFx, s.Rates.Sequences = 1.5, 2.5
	s.Printed.Probes = &metrics.Probes{Completed: 1}
	s.Printed.SpecDecode = &samples.SpecDecode{DraftTokens: 5, PerPosition: []float64{0.5}}
	return s
}

// marks are what one version's block has and another's has not.
var marks = []string{
	"Failed requests:", "Maximum request concurrency:", "Request rate configured (RPS):", "Request goodput (req/s):",
	"Input token throughput (tok/s):", "Input throughput (inputs/s):", "Peak output token throughput (tok/s):", "Peak concurrent requests:",
	"RTFx (Inverse Real-Time Factor):", "Total Token throughput (tok/s):", "Total token throughput (tok/s):",
	"Probe Requests", "Inter-token Latency", "End-to-end Latency", "Client-side Queueing", "Queue-inclusive End-to-end Latency",
	"Speculative Decoding", "Diffusion Decoding", "P50 TTFT (ms):", "P99 TTFT (ms):",
}

func TestEachVersionHasItsLines(t *testing.T) {
	const (
		e2  = "Input token throughput (tok/s):|P99 TTFT (ms):"
		e3  = e2 + "|Inter-token Latency"
		e4  = "Total Token throughput (tok/s):|Inter-token Latency|End-to-end Latency|P50 TTFT (ms):"
		e5  = e4 + "|Request goodput (req/s):"
		e6  = e5 + "|Maximum request concurrency:|Request rate configured (RPS):"
		e7  = e6 + "|Peak output token throughput (tok/s):|Peak concurrent requests:"
		e8  = e7 + "|Failed requests:"
		e10 = "|Speculative Decoding"
		e11 = e10 + "|RTFx (Inverse Real-Time Factor):"
		e13 = e11 + "|Probe Requests"
		e14 = e13 + "|Input throughput (inputs/s):"
		e15 = e14 + "|Client-side Queueing|Queue-inclusive End-to-end Latency"
	)
	e9 := strings.Replace(e8, "Total Token", "Total token", 1)
	for version, want := range map[string]string{
		"0.4.0": e2, "0.4.3": e2, "0.5.0": e3, "0.5.5": e3, "0.6.0": e4, "v0.6.3": e4, "0.6.4": e5, "0.10.0": e5,
		"0.10.1.post1": e6, "0.10.2": e6, "0.11.0": e7, "0.11.1": e8, "0.12.0": e8, "0.13": e9, "0.14.0": e9 + e10, "0.16.0": e9 + e10,
		"0.17.0": e9 + e11, "0.26.0": e9 + e11, "0.27.0": e9 + e13, "0.28.0": e9 + e13, "0.29.0": e9 + e14, "0.30.0": e9 + e15, "1.0.0": e9 + e15, "latest": e9 + e15,
	} {
		v, err := ParseVersion(version)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := Block(&b, everything(), v); err != nil {
			t.Fatal(err)
		}
		got := slices.DeleteFunc(slices.Clone(marks), func(mark string) bool { return !strings.Contains(b.String(), mark) })
		wanted := strings.Split(want, "|")
		slices.Sort(got)
		slices.Sort(wanted)
		if !slices.Equal(got, wanted) {
			t.Errorf("%s has %q\nwant %q", version, got, wanted)
		}
	}
}

func TestFailuresAreListedSinceVLLM014(t *testing.T) {
	s := &metrics.Summary{Header: new(metrics.Header), Printed: metrics.Printed{FirstErrors: []string{"no room"}}}
	const list = "Failed requests during benchmark run detected (capping to 10):\nError 0: no room\n"
	for version, want := range map[string]string{"0.13.0": "", "0.14.0": list, "latest": list} {
		v, err := ParseVersion(version)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := Failures(&b, s, v); err != nil {
			t.Fatal(err)
		}
		if b.String() != want {
			t.Errorf("%s: %q, want %q", version, b.String(), want)
		}
	}
}

func TestDiffusionTakesThePlaceOfSpeculation(t *testing.T) {
	s := everything()
	s.Printed.Diffusion = &samples.Diffusion{CommittedThroughput: 32, StepsPerCanvas: 4, CommittedPerStep: 8.5,
		CommittedTokens: 320, DenoisingSteps: 40, CanvasPositions: 1600}
	var b bytes.Buffer
	if err := Block(&b, s, Version{}); err != nil {
		t.Fatal(err)
	}
	const want = `----------------Diffusion Decoding----------------
Committed throughput (tok/s):            32.00     
Denoising steps per canvas:              4.00      
Committed per denoising step:            8.50      
Committed tokens:                        320       
Denoising steps:                         40        
Canvas positions evaluated:              1600      
==================================================
`
	if !strings.HasSuffix(b.String(), want) {
		t.Errorf("got\n%s\nwant at its end\n%s", b.String(), want)
	}
}

func TestVersionsWithoutABlockAreRefused(t *testing.T) {
	for _, bad := range []string{"0.3.3", "0.0.0", "1", "0.6.x", "0.6.4.1", "newest", "0.6.4 "} {
		if v, err := ParseVersion(bad); err == nil || !strings.Contains(err.Error(), strconv.Quote(bad)) {
			t.Errorf("%q: %v, %v", bad, v, err)
		}
	}
}

func TestResultNameIsVLLMs(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 5, 9, 0, time.UTC)
	for want, c := range map[string]metrics.Config{
		"vllm-infqps-stub-32000-20261120-120509.json":                           {Backend: "vllm", Model: "stub-32000", RequestRate: math.Inf(1)},
		"x-10.0qps-concurrency16-Llama-20261120-120509.json":                    {Backend: "vllm", Label: "x", Model: "meta/Llama", RequestRate: 10, MaxConcurrency: 16},
		"vllm-ramp-up-linear-2qps-20qps-concurrency4-stub-20261120-120509.json": {Backend: "vllm", Model: "stub", RampUp: &metrics.RampUp{Strategy: "linear", Start: 2, End: 20}, MaxConcurrency: 4},
		"openai-chat-1e-05qps-m-20261120-120509.json":                           {Backend: "openai-chat", Model: "a/b/m", RequestRate: 1e-5},
	} {
		if got := ResultName(&c, at); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestARampThatWasCutHasNoLaterRises(t *testing.T) {
	s := everything()
	s.Header.Epoch = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	s.When.Date = s.Header.Epoch.Add(1500 * time.Millisecond)
	for i := range 4 {
		s.Printed.RateChanges = append(s.Printed.RateChanges, metrics.RateChange{RPS: i + 1, At: s.Header.Epoch.Add(time.Duration(i) * time.Second)})
	}
	var b bytes.Buffer
	if err := writeResult(&b, s, Version{}); err != nil {
		t.Fatal(err)
	}
	const want = `"rps_change_events": [{"rps": 1, "timestamp": "2026-11-20T12:00:00"}, {"rps": 2, "timestamp": "2026-11-20T12:00:01"}], `
	if !strings.Contains(b.String(), want) {
		t.Errorf("got %s", b.String())
	}
}

func TestMetadataMayNameAKeyThatIsThere(t *testing.T) {
	s := everything()
	s.Header.Config.Metadata = []metrics.KV{{Key: "b", Value: "1"}, {Key: "a", Value: "2"}, {Key: "backend", Value: "mine"}}
	var b bytes.Buffer
	if err := writeResult(&b, s, Version{}); err != nil {
		t.Fatal(err)
	}
	if want := `"backend": "mine", "label": null, "model_id": null, "tokenizer_id": null, "num_prompts": 0, "b": "1", "a": "2", "request_rate": 2.0`; !strings.Contains(b.String(), want) {
		t.Errorf("got %s", b.String())
	}
}

// keyMarks are what one version's result file has and another's has not.
var keyMarks = []string{
	"max_concurrent_requests", "failed", "spec_decode_num_drafts", "start_times", "rtfx", "probe_completed", "latencies", "queue_times",
	"mean_client_queue_time_ms", "mean_e2el_including_client_queue_ms", "server_queue_times", "server_ttfts",
}

func TestEachVersionHasItsKeys(t *testing.T) {
	s := everything()
	told := 0.25
	s.Kept.Outcomes = []metrics.Outcome{{Success: true, ServerTTFT: &told}, {Error: "no"}}
	s.Kept.Timings = []metrics.Timing{{}, {Index: 1}}
	for version, want := range map[string]int{ // how many of the marks
		"0.10.2": 0, "0.11.0": 1, "0.11.1": 2, "0.14.0": 3, "0.15.0": 4, "0.17.0": 5, "0.26.0": 5, "0.27.0": 6, "0.29.0": 6, "0.30.0": 10, "0.32.0": 10, "0.33.0": 12, "latest": 12,
	} {
		v, err := ParseVersion(version)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := writeResult(&b, s, v); err != nil {
			t.Fatal(err)
		}
		for i, key := range keyMarks {
			if has := strings.Contains(b.String(), strconv.Quote(key)+":"); has != (i < want) {
				t.Errorf("%s: %s is there: %v", version, key, has)
			}
		}
		if v.Since(33, 0) && !strings.Contains(b.String(), `"server_queue_times": [null, null], "server_ttfts": [0.25, null]`) {
			t.Errorf("%s: %s", version, b.String())
		}
	}
}

// As Python's format(v, ".2f").
func TestDecimalsArePythons(t *testing.T) {
	for v, want := range map[float64]string{41.25: "41.25", math.Inf(1): "inf", math.Inf(-1): "-inf", 1e22: "10000000000000000000000.00"} {
		if got := decimal(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}
