package loadgen

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/loadgen/api"
	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/naming"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/record"
)

// A Plan says what to send to which server, when, and what to watch during the load. Run does not
// change it, so it can run several times.
type Plan struct {
	Server   Server
	Workload Workload
	Traffic  Traffic
	Sampling Sampling
	Limits   Limits
	Watch    Watch
	Report   Report
	Shard    Shard
	Abort    AbortRule

	// Target names the server among several targets; empty for a single one.
	Target string

	// Targets are loaded together, on one clock, each by its own plan. Nil means that the Plan
	// itself is the only target. These settings always come from the Plan itself: Shard, Abort,
	// Repeat, SoloFirst, Pairs, Program, Selftest, the limits Deadline and Drain, the GPUs to watch, and
	// where records go.
	Targets []*Plan

	// SoloFirst loads each target alone before all of them together; every second repeat reverses
	// the order.
	SoloFirst bool

	// Pairs also loads each pair of targets, after the single ones, if SoloFirst is set. With two
	// targets the only pair is all of them, which is loaded once.
	Pairs bool

	// Backward begins with the reversed order.
	Backward bool

	// Repeat is the number of repeats, each with different prompts; 0 means one.
	Repeat int

	// Keep says what the run keeps besides its Summaries.
	Keep Keep

	// Program is the program that makes the run.
	Program Program

	// Selftest, if set, returns what a selftest measured on this machine; nil if there was none.
	Selftest func() (*evidence.Selftest, error)

	// Flags are the command's flags, without secrets, for the headers of records.
	Flags []metrics.KV
}

// A Program is a program that makes runs, as its users know it. The zero value says nothing about it.
type Program struct {
	// Version is its version, for the headers of record streams. Commit is the commit from which it was
	// built; empty if unknown.
	Version, Commit string

	// Spelling is how its users know the settings that errors, warnings and remarks name, such as flags. Nil
	// names the fields of a Plan.
	naming.Spelling
}

// complete fills in the defaults that zero values mean.
func (p *Plan) complete() *Plan {
	c := *p
	c.Repeat = max(c.Repeat, 1)
	c.Server.Backend = cmp.Or(c.Server.Backend, "openai")
	if b := c.Server.API(); b != nil && c.Server.Endpoint == "" {
		c.Server.Endpoint = b.Endpoint
	}
	c.Server.BaseURL = strings.TrimRight(c.Server.BaseURL, "/")
	c.Server.Secrets = c.Server.AllSecrets()
	c.Server.Secrets.AddMembers(c.Sampling.ExtraBody)
	c.Workload.VocabSize = cmp.Or(c.Workload.VocabSize, 32000)
	if c.Workload.Source == nil {
		c.Workload.Dataset = cmp.Or(c.Workload.Dataset, "random")
		if w := &c.Workload; w.NumPrompts == 0 && w.Source == nil && !w.Has(kinds.CanSendAll) {
			w.NumPrompts = 1000
		}
		c.Sampling.IgnoreEOS = c.Sampling.IgnoresEOS(&c.Workload, &c.Server)
	}
	c.Traffic.Rule = cmp.Or(c.Traffic.Rule, arrivals.SinceV010)
	c.Traffic.Burstiness = cmp.Or(c.Traffic.Burstiness, 1)
	c.Traffic.RequestRate = cmp.Or(c.Traffic.RequestRate, math.Inf(1))
	c.Limits.Call = cmp.Or(c.Limits.Call, 10*time.Second)
	c.Watch.Every = cmp.Or(c.Watch.Every, time.Second)
	c.Report.Definitions = cmp.Or(c.Report.Definitions, record.Latest)
	c.Targets = nil
	for _, target := range p.Targets {
		t := target.complete()
		t.Program = p.Program
		c.Targets = append(c.Targets, t)
	}
	return &c
}

// check refuses invalid settings.
func (p *Plan) check() error {
	if p.Server.API() == nil {
		return fmt.Errorf("backend %q: it must be one of %s", p.Server.Backend, strings.Join(api.Names(), ", "))
	}
	if p.Workload.Sessions.Answers == Stored && !p.Server.API().Stores() {
		return errors.New("answers that the server keeps: only the backend openai-responses has them")
	}
	if p.Traffic.ProbeRate > 0 {
		hi := shortest()
		if err := p.Server.API().Fits(&hi); err != nil {
			return fmt.Errorf("%s: a probe sends the prompt %s: %w", p.Program.Argument(naming.ProbeRate), hi.Prompt,
				p.Program.SpellError(err))
		}
	}
	if p.Workload.Source == nil && !slices.Contains(kinds.Names(0), p.Workload.Dataset) {
		return fmt.Errorf("dataset %q: it must be one of %s", p.Workload.Dataset, strings.Join(kinds.Names(0), ", "))
	}
	return nil
}

// Whole reports whether answers are not streamed, so that they have no TTFT, TPOT or ITL.
func (p *Plan) Whole() bool {
	body := p.Sampling.Body(&p.Server, &p.Workload, "")
	return p.Server.Pooling() || !body.Streams()
}

// Latencies are the names of the latencies that vLLM's client prints by default: of answers that are
// not streamed, E2EL.
func (p *Plan) Latencies() []string {
	if p.Whole() {
		return []string{"e2el"}
	}
	return []string{"ttft", "tpot", "itl"}
}

// Config is the plan as the run's records, block and result file show it. Model and Tokenizer are
// empty if the server is to name them.
func (p *Plan) Config() metrics.Config {
	c := metrics.Config{
		Backend:     p.Server.Backend,
		BaseURL:     p.Server.BaseURL,
		Endpoint:    p.Server.Endpoint,
		Model:       p.Server.Model,
		Tokenizer:   cmp.Or(p.Server.Tokenizer, p.Server.Model),
		Dataset:     p.Workload.Dataset,
		Seed:        p.Workload.Seed,
		NumPrompts:  p.Workload.NumPrompts,
		RequestRate: p.Traffic.RequestRate,
		SelfTimed:   p.Workload.SelfTimed,
		Burstiness:  p.Traffic.Burstiness,
		RampUp:      p.Traffic.RampUp,
		Duration:    p.Traffic.Duration.Seconds(),
		Traits:      traitsOf(p),
		Whole:       p.Whole(),
		IgnoreEOS:   p.Sampling.Exact(&p.Server) && !p.Server.Pooling(),
		Label:       p.Report.Label,
		Metadata:    p.Report.Metadata,
		Price:       p.Report.Price,
		NumGPUs:     p.Report.GPUs,
		Goodput:     p.Report.Goodput,
		Metrics:     p.Report.Metrics,
		Percentiles: p.Report.Percentiles,
	}
	if c.Metrics == nil {
		c.Metrics = p.Latencies()
	}
	if c.Percentiles == nil {
		c.Percentiles = []float64{99}
	}
	if p.Traffic.Curve != nil {
		c.RateCurve = p.Traffic.Curve.String()
	}
	if p.Traffic.Endless(&p.Workload) {
		c.NumPrompts = 0
	}
	if c.SkipTokenizer = p.Server.SkipTokenizer; c.SkipTokenizer {
		c.Tokenizer = ""
	}
	if p.Traffic.MaxConcurrency != nil {
		c.MaxConcurrency = *p.Traffic.MaxConcurrency
	}
	if p.Traffic.MaxSessions != nil {
		c.MaxSessions = *p.Traffic.MaxSessions
	}
	return c
}
