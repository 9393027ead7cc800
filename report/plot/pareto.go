package plot

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// perUser is the throughput of each GPU against the throughput that each user gets: what a server
// earns against what its users feel. The front has the runs that no other run beats in both.
func perUser(all []Condition, load string) Chart {
	user, gpu := chosen("", "output_tokens_per_s_per_user"), chosen("", "output_tokens_per_s_per_gpu")
	c := Chart{Name: "throughput-per-gpu-against-per-user", Title: "Output throughput per GPU against per user",
		X: Axis{Title: user.title()}, Y: Axis{Title: gpu.title()}}
	paths := paths(all, load, func(c *Condition) (x, y float64) { return c.Middle(user.Of), c.Middle(gpu.Of) })
	points := 0
	for _, s := range paths {
		points += len(s.X)
	}
	if points < 2 {
		return c
	}
	c.Note = "Users are --max-concurrency, or the most requests in flight. GPUs are --gpus, or what --metadata has in " +
		"num_gpus or tensor_parallel_size, or else 1."
	if load != "" {
		c.Note += " A line goes from the lowest " + load + " to the highest."
	}
	c.draw(paths)
	if front := pareto(paths, 1); len(front.X) > 1 && !targets(all[0].Runs) {
		c.Note = strings.TrimSpace(c.Note + " No other run is better in both than a run on the front.")
		c.Series = append(c.Series, front)
	}
	return c
}

// pareto joins the points for which no other is better in one number and no worse in the other. More
// of X is better. More of Y is better if up is 1, and less if it is -1.
func pareto(series []Series, up float64) Series {
	type point struct{ x, y float64 }
	var points []point
	for _, s := range series {
		for i := range s.X {
			points = append(points, point{s.X[i], s.Y[i]})
		}
	}
	slices.SortFunc(points, func(a, b point) int {
		return cmp.Or(cmp.Compare(b.x, a.x), cmp.Compare(up*b.y, up*a.y))
	})
	front := Series{Name: "Pareto front", Style: Wide, Color: Neutral}
	best := math.Inf(-1)
	for _, p := range points {
		if up*p.y > best {
			best = up * p.y
			front.add(p.x, p.y)
		}
	}
	slices.Reverse(front.X)
	slices.Reverse(front.Y)
	return front
}
