package sweep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/dry"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/stats"
	"github.com/servebench/servebench/metrics/vllm"
)

// Flags are what a command line says of an experiment, and read the command lines of its loads.
type Flags struct {

	// Words turns an entry of a file into the words of a command line and the full name of
	// the flag, or says what is wrong with it.
	Words func(name string, value *yaml.Node) (flag string, words []string, err error)

	// Load reads a whole command line. Flags in varied differ from run to run.
	Load func(args, varied []string) (*Load, error)

	// Simulate makes the simulated servers of a command, without starting it; nil starts commands. Then
	// the runs take place in time that does not pass.
	Simulate func(command []string) (dry.Servers, error)

	// Sequential makes the sweep stop before its last repeat; nil for all repeats of the file.
	Sequential *Sequential
}

// A Load is one command line of an experiment.
type Load struct {
	Plan *loadgen.Plan

	// Run makes one run by the job's Plan; nil means the Plan's own Run. An error means that there
	// are no numbers. Partial results are reported anyway.
	Run func(ctx context.Context, job *Job) (*Outcome, error)

	// Block writes the result of a run on one target; nil writes the result block of Version.
	Block func(w io.Writer, s *metrics.Summary) error

	// Requests says that Block needs single requests.
	Requests bool

	Version vllm.Version // of vLLM

	Files  []string // that each run overwrites
	Strict bool     // runs must be VALID
}

// run makes one run.
func (l *Load) run(ctx context.Context, job *Job) (*Outcome, error) {
	switch {
	case job.dried != nil:
		sums, err := dry.Run(ctx, job.Plan, job.dried)
		return &Outcome{Sums: sums}, err
	case l.Run != nil:
		return l.Run(ctx, job)
	}
	sums, err := job.Plan.Run(ctx, nil)
	return &Outcome{Sums: sums}, err
}

// block writes the result of a run on one target.
func (l *Load) block(w io.Writer, s *metrics.Summary) error {
	if l.Block != nil {
		return l.Block(w, s)
	}
	return vllm.Block(w, s, l.Version)
}

// overwrites refuses a load that would overwrite the file of another run, or if it is made several times.
func (l *Load) overwrites(taken map[string]bool, several bool) error {
	for _, name := range l.Files {
		if taken[name] || several {
			return errors.New("argument --result-filename: each run would write over the file of the one before: leave that " +
				"away, or take --append-result")
		}
		taken[name] = true
	}
	return nil
}

// targets are the plans of each target.
func (l *Load) targets() []*loadgen.Plan {
	if l.Plan.Targets == nil {
		return []*loadgen.Plan{l.Plan}
	}
	return l.Plan.Targets
}

// loads are the loads of a plan's cells.
type loads struct {
	plan  *Plan
	flags *Flags         // which read them
	of    map[cell]*Load // the first of each cell
}

// read reads and checks the load of every cell.
func (l *loads) read(file string) error {
	p, value := l.plan, 0.0
	if p.Search != nil {
		value = p.Search.From
	}
	taken := map[string]bool{}
	for _, c := range p.cells() {
		if c.repeat >= p.Repeats {
			continue
		}
		load, err := l.at(c, value)
		if err == nil {
			err = load.overwrites(taken, p.Search != nil)
		}
		if err == nil && p.Search != nil {
			err = p.Search.enough(load)
		}
		if err != nil {
			return located(file, fmt.Errorf("line %d: %s: %w", p.Arms[c.arm].Line, p.describe(c), err))
		}
		l.of[c] = load
	}
	return nil
}

// at is the first load of a cell, at a value of the search if there is one.
func (l *loads) at(c cell, value float64) (*Load, error) {
	args := l.plan.args(c, 0)
	var varied []string
	for _, s := range l.plan.Points[c.point].Settings {
		varied = append(varied, s.Flag)
	}
	if s := l.plan.Search; s != nil {
		args = append(args, s.args(value)...)
		varied = append(varied, s.Flag)
	}
	return l.flags.Load(AnyPorts(args...), varied)
}

// first is the load of a cell. A pair that is made again has the loads of another one, with other seeds.
func (l *loads) first(c cell) *Load {
	c.repeat %= l.plan.Repeats
	return l.of[c]
}

// Any says whether has is true of any load.
func (p *Plan) Any(has func(*loadgen.Plan) bool) bool {
	for _, load := range p.loads.of {
		if has(load.Plan) {
			return true
		}
	}
	return false
}

// LoadsOf are the plans of an arm's loads, one for each of their targets, of the first repeat. Ports
// that the file names as ${port} are any ports in them: see AnyPorts.
func (p *Plan) LoadsOf(arm int) (all []*loadgen.Plan) {
	for _, point := range p.pointsOf(arm) {
		all = append(all, p.loads.of[cell{arm: arm, point: point}].targets()...)
	}
	return all
}

// enough refuses a search whose probes have too few values for a percentile of a limit.
// It looks at the first probe at the lowest value, as far as that tells.
func (s *Search) enough(load *Load) error {
	for _, l := range s.Limits {
		p, ok := l.percentile()
		if !ok {
			continue
		}
		for _, target := range load.targets() {
			if lacks := l.lacks(target, stats.ValuesNeeded(p)); lacks != "" {
				return fmt.Errorf("until: slo: %s needs %s", l.name(), lacks)
			}
		}
	}
	return nil
}

// lacks is what a run lacks to have so many values, "" if it may have them.
func (l SLO) lacks(p *loadgen.Plan, needed int) string {
	n, from := requests(p)
	values := n
	if l.Metric == "itl" {
		r := &p.Workload.Random
		longest := int(math.Ceil(float64(r.OutputLen) * (1 + r.Ratio.Output)))
		if !p.Workload.Has(kinds.RandomLengths) || longest <= 0 {
			return ""
		}
		if values = n * (longest - 1); values < needed {
			return fmt.Sprintf("%s gaps between tokens a probe, and %s with answers of %d tokens has %s at most",
				thousands(needed), from, longest, thousands(values))
		}
	}
	if values < needed {
		return fmt.Sprintf("%s requests a probe, %s", thousands(needed), from)
	}
	return ""
}

// requests is the most requests that a run may have, and what bounds them. It is
// math.MaxInt32 if only the server does.
func requests(p *loadgen.Plan) (n int, from string) {
	t := &p.Traffic
	n, from = p.Workload.NumPrompts, fmt.Sprintf("num-prompts is %d", p.Workload.NumPrompts)
	switch {
	case p.Traffic.Endless(&p.Workload) || t.Curve != nil:
		return math.MaxInt32, ""
	case t.Duration == 0 || math.IsInf(t.RequestRate, 1) || p.Workload.SelfTimed || t.RampUp != nil:
	default:
		if sent := t.RequestRate * t.Duration.Seconds(); p.Traffic.Timed(&p.Workload) || sent < float64(n) {
			n, from = int(min(sent, math.MaxInt32)), fmt.Sprintf("request-rate %g for %s sends %.0f", t.RequestRate, t.Duration,
				sent)
		}
	}
	return n, from
}

// thousands writes a number with a comma before each three digits.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Assumptions about a server before it is measured.
const (
	usualToken   = 20 * time.Millisecond // a token of every request in the batch
	usualPrefill = 20_000.0              // prompt tokens a second
	usualBatch   = 256                   // requests at once
	usualLength  = 256                   // tokens if the dataset decides them
	usualStart   = time.Minute           // of a server
	usualSpeed   = "20 ms a token, 20000 prompt tokens a second"
)

// time is how long a run may take, including the runs of each target alone and of each pair, if there
// are any.
func (l *Load) time() (all time.Duration) {
	for _, members := range l.Plan.Sequence(0) {
		longest := time.Duration(0)
		for _, target := range members {
			longest = max(longest, lasting(target.Plan))
		}
		all += longest
	}
	return all
}

// lasting is how long the load of one target may take.
func lasting(p *loadgen.Plan) time.Duration {
	t := &p.Traffic
	in, out := lengths(p)
	n, batch := float64(max(p.Workload.NumPrompts, 1)+t.Warmups), usualBatch
	if t.MaxConcurrency != nil {
		batch = *t.MaxConcurrency
	}
	rate := t.RequestRate
	if r := t.RampUp; r != nil {
		rate = float64(r.Start+r.End) / 2
	}
	answer := float64(out) * usualToken.Seconds()
	if s, ok := p.Size(context.Background()); ok {
		return bounded(p, sessionTime(p, &s, rate))
	}
	seconds := max(math.Ceil(n/float64(batch))*answer+n*float64(in)/usualPrefill, n/rate+answer)
	if t.Curve != nil {
		seconds = max(seconds, t.Curve.End().Seconds()+answer)
	}
	if limit := t.Duration.Seconds() + answer; t.Duration > 0 && (limit < seconds || !t.Counted) {
		seconds = limit
	}
	return bounded(p, seconds)
}

// lengths are the tokens of a prompt and of an answer.
func lengths(p *loadgen.Plan) (in, out int) {
	if p.Workload.Has(kinds.RandomLengths) {
		return p.Workload.Random.InputLen + p.Workload.Random.PrefixLen, p.Workload.Random.OutputLen
	}
	return usualLength, usualLength
}

// sessionTime is how many seconds sessions of that size may take, at a rate of sessions.
func sessionTime(p *loadgen.Plan, s *loadgen.Size, rate float64) float64 {
	t := &p.Traffic
	each := s.Path*usualToken.Seconds() + s.Gaps
	n, places := float64(s.Sessions), float64(s.Sessions)
	if t.MaxSessions != nil {
		places = float64(*t.MaxSessions)
	}
	slots := usualBatch
	if t.MaxConcurrency != nil {
		slots = *t.MaxConcurrency
	}
	seconds := max(math.Ceil(n/places)*each, n*s.Output*usualToken.Seconds()/float64(slots)) + n*s.Prompt/usualPrefill
	switch {
	case p.Workload.SelfTimed:
		seconds = max(seconds, s.Last+each)
	case t.Curve != nil:
		seconds = max(seconds, t.Curve.End().Seconds()+each)
	default:
		seconds = max(seconds, n/rate+each)
	}
	if limit := t.Duration.Seconds() + each; t.Duration > 0 && (limit < seconds || !t.Counted) {
		seconds = limit
	}
	return seconds
}

// bounded is how long a load of so many seconds may take, with what comes before it.
func bounded(p *loadgen.Plan, seconds float64) time.Duration {
	t := &p.Traffic
	took := t.Delay + time.Duration(min(seconds+t.WarmUp.Seconds(), 1e9)*float64(time.Second))
	if limit := p.Limits.Deadline; limit > 0 {
		return min(took, limit)
	}
	return took
}
