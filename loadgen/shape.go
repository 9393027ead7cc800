package loadgen

import (
	"context"
	"fmt"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/loadgen/naming"
)

// Sized is the plan with the number of prompts that fit into its time, or p itself if the time does
// not decide it. For a curve, the number depends on the seed.
func (p *Plan) Sized() (*Plan, error) {
	if !p.Traffic.Timed(&p.Workload) || p.Traffic.Endless(&p.Workload) {
		return p, nil
	}
	named, until := naming.Duration, p.Traffic.Duration
	if until == 0 {
		named, until = naming.Curve, p.Traffic.Curve.End()
	}
	n, err := p.Traffic.Arrivals(&p.Workload).Count(until)
	if err == nil && n == 0 {
		err = fmt.Errorf("no request comes within %s", until)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Program.Argument(named), err)
	}
	sized := *p
	sized.Workload.NumPrompts = n
	return &sized, nil
}

// A Size is how large the sessions of a plan are. All but the first two are means of a session.
type Size struct {
	Sessions       int     // in all, if they have an end
	Last           float64 // when the last starts by the dataset's own times, in seconds; 0 without
	Prompt, Output float64 // tokens of all its requests
	Path           float64 // output tokens of requests that wait for one another, the longest way
	Gaps           float64 // seconds that a turn waits for in all, the longest way
}

// sizedBy is how many sessions tell their size.
const sizedBy = 1000

// Size is the size of the plan's sessions, as its dataset says without a server: without a
// tokenizer, texts count as made-up words. ok is false if sessions have one turn, or if the dataset
// cannot be opened.
func (p *Plan) Size(ctx context.Context) (size Size, ok bool) {
	if !p.Workload.Has(kinds.SeveralTurns) && !p.Workload.Settings.MultiTurn.On {
		return size, false
	}
	alone := *p
	alone.Server.Tokenizer = "stub-32000"
	w, err := alone.open(ctx, nil)
	if err != nil {
		return size, false
	}
	n := 0.0
	for c, err := range dataset.First(w.Source, sizedBy) {
		if err != nil {
			return size, false
		}
		n++
		size.add(c)
	}
	for _, mean := range []*float64{&size.Prompt, &size.Output, &size.Path, &size.Gaps} {
		*mean /= max(n, 1)
	}
	if size.Sessions = w.N; n > 0 && size.Last > 0 {
		size.Last *= max(1, float64(w.N)/n)
	}
	return size, n > 0
}

// add adds a session to the sums.
func (s *Size) add(c *dataset.Conversation) {
	if c.Due != nil {
		s.Last = max(s.Last, *c.Due)
	}
	paths, gaps := make([]float64, len(c.Turns)), make([]float64, len(c.Turns))
	path, gap := 0.0, 0.0
	for i := range c.Turns {
		turn := &c.Turns[i]
		for _, wait := range c.WaitsOf(i) {
			paths[i], gaps[i] = max(paths[i], paths[wait.Turn]), max(gaps[i], gaps[wait.Turn])
		}
		paths[i] += float64(turn.OutputLen)
		gaps[i] += turn.Gap
		path, gap = max(path, paths[i]), max(gap, gaps[i])
		s.Prompt += float64(turn.PromptLen)
		s.Output += float64(turn.OutputLen)
	}
	s.Path += path
	s.Gaps += gap
}
