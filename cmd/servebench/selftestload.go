package main

import (
	"context"
	"fmt"
	"iter"
	"math"
	"os"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/sim"
	"github.com/servebench/servebench/metrics"
)

// A selftestLoad is what one row of a selftest measures itself under.
type selftestLoad struct {
	name     string
	kind     string // steps, at-once or poisson
	streams  int    // at once
	requests int
	tokens   int // of each request
	schedule loadgen.Schedule
	server   sim.Metronome // its settings
	settled  time.Duration // what comes before is not compared: the load is still growing
}

const (
	// stepRate bounds the events a second of a row in steps; beyond it the server
	// would be measured.
	stepRate    = 40960
	shortStep   = 20 * time.Millisecond
	startedOnce = 1024
	startTTFT   = 50 * time.Millisecond
	// poissonRate keeps startedOnce streams of poissonTokens going in the mean.
	poissonRate   = 395
	poissonTokens = 128
)

// stepsLoad has n streams that burst together for d, started evenly over a
// quarter of that before.
func stepsLoad(n int, d time.Duration) *selftestLoad {
	step := max(shortStep, time.Duration(n)*time.Second/stepRate).Round(time.Millisecond)
	start := d / 4
	return &selftestLoad{
		name: fmt.Sprintf("%d per %d ms", n, step.Milliseconds()), kind: "steps",
		streams: n, requests: n, tokens: max(int((start+d)/step), 2),
		schedule: func(yield func(time.Duration) bool) {
			for i := 0; i < n && yield(start*time.Duration(i)/time.Duration(n)); i++ {
			}
		},
		server:  sim.Metronome{ITL: step, Aligned: true},
		settled: start,
	}
}

// atOnceLoad has streams that start at one instant.
func atOnceLoad() (*selftestLoad, error) {
	l := &selftestLoad{
		name: fmt.Sprintf("%d at once", startedOnce), kind: "at-once",
		streams: startedOnce, requests: startedOnce, tokens: 64,
		server: sim.Metronome{TTFT: startTTFT, ITL: shortStep},
	}
	return l.arriving(loadgen.Arrivals{Rate: math.Inf(1), Burstiness: 1})
}

// poissonLoad has streams that start at random: for d, once there are as many as
// there will be.
func poissonLoad(d time.Duration) (*selftestLoad, error) {
	whole := startTTFT + poissonTokens*shortStep
	l := &selftestLoad{
		name: fmt.Sprintf("%d Poisson", startedOnce), kind: "poisson",
		streams: startedOnce, requests: int(poissonRate * (whole + d).Seconds()), tokens: poissonTokens,
		server: sim.Metronome{TTFT: startTTFT, ITL: shortStep},
	}
	return l.arriving(loadgen.Arrivals{Rate: poissonRate, Burstiness: 1})
}

func (l *selftestLoad) arriving(a loadgen.Arrivals) (*selftestLoad, error) {
	var err error
	l.schedule, err = a.Schedule(l.requests)
	return l, err
}

// lasts is about how long the load goes on.
func (l *selftestLoad) lasts() time.Duration {
	d := l.server.TTFT + time.Duration(l.tokens)*l.server.ITL
	last := time.Duration(0)
	for due := range l.schedule {
		last = due
	}
	return d + last
}

// A loadOutcome is what client and server did under a load.
type loadOutcome struct {
	probes    []probe
	evidence  metrics.Evidence // of the load alone
	took      time.Duration
	failed    int
	failure   string // the first
	resident  int64  // bytes, when the first request had ended; 0 for unknown
	served    sim.MetronomeCount
	serverCPU time.Duration // of the server's whole life
}

// put puts the load on a server of its own.
func (l *selftestLoad) put(ctx context.Context, out *loadOutcome) error {
	server, err := startMetronome(&l.server)
	if err != nil {
		return fmt.Errorf("starting the server: %w", err)
	}
	err = l.send(ctx, server.url, out)
	var ended error
	out.served, out.serverCPU, ended = server.stop()
	if err != nil {
		return err
	}
	return ended
}

// send sends the requests, over connections that are open by then.
func (l *selftestLoad) send(ctx context.Context, url string, out *loadOutcome) error {
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
func (l *selftestLoad) probing(client *loadgen.OpenAI, probes []probe) loadgen.Sender {
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

func (out *loadOutcome) collect(records iter.Seq2[*metrics.Record, error]) error {
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

// prompts are n conversations of one word.
func prompts(n int) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		for range n {
			if !yield(&dataset.Conversation{Turns: []dataset.Turn{{Prompt: "x", PromptLen: 1}}}, nil) {
				return
			}
		}
	}
}

// residentBytes is the memory that this process occupies; 0 where the system does
// not tell.
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
