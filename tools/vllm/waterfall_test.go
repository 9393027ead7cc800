//go:build vllm && linux

package vllm_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/spans"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/stream"
)

// Loads whose waterfalls are compared with what a proxy saw.
var waterfallLines = []commandLine{
	{"one at once", "--num-prompts 60 --max-concurrency 1 --seed 41"},
	{"8 at once", "--num-prompts 160 --max-concurrency 8 --seed 42"},
	{"chats, 8 at once", "--backend openai-chat --endpoint /v1/chat/completions --num-prompts 160 --max-concurrency 8 --seed 43"},
	{"at a rate", "--num-prompts 100 --request-rate 10 --seed 44"},
}

// TestEngineWaterfall loads an engine that reports its queue and prefill for each request, through a
// proxy that stamps both ways. What is left of a request until its first chunk is the network and the
// front end: by the client's stamps and by the proxy's it must be the same within 1 ms, at the median. The
// engine's histograms must have the times that its answers say.
func TestEngineWaterfall(t *testing.T) {
	e := startEngine(t, writeModel(t), "--enable-per-request-metrics")
	proxy := startDelayproxy(t, e.url)
	fmt.Printf("%-18s %9s %14s %14s %14s %14s %14s\n", "medians in ms", "requests", "server queue", "prefill", "rest", "by the proxy", "off")
	for _, line := range waterfallLines {
		t.Run(line.name, func(t *testing.T) {
			records := filepath.Join(t.TempDir(), "run.jsonl")
			before := e.totals(t)
			command(t, newOurs(t, "latest").program, append([]string{"run", "-o", records, "--base-url", proxy.url, "--model", served, "--tokenizer", e.tokenizer,
				"--random-input-len", "40", "--random-output-len", "12", "--ready-check-timeout-sec", "0", "--request-id-prefix", strings.ReplaceAll(line.name, " ", "") + "-"}, strings.Fields(line.argv)...))
			seen, after := proxy.entries(t), e.totals(t)
			var queue, prefill, rest, proxied, off []float64
			for _, r := range readRecords(t, records) {
				parts, completed := spans.OfRequest(r)
				if !completed || r.Server == nil || r.Server.QueueMS == nil || r.Server.TTFTMS == nil {
					t.Fatalf("request %s: completed %v, with the engine's times %+v: %s", r.ID, completed, r.Server, r.Result.Error)
				}
				p, passed := seen[r.ID]
				if !passed {
					t.Fatalf("request %s did not pass the proxy", r.ID)
				}
				queue, prefill = append(queue, *r.Server.QueueMS), append(prefill, *r.Server.TTFTMS)
				rest = append(rest, metrics.Milliseconds(parts[spans.Network]))
				proxied = append(proxied, p.FirstOut-*r.Server.QueueMS-*r.Server.TTFTMS)
				off = append(off, math.Abs(rest[len(rest)-1]-proxied[len(proxied)-1]))
			}
			for name, all := range map[string][]float64{"queue": queue, "prefill": prefill} {
				name := "vllm:request_" + name + "_time_seconds_sum"
				if theirs, ours := after[name]-before[name], sum(all)/1000; math.Abs(theirs-ours) > 1e-6*float64(len(all)) {
					t.Errorf("%s grew by %v s, and the answers say %v s", name, theirs, ours)
				}
			}
			fmt.Printf("%-18s %9d %14.3f %14.3f %14.3f %14.3f %14.3f\n", line.name, len(off), median(queue), median(prefill), median(rest), median(proxied), median(off))
			if median(off) > 1 {
				t.Errorf("the rest is off by %.3f ms at the median, more than 1 ms", median(off))
			}
		})
	}
}

func sum(values []float64) (total float64) {
	for _, v := range values {
		total += v
	}
	return total
}

// median is the median of values, which it sorts.
func median(values []float64) float64 {
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

func readRecords(t *testing.T, name string) (records []*record.Record) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for entry, err := range stream.NewReader(f).Entries() {
		if err != nil {
			t.Fatal(err)
		}
		if entry.Record != nil {
			records = append(records, entry.Record)
		}
	}
	return records
}

// A delayproxy is the program of that name, which adds no delay here.
type delayproxy struct{ url, log string }

// startDelayproxy builds and starts the proxy before a server. It ends with the test.
func startDelayproxy(t *testing.T, to string) delayproxy {
	t.Helper()
	path := func(name string) string { return filepath.Join(t.TempDir(), name) }
	program, ready, log := path("delayproxy"), path("url"), path("stamps.jsonl")
	if out, err := exec.Command("go", "build", "-o", program, "../delayproxy").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(program, "--to", to, "--log", log, "--ready-file", ready)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for range 1000 {
		if text, err := os.ReadFile(ready); err == nil && len(text) > 0 {
			return delayproxy{string(text), log}
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the proxy does not listen")
	return delayproxy{}
}

// A stampedRequest has the proxy's stamps of a request, in milliseconds after the proxy had it.
type stampedRequest struct {
	ID       string
	FirstOut float64 `json:"first_out_ms"` // the first byte of the answer's body was on its way to the client
}

// entries are the proxy's stamps by request id. The proxy writes those of a request after its answer, so
// the last may come a little later than the client's end.
func (p *delayproxy) entries(t *testing.T) map[string]stampedRequest {
	t.Helper()
	time.Sleep(time.Second)
	f, err := os.Open(p.log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	seen := map[string]stampedRequest{}
	for d := json.NewDecoder(f); ; {
		var r stampedRequest
		if err := d.Decode(&r); err == io.EOF {
			return seen
		} else if err != nil {
			t.Fatal(err)
		}
		seen[r.ID] = r
	}
}
