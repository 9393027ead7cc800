package selftest

import (
	"context"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/selftest/metronome"
	"github.com/servebench/servebench/metrics"
)

// An outcome is what client and server did under a load.
type outcome struct {
	probes    []probe
	evidence  metrics.Evidence // of the load alone
	took      time.Duration
	failed    int
	failure   string // the first
	resident  int64  // bytes, when the first request had ended; 0 for unknown
	served    metronome.MetronomeCount
	serverCPU time.Duration // of the server's whole life
}

// send sends the requests, over connections that are open by then.
func (l *Load) send(ctx context.Context, url string, out *outcome) error {
	tally := new(loadgen.Tally)
	connections := loadgen.Connections{Timeout: loadgen.DefaultConnectTimeout, Tally: tally}.Transport()
	defer connections.CloseIdleConnections()
	client := &loadgen.OpenAI{URL: url + "/v1/completions", Transport: connections, Tally: tally}
	if _, err := connections.Warm(ctx, client.URL, l.streams); err != nil {
		return err
	}
	body := fmt.Appendf(nil, `{"model":"metronome","prompt":"x","stream":true,"max_tokens":%d}`, l.tokens)
	request := &loadgen.Request{Body: body}
	run := loadgen.Run{
		Loads: []loadgen.Load{{
			Target: loadgen.Target{
				Encode: func(*dataset.Conversation, int) (*loadgen.Request, error) { return request, nil },
				Send:   l.probing(client, out.probes),
			},
			Source:   prompts(l.requests),
			Schedule: l.schedule,
		}},
		Started: func(time.Time) { tally.Reset() },
	}
	began, pulse := time.Now(), loadgen.StartPulse()
	err := out.collect(run.Records(ctx))
	out.took = time.Since(began)
	pulse.Stop(&out.evidence)
	tally.Report(&out.evidence)
	return err
}

// probing is client with a look into each event.
func (l *Load) probing(client *loadgen.OpenAI, probes []probe) loadgen.Sender {
	return func(ctx context.Context, epoch time.Time, req *loadgen.Request, rec *metrics.Record) iter.Seq2[loadgen.Chunk, error] {
		return func(yield func(loadgen.Chunk, error) bool) {
			p := &probes[rec.Index]
			settled := epoch.Add(l.settled)
			for chunk, err := range client.Send(ctx, epoch, req, rec) {
				if err == nil {
					p.look(&chunk, epoch.Add(rec.Sent), settled)
				}
				if !yield(chunk, err) {
					return
				}
			}
		}
	}
}

func (out *outcome) collect(records iter.Seq2[*metrics.Record, error]) error {
	for rec, err := range records {
		if err != nil {
			return err
		}
		if out.resident == 0 {
			out.resident = residentBytes()
		}
		out.probes[rec.Index].bound = rec.MaxAge
		if rec.Class != metrics.OK {
			if out.failed++; out.failure == "" {
				out.failure = rec.Error
			}
		}
	}
	return nil
}

// row holds what needs no look into the events.
func (l *Load) row(out *outcome) *Row {
	e := &out.evidence
	events := e.KernelStamps + e.UserStamps
	row := &Row{
		Name: l.name, Load: l.kind, Streams: l.streams, StepMS: l.server.ITL.Seconds() * 1000,
		Events: events, Failed: out.failed, Failure: out.failure,
	}
	if events == 0 {
		return row
	}
	n := float64(events)
	row.PerS = math.Round(n / out.took.Seconds())
	row.Kernel = rounded(100 * float64(e.KernelStamps) / n)
	row.Shared = rounded(100 * float64(e.SharedReads) / n)
	row.CPU = rounded(e.CPU.Seconds() * 1e6 / n)
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
