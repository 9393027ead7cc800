package loadtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/trust"
)

// vocabulary is that of random prompts.
const vocabulary = 32000

// DefaultTimeout limits a request of a Load that says nothing else.
const DefaultTimeout = time.Minute

// A Load is what a server is put under. It may be run several times.
type Load struct {
	URL     string       // of the server, as http://127.0.0.1:8000; empty for Handler
	Handler http.Handler // the server itself, in memory
	Header  http.Header  // sent with every request, beside what openai.Headers has
	Chat    bool         // chat completions in place of completions
	Model   string       // as the API names it; empty for the first that the server lists

	Requests    int
	Rate        float64       // requests a second, at random times (Poisson); 0 means all at once
	Concurrency int           // requests in flight at most; 0 means no limit
	Timeout     time.Duration // for a request from start to end; 0 means DefaultTimeout

	// Source is what is sent, up to Requests; a run whose Source ends before is
	// incomplete. Without one that is random words, InputLen in a prompt, for an
	// answer of at most OutputLen tokens.
	Source    dataset.Source
	InputLen  int
	OutputLen int
	IgnoreEOS bool  // answers have all of OutputLen: a wish that vLLM grants
	Seed      int64 // of prompts and times; not negative
}

// Test runs the load until the test's context ends, and fails the test where the
// SLO does not hold. It ends the test where the load cannot be put on.
func (l *Load) Test(t testing.TB, o SLO) *metrics.Summary {
	t.Helper()
	s, err := l.Run(t.Context())
	if err != nil {
		t.Fatalf("the load was not put on: %v", err)
	}
	o.Assert(t, s)
	return s
}

// Run puts the load on and sums up what came of it, under the judgement of
// trust.Judge. Once ctx ends, requests in flight are cut. That requests
// fail is no error.
func (l *Load) Run(ctx context.Context) (*metrics.Summary, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	server := l.connect()
	defer server.close()
	load, config, err := l.load(ctx, server)
	if err != nil {
		return nil, err
	}
	header := &metrics.Header{Definitions: metrics.Latest, Config: config, Flags: l.lengths()}
	collector := metrics.NewCollector(header)
	run := engine.Run{Loads: []engine.Load{load}, Wait: server.wait, Started: func(epoch time.Time) {
		header.Epoch = epoch
		server.watch()
	}}
	begun := 0
	for rec, failed := range run.Records(ctx) {
		if failed != nil {
			err = failed
			break
		}
		if rec.Turn == 0 {
			begun++
		}
		collector.Add(rec)
	}
	evidence := server.unwatch()
	if err == nil && header.Epoch.IsZero() {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	s := collector.Summary(time.Since(header.Epoch).Seconds())
	s.Interrupted, s.Evidence = ctx.Err() != nil, evidence
	if begun < l.Requests && !s.Interrupted {
		s.Incomplete = append(s.Incomplete, fmt.Sprintf("%d requests were asked for, and the Source ended after %d", l.Requests, begun))
		s.Warnings = append(s.Warnings, s.Incomplete...)
	}
	trust.Judge(s)
	return s, nil
}

func (l *Load) check() error {
	switch {
	case (l.URL == "") == (l.Handler == nil):
		return errors.New("a load needs a URL or a Handler, and not both")
	case l.Requests < 1:
		return fmt.Errorf("requests %d: there must be at least 1", l.Requests)
	case l.Rate < 0 || math.IsNaN(l.Rate) || l.Concurrency < 0:
		return fmt.Errorf("rate %v, concurrency %d: neither may be below 0", l.Rate, l.Concurrency)
	case l.Source == nil && (l.InputLen < 1 || l.OutputLen < 1):
		return fmt.Errorf("input %d, output %d: without a Source both must be at least 1", l.InputLen, l.OutputLen)
	}
	return nil
}

// lengths are those of random prompts and answers, as flags of servebench run: with
// other ones it is another load.
func (l *Load) lengths() []metrics.KV {
	if l.Source != nil {
		return nil
	}
	return []metrics.KV{{Key: "random-input-len", Value: strconv.Itoa(l.InputLen)}, {Key: "random-output-len", Value: strconv.Itoa(l.OutputLen)}}
}

// load is what the server is put under, and what is said of it.
func (l *Load) load(ctx context.Context, server *server) (load engine.Load, config metrics.Config, err error) {
	config = metrics.Config{
		Backend: "openai", BaseURL: l.URL, Endpoint: "/v1/completions", Model: l.Model, Seed: l.Seed,
		NumPrompts: l.Requests, RequestRate: math.Inf(1), Burstiness: 1, MaxConcurrency: l.Concurrency,
		Metrics: []string{"ttft", "tpot", "itl", "e2el"}, Percentiles: []float64{90, 99},
	}
	if l.Chat {
		config.Backend, config.Endpoint = "openai-chat", "/v1/chat/completions"
	}
	if l.Rate > 0 {
		config.RequestRate = l.Rate
	}
	if config.Model == "" {
		if config.Model, err = server.model(ctx); err != nil {
			return load, config, err
		}
	}
	load = engine.Load{Concurrency: l.Concurrency, Target: server.target(config.Model), Source: l.Source}
	if l.Source == nil {
		config.Dataset = "random"
		random := dataset.Random{
			Options:  dataset.Options{Tokenizer: tokenizer.Stub{Size: vocabulary}, Num: l.Requests, Seed: l.Seed, IDPrefix: "loadtest-"},
			InputLen: l.InputLen, OutputLen: l.OutputLen,
		}
		if load.Source, _, err = random.Open(); err != nil {
			return load, config, err
		}
	}
	load.Schedule, err = arrivals.Process{Rate: config.RequestRate, Burstiness: 1, Seed: l.Seed}.Schedule(l.Requests)
	return load, config, err
}
