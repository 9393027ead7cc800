package sweep

import (
	"math"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxCells is the most cells that a plan may have. A file with more has a mistake.
const maxCells = 100_000

// grids reads the points of the plan, and then the points of arms with a grid. Arms with equal points
// share them, and so their seeds. A point that a grid has twice runs twice.
func (p *parser) grids(node *yaml.Node) error {
	plan := p.plan
	own := func(a Arm) bool { return a.grid != nil }
	if node != nil || !slices.ContainsFunc(plan.Arms, own) ||
		slices.ContainsFunc(plan.Arms, func(a Arm) bool { return !own(a) }) {
		var err error
		if plan.Points, err = p.grid(node, 0); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(plan.Arms, own) {
		plan.Common = len(plan.Points)
	}
	groups := 0
	for i := range plan.Arms {
		arm := &plan.Arms[i]
		if !own(*arm) {
			continue
		}
		if n := len(plan.Points); n > 0 {
			groups = plan.Points[n-1].Group + 1
		}
		points, err := p.grid(arm.grid, groups)
		if err != nil {
			return err
		}
		for _, point := range points {
			place := 0
			for place < len(plan.Points) && (!slices.EqualFunc(point.Settings, plan.Points[place].Settings, Setting.same) ||
				slices.Contains(arm.Points, place)) {
				place++
			}
			if place == len(plan.Points) {
				plan.Points = append(plan.Points, point)
			}
			arm.Points = append(arm.Points, place)
		}
	}
	return nil
}

// grid reads points: all combinations of the values of a mapping, in which the last key changes
// fastest. A list has several such mappings, one after the other; group is the number of the first.
func (p *parser) grid(node *yaml.Node, group int) ([]Point, error) {
	if node == nil {
		return []Point{{}}, nil
	}
	grids := []*yaml.Node{node}
	if node.Kind == yaml.SequenceNode {
		if grids = node.Content; len(grids) == 0 {
			return nil, at(node, "grid has no values")
		}
	}
	var all []Point
	for i, grid := range grids {
		points, inner, err := p.product(resolved(grid))
		if err != nil {
			return nil, err
		}
		for _, settings := range points {
			all = append(all, Point{Group: group + i, Inner: inner, Settings: settings})
		}
		if len(all) > maxCells {
			return nil, at(grid, "the grid has more than %d points", maxCells)
		}
	}
	return all, nil
}

// product combines the values of all keys of a grid. The keys under zip count as one key:
// their first values go together, then their second ones, and so on.
func (p *parser) product(node *yaml.Node) (points [][]Setting, inner int, err error) {
	points = [][]Setting{nil}
	err = entries(node, "grid", func(key, value *yaml.Node) error {
		read := p.axis
		if key.Value == "zip" {
			read = p.zip
		}
		axis, err := read(key, value)
		if err != nil {
			return err
		}
		for _, s := range axis[0] {
			if has(points[0], s.Flag) {
				return at(key, "%s: the grid has it twice", s.Flag)
			}
		}
		if len(points)*len(axis) > maxCells {
			return at(key, "the grid has more than %d points", maxCells)
		}
		var next [][]Setting
		for _, point := range points {
			for _, settings := range axis {
				next = append(next, append(point[:len(point):len(point)], settings...))
			}
		}
		points, inner = next, len(axis[0])
		return nil
	})
	return points, inner, err
}

func has(settings []Setting, flag string) bool {
	return slices.ContainsFunc(settings, func(s Setting) bool { return s.Flag == flag })
}

// axis reads one key of a grid. Each value is a setting.
func (p *parser) axis(key, value *yaml.Node) ([][]Setting, error) {
	values := []*yaml.Node{value}
	if value.Kind == yaml.SequenceNode {
		values = value.Content
	}
	var axis [][]Setting
	for _, v := range values {
		v = resolved(v)
		flag, args, err := p.words(key.Value, v)
		switch {
		case err != nil:
			return nil, at(v, "%w", err)
		case flag == "seed" && p.plan.Repeats > 1:
			return nil, at(key, "seed: with repeats each run needs another seed")
		case flag == "header":
			return nil, at(key, "header: its values are never shown, so it belongs into load")
		}
		axis = append(axis, []Setting{{Flag: flag, Value: shown(v), Args: args}})
	}
	if axis == nil {
		return nil, at(value, "%s has no values", key.Value)
	}
	return axis, nil
}

// zip reads several keys whose values go together. All have the same number of values.
func (p *parser) zip(_, node *yaml.Node) ([][]Setting, error) {
	var together [][]Setting
	length, first := math.MaxInt, ""
	err := entries(node, "zip", func(key, value *yaml.Node) error {
		axis, err := p.axis(key, value)
		if err != nil {
			return err
		}
		if together == nil {
			together, length, first = axis, len(axis), key.Value
			return nil
		}
		if flag := axis[0][0].Flag; has(together[0], flag) {
			return at(key, "%s: the grid has it twice", flag)
		}
		if len(axis) != length {
			return at(value, "%s has %d values and %s %d: under zip all have as many", key.Value, len(axis), first, length)
		}
		for i := range together {
			together[i] = append(together[i], axis[i]...)
		}
		return nil
	})
	if err == nil && together == nil {
		err = at(node, "zip has no values")
	}
	return together, err
}

// shown is a value as the reader sees it.
func shown(value *yaml.Node) string {
	if value.Kind == yaml.ScalarNode {
		return value.Value
	}
	text, err := yaml.Marshal(value)
	if err != nil {
		return "?"
	}
	return strings.Join(strings.Fields(string(text)), " ")
}
