package compare

import (
	"maps"
	"slices"
	"strings"
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
	points := map[string]*Point{}
	for _, r := range old {
		p := pointOf(points, r, by)
		p.Old = append(p.Old, r)
	}
	for _, r := range new {
		p := pointOf(points, r, by)
		p.New = append(p.New, r)
	}
	var sorted []Point
	for _, name := range slices.SortedFunc(maps.Keys(points), byWords) {
		sorted = append(sorted, *points[name])
	}
	return sorted
}

// pointOf is the point among points that a run belongs to.
func pointOf(points map[string]*Point, r *Run, by []string) *Point {
	var words []string
	for _, name := range by {
		words = append(words, name+" "+r.property(name))
	}
	name := strings.Join(words, ", ")
	if points[name] == nil {
		points[name] = &Point{Name: name}
	}
	return points[name]
}

// byWords orders names word by word, numbers by their size.
func byWords(a, b string) int {
	split := func(r rune) bool { return r == ' ' || r == ',' }
	return slices.CompareFunc(strings.FieldsFunc(a, split), strings.FieldsFunc(b, split), byNumber)
}
