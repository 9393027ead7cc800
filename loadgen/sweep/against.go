package sweep

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/published"
	"github.com/servebench/servebench/metrics/stream"
)

// An Against puts blocks of a document next to the runs of one load on one arm.
type Against struct {
	Blocks []*metrics.Summary // as they were read; at least one
	Arm    string             `yaml:"arm"`

	// Target is empty without targets; "a alone" is target a without the others.
	Target string `yaml:"target"`

	arm, point int
	said       string // which runs they are
	line       int    // where the file has it
}

// against reads the list of blocks to put runs next to. It is read after arms and grid.
func (p *parser) against(node *yaml.Node) error {
	if node == nil {
		return nil
	}
	items := []*yaml.Node{node}
	if node.Kind == yaml.SequenceNode {
		items = node.Content
	}
	for _, item := range items {
		a, err := p.runsOf(resolved(item))
		if err != nil {
			return at(item, "against: %w", located("", err))
		}
		a.line = item.Line
		p.plan.Against = append(p.plan.Against, *a)
	}
	if p.plan.Search != nil && p.plan.Against != nil {
		return at(node, "against: a search has no load of a document: leave until or against away")
	}
	return nil
}

// An againstEntry is an Against as a file has it.
type againstEntry struct {
	Against Against    `yaml:",inline"`
	Blocks  string     `yaml:"blocks"` // of a document, as doc.md:2
	Load    *yaml.Node `yaml:"load"`   // flags that choose among several loads of the arm
}

// runsOf reads one entry, and finds the load that it is about.
func (p *parser) runsOf(node *yaml.Node) (a *Against, err error) {
	var entry againstEntry
	if err := fields(node, "an entry of against", &entry); err != nil {
		return nil, err
	}
	a = &entry.Against
	if a.Blocks, err = readBlocks(entry.Blocks); err != nil {
		return nil, err
	}
	if a.Arm == "" && len(p.plan.Arms) == 1 {
		a.Arm = p.plan.Arms[0].Name
	}
	if a.arm = slices.IndexFunc(p.plan.Arms, func(arm Arm) bool { return arm.Name == a.Arm }); a.arm < 0 {
		return nil, fmt.Errorf("arm: there is no arm %q: there are %s", a.Arm, strings.Join(armsNamed(p.plan.Arms), ", "))
	}
	wanted, said, err := p.wanted(entry.Load)
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(slices.Clone(p.plan.pointsOf(a.arm)), func(point int) bool {
		args := p.plan.args(cell{0, a.arm, point}, 0)
		return slices.ContainsFunc(wanted, func(words []string) bool { return !lastly(args, words) })
	})
	switch {
	case len(found) == 0:
		return nil, fmt.Errorf("load: no run of arm %s has %s: there are %s", a.Arm, said,
			p.loadsOf(a.arm, p.plan.pointsOf(a.arm)))
	case len(found) > 1:
		return nil, fmt.Errorf("load: choose one load of arm %s, such as by load: {num-prompts: 100}: there are %s", a.Arm,
			p.loadsOf(a.arm, found))
	}
	a.point = found[0]
	a.said = strings.Join(slices.DeleteFunc([]string{a.Arm, said, a.Target},
		func(text string) bool { return text == "" }), ", ")
	return a, nil
}

// checkAgainst checks that the targets of the blocks are there.
func (p *parser) checkAgainst() error {
	for _, a := range p.plan.Against {
		load := p.plan.loads.of[cell{0, a.arm, a.point}]
		var names []string
		for _, target := range load.Plan.Targets {
			names = append(names, target.Target)
			if load.Plan.SoloFirst {
				names = append(names, target.Target+" alone")
			}
		}
		switch {
		case names == nil && a.Target != "":
			return at(&yaml.Node{Line: a.line}, "against: target: %q: arm %s has no targets", a.Target, a.Arm)
		case names != nil && !slices.Contains(names, a.Target):
			return at(&yaml.Node{Line: a.line}, "against: target: %q: choose one of arm %s: %s", a.Target, a.Arm,
				strings.Join(names, ", "))
		}
	}
	return nil
}

// readBlocks reads blocks of a document: FILE if it has one block, FILE:2 or FILE:2-5.
func readBlocks(file string) ([]*metrics.Summary, error) {
	if file == "" {
		return nil, fmt.Errorf("blocks: it must name blocks of a document, as FILE:2")
	}
	document := stream.Recorded{Warn: func(string) {}}
	blocks, err := document.Read(file)
	switch {
	case err != nil:
		return nil, fmt.Errorf("blocks: %w", err)
	case len(blocks) > 1 && blocks[0].Source.Origin.File == file:
		return nil, fmt.Errorf("blocks: %s has %d blocks: choose by number, as %s:2 or %s:2-5", file, len(blocks), file, file)
	}
	return blocks, nil
}

// wanted are the words of each flag of a load, and all of them as a reader sees them.
func (p *parser) wanted(load *yaml.Node) (all [][]string, said string, err error) {
	var texts []string
	err = entries(load, "load", func(key, value *yaml.Node) error {
		flag, words, err := p.words(key.Value, value)
		if err != nil {
			return err
		}
		all, texts = append(all, words), append(texts, flag+" "+shown(value))
		return nil
	})
	return all, strings.Join(texts, ", "), err
}

// lastly reports whether a command line has a flag with those words, and not with others after them.
func lastly(args, words []string) bool {
	name, _, _ := strings.Cut(words[0], "=")
	for i := len(args) - 1; i >= 0; i-- {
		if other, _, _ := strings.Cut(args[i], "="); other == name {
			return len(args)-i >= len(words) && slices.Equal(args[i:i+len(words)], words)
		}
	}
	return false
}

// loadsOf are loads of an arm in words.
func (p *parser) loadsOf(arm int, points []int) string {
	var names []string
	for _, point := range points {
		names = append(names, p.plan.describe(cell{0, arm, point}))
	}
	return strings.Join(names, "; ")
}

func armsNamed(arms []Arm) (names []string) {
	for _, a := range arms {
		names = append(names, a.Name)
	}
	return names
}

// against puts the plan's blocks of documents next to the runs so far. A block without a run is left out.
func (r *result) against() (all []*published.Block) {
	for _, a := range r.Plan.Against {
		var runs []*metrics.Summary
		for c, e := range r.all() {
			if c.arm != a.arm || c.point != a.point {
				continue
			}
			for _, s := range r.sums[e.Run] {
				if s.Header.TargetName() == a.Target {
					runs = append(runs, s)
				}
			}
		}
		if runs == nil {
			continue
		}
		for _, b := range a.Blocks {
			all = append(all, published.New(b, a.said, runs))
		}
	}
	return all
}
