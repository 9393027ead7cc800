package loadtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/naming"
	"github.com/servebench/servebench/metrics"
)

// vocabulary is how many words random prompts are made of.
const vocabulary = 32000

// defaultTimeout limits a request of a Load without a Timeout.
const defaultTimeout = time.Minute

// A Load is a load test of one server. It may be run several times.
type Load struct {
	URL     string       // of the server, as http://127.0.0.1:8000; empty for Handler
	Handler http.Handler // a server in memory, instead of URL
	Header  http.Header  // sent with every request, in addition to the usual headers
	Chat    bool         // chat completions instead of completions
	Model   string       // as in the API; empty for the first that the server lists

	Requests    int
	Rate        float64       // requests a second, at random times (Poisson); 0 means all at once
	Concurrency int           // requests in flight at most; 0 means no limit
	Timeout     time.Duration // for a request from start to end; 0 means a minute

	// Source is what is sent, up to Requests. A run whose Source ends early is incomplete.
	// Without a Source, prompts are InputLen random words and answers have at most
	// OutputLen tokens.
	Source    dataset.Source
	InputLen  int
	OutputLen int
	IgnoreEOS bool  // ask for answers of exactly OutputLen, which vLLM gives
	Seed      int64 // of prompts and times; not negative
}

// Test runs the load until the test's context ends, and fails the test if the SLO does not hold. It
// ends the test if it cannot run the load.
func (l *Load) Test(t testing.TB, o SLO) *metrics.Summary {
	t.Helper()
	s, err := l.Run(t.Context())
	if err != nil {
		t.Fatalf("the load did not run: %v", err)
	}
	o.Assert(t, s)
	return s
}

// Run runs the load and sums it up, with the verdict of trust.Judge. When ctx ends, requests in
// flight are cut. A failed request is no error.
func (l *Load) Run(ctx context.Context) (*metrics.Summary, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	plan, err := l.plan()
	if err != nil {
		return nil, err
	}
	sums, err := plan.Run(ctx, nil)
	switch {
	case errors.Is(err, loadgen.ErrInterrupted):
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	}
	return sums[0], nil
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

// spelling names settings by the fields of a Load that give them.
var spelling = naming.Spelling{
	naming.Model: "Model", naming.NumPrompts: "Requests", naming.MaxConcurrency: "Concurrency",
}

// plan is the load as a loadgen.Plan.
func (l *Load) plan() (*loadgen.Plan, error) {
	timeout := cmp.Or(l.Timeout, defaultTimeout)
	p := &loadgen.Plan{
		Program: loadgen.Program{Spelling: spelling},
		Server: loadgen.Server{Backend: "openai", BaseURL: strings.TrimRight(l.URL, "/"), Handler: l.Handler,
			Model: l.Model},
		Workload: loadgen.Workload{Source: l.Source, Seed: l.Seed, NumPrompts: l.Requests},
		Traffic:  loadgen.Traffic{RequestRate: l.Rate},
		Sampling: loadgen.Sampling{IgnoreEOS: l.IgnoreEOS},
		Limits:   loadgen.Limits{Connect: timeout, Total: timeout, Call: timeout},
		Report:   loadgen.Report{Metrics: []string{"ttft", "tpot", "itl", "e2el"}, Percentiles: []float64{90, 99}},
	}
	if l.Chat {
		p.Server.Backend = "openai-chat"
	}
	for name, values := range l.Header {
		p.Server.Headers = append(p.Server.Headers, metrics.KV{Key: name, Value: strings.Join(values, ", ")})
	}
	if l.Concurrency > 0 {
		p.Traffic.MaxConcurrency = &l.Concurrency
	}
	if l.Source != nil {
		return p, nil
	}
	p.Workload.Dataset = "random"
	// A comparison needs to know the lengths.
	p.Flags = []metrics.KV{{Key: "random-input-len", Value: strconv.Itoa(l.InputLen)},
		{Key: "random-output-len", Value: strconv.Itoa(l.OutputLen)}}
	random := dataset.Random{InputLen: l.InputLen, OutputLen: l.OutputLen, Options: dataset.Options{
		Tokenizer: tokenizer.Stub{Size: vocabulary}, Num: l.Requests, Seed: l.Seed, IDPrefix: "loadtest-",
	}}
	var err error
	p.Workload.Source, _, err = random.Open()
	return p, err
}
