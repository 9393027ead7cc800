package sweep

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Parse reads the file of an experiment, which is YAML as Format describes it, and checks
// all loads in it. Errors name the file and the line, unless the name is empty: then it is
// the Document of a command line.
func Parse(name string, r io.Reader, flags *Flags) (*Plan, error) {
	var doc, second yaml.Node
	decoder := yaml.NewDecoder(r)
	switch err := decoder.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s: it is empty", name)
	case err != nil:
		return nil, located(name, err)
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		return nil, fmt.Errorf("%s:%d: a second document: an experiment is one", name, second.Line)
	case !errors.Is(err, io.EOF):
		return nil, located(name, err)
	}
	if err := doc.Decode(new(any)); err != nil { // duplicate keys, and an alias inside its own anchor
		return nil, located(name, err)
	}
	p := parser{words: flags.Words, plan: &Plan{Repeats: 1, Order: ABBA, Sequential: flags.Sequential,
		Dry: flags.Simulate != nil, turns: 1, seeds: 1}}
	if err := p.file(doc.Content[0]); err != nil {
		return nil, located(name, err)
	}
	p.plan.loads = &loads{plan: p.plan, flags: flags, of: map[cell]*Load{}}
	if err := p.plan.loads.read(name); err != nil {
		return p.plan, err
	}
	p.plan.spread()
	if err := cmp.Or(p.checkAgainst(), p.checkSimulated()); err != nil {
		return nil, located(name, err)
	}
	if p.plan.Sequential == nil {
		return p.plan, nil
	}
	if err := p.plan.Sequential.check(p.plan); err != nil {
		return nil, fmt.Errorf("argument --sequential: %w", err)
	}
	return p.plan, nil
}

// A parser reads one file into a plan.
type parser struct {
	words func(name string, value *yaml.Node) (flag string, words []string, err error)
	plan  *Plan
}

// An experiment is a file as it is written: the plan's own keys, and those from which the parser makes
// the rest of the plan.
type experiment struct {
	Plan    *Plan      `yaml:",inline"`
	Load    *yaml.Node `yaml:"load"` // flags of all runs
	Arms    []armEntry `yaml:"arms"`
	Grid    *yaml.Node `yaml:"grid"`    // flags with their values, in order
	Until   Search     `yaml:"until"`   // without limits if the file has no search
	Against *yaml.Node `yaml:"against"` // entries of blocks, or only one
}

func (p *parser) file(root *yaml.Node) (err error) {
	file := experiment{Plan: p.plan}
	if err := fields(root, "an experiment", &file); err != nil {
		return err
	}
	if file.Until.Limits != nil {
		p.plan.Search = &file.Until
	}
	if s := p.plan.Sequential; s != nil {
		p.plan.Repeats = s.Pairs
	}
	switch {
	case p.plan.Repeats < 1 || p.plan.Repeats > maxCells:
		return at(root, "repeats: %d: it must be from 1 to %d", p.plan.Repeats, maxCells)
	case p.plan.Seed < 0:
		return at(root, "seed: %d: it must not be negative", p.plan.Seed)
	}
	if p.plan.Flags, err = p.load(file.Load); err != nil {
		return err
	}
	if p.plan.Arms = []Arm{{Name: usualArm, Line: root.Line}}; file.Arms != nil {
		if p.plan.Arms, err = p.arms(file.Arms); err != nil {
			return err
		}
	}
	if err := p.grids(file.Grid); err != nil {
		return err
	}
	loads := 0
	for arm := range p.plan.Arms {
		loads += len(p.plan.pointsOf(arm))
	}
	if cells := loads * p.plan.Repeats; cells > maxCells {
		return at(root, "its arms, points and repeats make %d runs: there may be %d", cells, maxCells)
	}
	if err := errors.Join(p.searchedOnly(file.Grid), p.against(file.Against)); err != nil {
		return err
	}
	return p.ports()
}

// searchedOnly makes sure that the grid does not have the flag of the search.
func (p *parser) searchedOnly(grid *yaml.Node) error {
	for _, point := range p.plan.Points {
		for _, s := range point.Settings {
			if p.plan.Search != nil && s.Flag == p.plan.Search.Flag {
				return at(grid, "%s: the grid has it, and until searches it", s.Flag)
			}
		}
	}
	return nil
}

// load turns a mapping of flags into the words of a command line.
func (p *parser) load(node *yaml.Node) (args []string, err error) {
	given := map[string]bool{}
	err = entries(node, "load", func(key, value *yaml.Node) error {
		flag, words, err := p.words(key.Value, value)
		switch {
		case err != nil:
			return at(key, "%w", err)
		case flag == "seed":
			return at(key, "seed: put it next to load, since each repeat and load needs another seed")
		case given[flag]:
			return at(key, "%s: it is there twice", flag)
		}
		given[flag] = true
		args = append(args, words...)
		return nil
	})
	return args, err
}

// ports makes sure that each port in the file is a server's.
func (p *parser) ports() error {
	for i := range p.plan.Arms {
		a := &p.plan.Arms[i]
		own := map[string]bool{}
		for _, s := range a.Servers {
			for _, name := range namesOf(append(slices.Collect(maps.Values(s.Env)), s.Command...)) {
				own[name] = true
			}
		}
		for _, name := range p.namedBy(a) {
			if !own[name] {
				return at(&yaml.Node{Line: a.Line}, "arm %s: %s is in no command or env of its servers", a.Name, name)
			}
		}
	}
	return nil
}

// namedBy are the ports in an arm's loads, and in what is done before and after them.
func (p *parser) namedBy(a *Arm) []string {
	texts := slices.Concat([]string{a.URL}, a.Flags, p.plan.Flags, p.plan.Between.Command)
	for _, s := range a.Servers {
		texts = append(append(texts, s.Ready), s.Stop...)
	}
	for _, point := range p.plan.Points {
		for _, s := range point.Settings {
			texts = append(texts, s.Args...)
		}
	}
	return namesOf(texts)
}

// checkSimulated checks that all servers of a simulated plan are simulated ones.
func (p *parser) checkSimulated() error {
	if !p.plan.Dry {
		return nil
	}
	if p.plan.Search != nil || p.plan.Sequential != nil {
		return errors.New("argument --simulate: a search and --sequential take runs with a verdict, and simulated runs " +
			"have none")
	}
	for _, arm := range p.plan.Arms {
		if why := arm.whyNotSimulated(); why != "" {
			return at(&yaml.Node{Line: arm.Line}, "argument --simulate: arm %s: %s", arm.Name, why)
		}
		for _, s := range arm.Servers {
			if _, err := p.plan.loads.flags.Simulate(AnyPorts(s.words()...)); err != nil {
				return at(&yaml.Node{Line: s.Line}, "argument --simulate: arm %s: %w", arm.Name, err)
			}
		}
	}
	return nil
}
