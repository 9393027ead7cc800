package selftest

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"os"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/loadgen/selftest/metronome"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/record"
)

// An outcome is what client and server did during a load.
type outcome struct {
	probes    []probe
	evidence  evidence.Evidence // of the load only
	took      time.Duration
	events    int64
	failed    int
	failure   string    // the first message
	lags      []float64 // of the requests, in microseconds
	resident  int64     // bytes, after the first request ended; 0 if unknown
	served    metronome.Count
	serverCPU time.Duration // of the server's whole life
}

// send opens the connections and then sends the requests.
func (l *Load) send(ctx context.Context, url string, out *outcome) error {
	tally, live := new(wire.Tally), new(engine.Live)
	client, end, err := l.client(ctx, url, tally)
	defer end()
	if err != nil {
		return err
	}
	request := engine.Request{NoText: true, Body: fmt.Appendf(
		nil, `{"model":"metronome","prompt":"x","stream":true,"max_tokens":%d}`, l.Tokens)}
	load := engine.Load{
		Target: engine.Target{
			Encode: func(*dataset.Conversation, int, []json.RawMessage) (*engine.Request, error) { return new(request), nil },
			Send:   l.probing(client, out.probes),
		},
		Source:   prompts(l.Requests),
		Schedule: l.Schedule,
		Live:     live,
	}
	if l.Schedule == nil {
		load.Concurrency = l.Streams
	}
	run := engine.Run{Loads: []engine.Load{load}, Started: func(time.Time) { tally.Reset() }}
	began, pulse := time.Now(), host.StartPulse()
	err = out.collect(run.Records(ctx))
	out.took, out.events = time.Since(began), live.Chunks.Load()
	pulse.Stop(&out.evidence)
	tally.Report(&out.evidence)
	return err
}

// client makes the Sender, and for servebench's own client opens the connections.
func (l *Load) client(ctx context.Context, url string, tally *wire.Tally) (send engine.Sender, end func(), err error) {
	if l.Client != nil {
		return l.Client(url), func() {}, nil
	}
	connections := wire.Connections{Timeout: wire.DefaultConnectTimeout, Tally: tally}.Transport()
	client := Client(url, connections, tally)
	_, err = connections.Warm(ctx, client.URL, l.Streams)
	return client.Send, connections.CloseIdleConnections, err
}

// Client is servebench's own client of the server at url, as servebench run makes it. connections
// must count in tally.
func Client(url string, connections *wire.Transport, tally *wire.Tally) *exchange.Endpoint {
	return &exchange.Endpoint{Protocol: completions.Protocol,
		URL: url + "/v1/completions", Header: exchange.Headers("", nil), Transport: connections, Tally: tally,
		Timeouts: wire.Timeouts{Stall: wire.DefaultStallTimeout, Total: wire.DefaultTotalTimeout},
	}
}

// probing sends with client and inspects each event.
func (l *Load) probing(client engine.Sender, probes []probe) engine.Sender {
	return func(ctx context.Context, epoch time.Time, req *engine.Request,
		rec *record.Record) iter.Seq2[engine.Chunk, error] {
		return func(yield func(engine.Chunk, error) bool) {
			p := &probes[rec.Index]
			settled := epoch.Add(l.Settled)
			for chunk, err := range client(ctx, epoch, req, rec) {
				if err == nil {
					p.look(&chunk, rec.Answer.SharedReads, epoch.Add(rec.Times.Sent), settled)
				}
				if !yield(chunk, err) {
					return
				}
			}
		}
	}
}

func (out *outcome) collect(records iter.Seq2[*record.Record, error]) error {
	for rec, err := range records {
		if err != nil {
			return err
		}
		if out.resident == 0 {
			out.resident = residentBytes()
		}
		out.probes[rec.Index].bound = rec.Answer.MaxAge
		out.lags = append(out.lags, off(rec.Lag(), 0))
		if rec.Result.Class != record.OK {
			if out.failed++; out.failure == "" {
				out.failure = rec.Result.Error
			}
		}
	}
	return nil
}

// row fills in what needs no look at single events.
func (l *Load) row(out *outcome) *Row {
	e := &out.evidence
	row := &Row{
		Name: l.Name, Load: l.Kind, Streams: l.Streams, StepMS: metrics.Milliseconds(l.Server.ITL),
		Events: out.events, Failed: out.failed, Failure: out.failure, Lag: newSpread(out.lags),
	}
	if out.events == 0 {
		return row
	}
	n := float64(out.events)
	row.PerS = math.Round(n / out.took.Seconds())
	row.Kernel = rounded(100 * float64(e.Stamps.Kernel) / n)
	row.Shared = rounded(100 * float64(e.Stamps.SharedReads) / n)
	row.CPU = rounded(e.CPU.Used.Seconds() * 1e6 / n)
	row.ServerCPU = rounded(out.serverCPU.Seconds() * 1e6 / n)
	row.Late = rounded(100 * float64(out.served.Late) / n)
	return row
}

// prompts are n conversations of one word.
func prompts(n int) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		for i := 0; i < n && yield(&dataset.Conversation{Turns: []dataset.Turn{{Prompt: "x", PromptLen: 1}}}, nil); i++ {
		}
	}
}

// residentBytes is the memory that this process occupies; 0 if the system does not report it.
func residentBytes() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, resident int64
	if _, err := fmt.Sscan(string(text), &size, &resident); err != nil {
		return 0
	}
	return resident * int64(os.Getpagesize())
}
