package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare/asked"
	"github.com/servebench/servebench/metrics/compare/brief"
)

// A Condition chooses runs by one of their parameters, such as request-rate, arm or target.
type Condition struct{ Name, Value string }

// ParseCondition reads NAME=VALUE. Underscores in the name mean dashes.
func ParseCondition(text string) (Condition, error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" || value == "" {
		return Condition{}, fmt.Errorf("%q: it must be NAME=VALUE, such as request-rate=10, arm=with or target=a", text)
	}
	name = strings.ReplaceAll(strings.TrimPrefix(name, "--"), "_", "-")
	return Condition{name, asked.Canonical(name, value)}, nil
}

// Choose returns the runs of both sides that meet all conditions. A run that does not say
// the property, as a pasted block does not, meets a condition on it. A run of servebench says
// all: without an arm or a target it meets no condition on them, unless no run of its side has one. It is an error if a
// condition leaves no run of a side, or if no run has the value. Either side may be nil.
func Choose(old, new []*brief.Run, conditions []Condition) (oldChosen, newChosen []*brief.Run, err error) {
	for _, c := range conditions {
		if all := slices.Concat(old, new); !slices.ContainsFunc(valuesOf(all, c.Name), c.is) {
			return nil, nil, c.missing("run", all)
		}
		for _, side := range []struct {
			noun string
			runs *[]*brief.Run
		}{{"old run", &old}, {"new run", &new}} {
			chosen := c.of(*side.runs)
			if len(chosen) == 0 && *side.runs != nil {
				return nil, nil, c.missing(side.noun, *side.runs)
			}
			*side.runs = chosen
		}
	}
	return old, new, nil
}

// missing is the error for a condition that none of the runs meets.
func (c Condition) missing(noun string, runs []*brief.Run) error {
	if values := valuesOf(runs, c.Name); values != nil && !slices.Equal(values, []string{asked.NotGiven}) {
		return fmt.Errorf("no %s has %s %s: there are %s", noun, c.Name, c.Value, strings.Join(values, ", "))
	}
	differ := slices.DeleteFunc(distinctions(runs), func(name string) bool { return len(valuesOf(runs, name)) < 2 })
	if len(differ) == 0 {
		return fmt.Errorf("no %s says %s, and the runs do not differ in their loads", noun, c.Name)
	}
	return fmt.Errorf("no %s says %s: the runs differ in %s", noun, c.Name, strings.Join(differ, ", "))
}

// of are the runs of a side that meet the condition.
func (c Condition) of(runs []*brief.Run) []*brief.Run {
	says := func(r *brief.Run) bool { return r.Asked[c.Name] != "" }
	if (c.Name == asked.Arm || c.Name == asked.Target) && !slices.ContainsFunc(runs, says) {
		return runs
	}
	return slices.DeleteFunc(slices.Clone(runs), func(r *brief.Run) bool { return !c.met(r) })
}

// met says whether a run meets the condition.
func (c Condition) met(r *brief.Run) bool {
	v := r.Asked.Value(c.Name)
	return v == "" || c.is(v)
}

// is reports whether a value equals the one of the condition. Numbers may be written in several
// ways. Names are texts: arms 1 and 1.0 are two.
func (c Condition) is(value string) bool {
	if slices.Contains([]string{asked.Arm, asked.Target}, c.Name) {
		return value == c.Value
	}
	x, err := strconv.ParseFloat(value, 64)
	y, err2 := strconv.ParseFloat(c.Value, 64)
	return value == c.Value || err == nil && err2 == nil && x == y
}

// valuesOf lists the values of a parameter among runs, each once, in order.
func valuesOf(runs []*brief.Run, name string) []string { return asked.Values(brief.Asked(runs), name) }

// distinctions are the parameters that distinguish runs: arm and target, then everything
// that makes a different load. Properties in which runs of one load may differ are left out.
func distinctions(runs []*brief.Run) []string {
	others := []string{asked.Arm, asked.Target, asked.Seed, asked.Client, asked.Cores, asked.Host, asked.Shards,
		asked.Definitions}
	names := slices.DeleteFunc(asked.Names(brief.Asked(runs)), func(name string) bool {
		return slices.Contains(others, name)
	})
	return append([]string{asked.Arm, asked.Target}, names...)
}

// A mixedError says that the runs of one side are of several arms, targets or loads. One
// number cannot stand for all of them.
type mixedError struct {
	parts  []mixedPart
	choice []Condition // an example of what to choose
}

// A mixedPart is how the runs of one side differ.
type mixedPart struct {
	name string // of the side, such as old
	by   []spread
}

// A spread is a property in which runs differ, with its values.
type spread struct {
	property string
	values   []string
}

// Error has a line for each property, and how to choose among its values.
func (e *mixedError) Error() string {
	var text strings.Builder
	for _, side := range e.parts {
		fmt.Fprintf(&text, "the %s runs are not alike, so no number can stand for all of them:\n", side.name)
		for _, v := range side.by {
			fmt.Fprintf(&text, "  %s: %s\n", v.property, strings.Join(v.values, ", "))
		}
	}
	text.WriteString("choose, for example:")
	for _, c := range e.choice {
		fmt.Fprintf(&text, " %s", c.flag())
	}
	return text.String()
}

// flag is the condition as on the command line of servebench compare.
func (c Condition) flag() string {
	text := "--where " + c.Name + "=" + c.Value
	if c.Name == asked.Target {
		text = "--target " + c.Value
	}
	if strings.Contains(c.Value, " ") {
		return strings.Replace(text, c.Value, strconv.Quote(c.Value), 1)
	}
	return text
}

// Unmixed is nil if Compare can compare the two sides load by load. Otherwise the error lists the
// parameters in which the runs of a side differ, and says how to choose. The sides may
// differ in the parameters that despite names.
func Unmixed(old, new []*brief.Run, despite []string) error {
	e := &mixedError{}
	for {
		sides := mixed(old, new, despite)
		if sides == nil {
			break
		}
		if e.parts == nil {
			e.parts = sides
		}
		// The choice goes on until nothing is mixed any more.
		v := sides[0].by[0]
		c := Condition{v.property, v.values[0]}
		for _, value := range v.values {
			if slices.Contains(valuesOf(old, v.property), value) && slices.Contains(valuesOf(new, v.property), value) {
				c.Value = value
				break
			}
		}
		e.choice = append(e.choice, c)
		before := len(old) + len(new)
		old, new = c.of(old), c.of(new)
		if len(old)+len(new) == before { // two values that count as one
			break
		}
	}
	if e.parts == nil {
		return cmp.Or(brief.UnlikeBlocks("old", old), brief.UnlikeBlocks("new", new))
	}
	return e
}

// mixed are the sides whose runs differ within a point.
func mixed(old, new []*brief.Run, despite []string) (sides []mixedPart) {
	points := split(old, new)
	for _, side := range []struct {
		name string
		runs func(*Point) []*brief.Run
	}{
		{"old", func(p *Point) []*brief.Run { return p.Old }}, {"new", func(p *Point) []*brief.Run { return p.New }},
	} {
		part := mixedPart{name: side.name}
		for _, name := range distinctions(slices.Concat(old, new)) {
			var values []string
			for i := range points {
				if of := valuesOf(side.runs(&points[i]), name); len(of) > 1 {
					values = append(values, of...)
				}
			}
			if values != nil && !slices.Contains(despite, name) {
				slices.SortFunc(values, asked.ByNumber)
				part.by = append(part.by, spread{name, slices.Compact(values)})
			}
		}
		if part.by != nil {
			sides = append(sides, part)
		}
	}
	return sides
}

// split groups runs by load. It splits sides by the parameters that have the same several values on
// both sides, such as the points of a grid. Values that are not common to both sides are a
// difference. A parameter that varies only within one side cannot be distinguished from such a
// difference.
func split(old, new []*brief.Run) []Point {
	var by []string
	for _, name := range asked.Names(brief.Asked(old), brief.Asked(new)) {
		values := valuesOf(old, name)
		if name != asked.Seed && len(values) > 1 && slices.Equal(values, valuesOf(new, name)) {
			by = append(by, name)
		}
	}
	load := func(r *brief.Run) (load []metrics.KV) {
		for _, name := range by {
			load = append(load, metrics.KV{Key: name, Value: r.Asked.Value(name)})
		}
		return load
	}
	key := func(r *brief.Run) string { return fmt.Sprintf("%q", load(r)) }
	keys, all := metrics.By(slices.Concat(old, new), key)
	_, olds := metrics.By(old, key)
	_, news := metrics.By(new, key)
	var points []Point
	for _, k := range keys {
		points = append(points, Point{Load: load(all[k][0]), Sides: Sides{olds[k], news[k]}})
	}
	slices.SortFunc(points, func(a, b Point) int {
		return slices.CompareFunc(a.Load, b.Load, func(a, b metrics.KV) int { return asked.ByNumber(a.Value, b.Value) })
	})
	return points
}
