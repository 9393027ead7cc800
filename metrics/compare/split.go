package compare

import (
	"fmt"
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
	load := func(r *Run) (load []metrics.KV) {
		for _, name := range by {
			load = append(load, metrics.KV{Key: name, Value: r.property(name)})
		}
		return load
	}
	key := func(r *Run) string { return fmt.Sprintf("%q", load(r)) }
	keys, all := metrics.By(slices.Concat(old, new), key)
	_, olds := metrics.By(old, key)
	_, news := metrics.By(new, key)
	var points []Point
	for _, k := range keys {
		points = append(points, Point{Load: load(all[k][0]), Old: olds[k], New: news[k]})
	}
	slices.SortFunc(points, func(a, b Point) int {
		return slices.CompareFunc(a.Load, b.Load, func(a, b metrics.KV) int { return byNumber(a.Value, b.Value) })
	})
	return points
}
