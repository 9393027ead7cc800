package compare

import (
	"slices"

	"github.com/servebench/servebench/metrics"
)

// split puts runs together that were put under one load. Sides are split by what
// both were asked for with the same several values, as the points of a grid: what
// they have not in common is a difference, and what only varies within one side is
// not to be told from one.
func split(old, new []*Run) []Point {
	var by []string
	for _, name := range properties(old, new) {
		values := propertyOf(old, name)
		if name != seed && len(values) > 1 && slices.Equal(values, propertyOf(new, name)) {
			by = append(by, name)
		}
	}
	var points []*Point
	for _, r := range old {
		p := pointOf(&points, r, by)
		p.Old = append(p.Old, r)
	}
	for _, r := range new {
		p := pointOf(&points, r, by)
		p.New = append(p.New, r)
	}
	slices.SortFunc(points, func(a, b *Point) int {
		return slices.CompareFunc(a.Load, b.Load, func(a, b metrics.KV) int { return byNumber(a.Value, b.Value) })
	})
	var sorted []Point
	for _, p := range points {
		sorted = append(sorted, *p)
	}
	return sorted
}

// pointOf is the point among points that a run belongs to; it is added if it is not
// there.
func pointOf(points *[]*Point, r *Run, by []string) *Point {
	var load []metrics.KV
	for _, name := range by {
		load = append(load, metrics.KV{Key: name, Value: r.property(name)})
	}
	if i := slices.IndexFunc(*points, func(p *Point) bool { return slices.Equal(p.Load, load) }); i >= 0 {
		return (*points)[i]
	}
	*points = append(*points, &Point{Load: load})
	return (*points)[len(*points)-1]
}
