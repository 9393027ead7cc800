package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/loadgen/sweep"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/compare/numbers"
	"github.com/servebench/servebench/metrics/compare/power"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/report/save"
)

// gateFlags are the flags of a gate.
type gateFlags struct {
	file     string
	settings []func(*gating.Gate) error
}

func (l *gateFlags) define(f *argv.Flags) {
	f.StringVar(&l.file, "gate", "", "`FILE` YAML file of the flags below: margin, ceiling, …")
	for _, s := range gating.Settings {
		f.Func(s.Name, s.Help, func(value string) error {
			l.settings = append(l.settings, func(g *gating.Gate) error { return s.Set(g, value) })
			return s.Set(new(gating.Gate), value)
		})
	}
	var names, ofNumbers []string
	for _, m := range numbers.All() {
		names, ofNumbers = append(names, m.Name), append(ofNumbers, m.Name+"=")
	}
	f.Offer("advisory", names...)
	for _, flag := range []string{"margin", "ceiling", "floor"} {
		f.Offer(flag, ofNumbers...)
	}
	f.Offer("despite", append([]string{"model", "seed"}, gating.Known...)...)
	f.OfferFiles("gate", "yaml", "yml")
}

// given reports that there is such a flag.
func (l *gateFlags) given() bool { return l.file != "" || l.settings != nil }

// read is the default gate, changed by the file and then by the flags.
func (l *gateFlags) read() (gating.Gate, error) { return l.change(gating.Default()) }

// change changes a gate by the file and then by the flags.
func (l *gateFlags) change(gate gating.Gate) (gating.Gate, error) {
	if l.file != "" {
		f, err := argv.OpenYAML(l.file)
		if err != nil {
			return gate, fmt.Errorf("argument --gate: %w", err)
		}
		defer f.Close()
		root, err := argv.ReadYAML(l.file, f)
		switch {
		case err != nil:
			return gate, err
		case root == nil:
			return gate, fmt.Errorf("%s: it is empty", l.file)
		}
		if err := gate.UnmarshalYAML(root); err != nil {
			return gate, fmt.Errorf("%s:%s", l.file, strings.TrimPrefix(err.Error(), "line "))
		}
	}
	for _, set := range l.settings {
		if err := set(&gate); err != nil {
			return gate, err // although each was tried when its flag was read
		}
	}
	flags := emptyForm().flags
	for _, name := range gate.Despite {
		if !slices.Contains(gating.Known, name) && flags.Lookup(name) == nil {
			return gate, fmt.Errorf("argument --despite: %s: it takes %s, and flags of servebench run, such as model or seed",
				pyjson.Quote(name), strings.Join(gating.Known, ", "))
		}
	}
	return gate, nil
}

// rule makes the gate the rule of a run, if there is a flag of it: what the run recorded, changed by the
// flags.
func (l *gateFlags) rule(s *metrics.Summary) error {
	if !l.given() {
		return nil
	}
	gate, rule := gating.Default(), metrics.Rule{}
	if s.Header.Rule != nil {
		var err error
		if gate, err = gating.Parse(s.Header.Rule.Gate); err != nil {
			return err
		}
		rule = *s.Header.Rule
		rule.Instead = rule.Gate
	}
	gate, err := l.change(gate)
	if rule.Gate = gate.Text(); rule.Gate == rule.Instead {
		rule.Instead = ""
	}
	header := *s.Header
	s.Header, header.Rule = &header, &rule
	return err
}

// sequentialFlags are the flags of a sweep that stops once its pairs decide.
type sequentialFlags struct {
	asked   bool
	pairs   int
	minutes float64
	gate    gateFlags
}

// usualPairs is the most pairs of a sequential sweep.
const usualPairs = 20

func (s *sequentialFlags) define(f *argv.Flags) {
	f.BoolVar(&s.asked, "sequential", false, "stop as soon as the pairs of runs of two arms decide which is worse, and "+
		"exit as servebench compare. A pair that is disturbed is made again. --arm, or FILE, names both")
	f.IntVar(&s.pairs, "max-pairs", usualPairs, "`N` most pairs of --sequential, in place of the repeats of FILE")
	f.Var(argv.Parsed(&s.minutes, "", argv.ParseFloat), "max-minutes",
		"`M` begin no pair of --sequential that would end later than after so many minutes of runs (default no limit)")
	s.gate.define(f)
}

// plan says how the sweep stops, nil for not before its end.
func (s *sequentialFlags) plan() (*sweep.Sequential, error) {
	switch {
	case !s.asked && (s.pairs != usualPairs || s.minutes != 0 || s.gate.given()):
		return nil, errors.New("--max-pairs, --max-minutes and the flags of a gate go with --sequential. For the runs of " +
			"a sweep, servebench compare has the same flags")
	case !s.asked:
		return nil, nil
	case !(s.minutes >= 0):
		return nil, fmt.Errorf("argument --max-minutes: %g: it must not be negative", s.minutes)
	}
	gate, err := s.gate.read()
	return &sweep.Sequential{Pairs: s.pairs, Limit: time.Duration(s.minutes * float64(time.Minute)), Gate: gate}, err
}

// planFlags are the flags of a plan.
type planFlags struct {
	asked bool
	noise string
	pairs int
}

func (p *planFlags) define(f *argv.Flags) {
	f.BoolVar(&p.asked, "plan", false, "say how many pairs of runs the gate will likely take, and how long, by how "+
		"much these runs differ. One set of runs is enough")
	f.StringVar(&p.noise, "noise", "", "`SHARE` plan without runs: their numbers differ by this share, as 3% (a "+
		"standard deviation)")
	f.IntVar(&p.pairs, "max-pairs", usualPairs, "`N` most pairs of the sequential sweep in the plan")
}

// write writes the plan of a command line.
func (p *planFlags) write(c *compareCommand, args []string, dash int) error {
	if p.pairs < compare.LeastPairs {
		return fmt.Errorf("argument --max-pairs: %d: it must be at least %d", p.pairs, compare.LeastPairs)
	}
	plan, err := p.of(c, args, dash)
	if err != nil {
		return err
	}
	return plan.Describe(c.out)
}

func (p *planFlags) of(c *compareCommand, args []string, dash int) (*power.Plan, error) {
	switch {
	case p.noise != "" && len(args) > 0:
		return nil, errors.New("argument --noise: the runs show how much they differ: give one of the two")
	case p.noise != "":
		plan, err := power.For(p.noise, c.gate, p.pairs)
		if err != nil {
			return nil, fmt.Errorf("argument --noise: %w", err)
		}
		return plan, nil
	case len(args) == 0:
		return nil, errors.New("argument --plan: it takes runs, or --noise SHARE")
	}
	var old, new []*brief.Run
	var err error
	if dash < 0 && c.arms == "" && c.baseline == "" {
		if old, err = c.read(args); err == nil {
			_, old, err = compare.Choose(nil, old, c.where)
		}
	} else {
		old, new, err = c.chosen(args, dash)
	}
	if err != nil {
		return nil, err
	}
	if _, err := c.obey(old, new); err != nil {
		return nil, err
	}
	plan, err := power.Of(old, new, c.gate, p.pairs)
	if err != nil {
		return nil, exitError{err, exitNoVerdict}
	}
	return plan, nil
}

func (c *compareCommand) withBaseline(args []string) (old, new []*brief.Run, err error) {
	b, err := compare.OpenBaseline(c.baseline)
	if c.missing = errors.Is(err, fs.ErrNotExist); err != nil && !c.missing {
		return nil, nil, fmt.Errorf("argument --baseline: %w", err)
	}
	recent, err := c.read(args)
	return b.Runs(), recent, err
}

// save keeps runs as a session of a baseline: the first one, unless the file exists.
func (c *compareCommand) save(args []string, dash int) error {
	switch {
	case len(args) == 0:
		return errors.New("--save-baseline keeps runs: give their files")
	case dash >= 0:
		return errors.New("--save-baseline keeps one set of runs: give no --")
	}
	runs, err := c.read(args)
	if err == nil {
		_, runs, err = compare.Choose(nil, runs, c.where)
	}
	if err != nil {
		return err
	}
	b, err := compare.OpenBaseline(c.saveBaseline)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("argument --save-baseline: %w", err)
	}
	if err := b.Add(runs, c.gate); err != nil {
		return exitError{fmt.Errorf("the session was not kept: %w", err), exitNoVerdict}
	}
	if err := save.Replace(c.saveBaseline, 0o666, b.Write); err != nil {
		return err
	}
	fmt.Fprintf(c.out, "%s: ", c.saveBaseline)
	if err := b.Describe(c.out, c.gate); err != nil {
		return err
	}
	for _, why := range b.Warnings(c.gate) {
		fmt.Fprintf(c.talk, "WARNING: %s\n", why)
	}
	return nil
}
