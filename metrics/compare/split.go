package compare

import (
	"fmt"
	"slices"

	"github.com/servebench/servebench/metrics"
)

// split groups runs by load. It splits sides by the parameters that have the same several values on
// both sides, such as the points of a grid. Values that are not common to both sides are a
// difference. A parameter that varies only within one side cannot be distinguished from such a
// difference.
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
