package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/servebench/servebench/metrics/compare/brief"
)

// A slot is the place of a run in a session.
type slot struct {
	new    bool
	start  int // the server start that it measures
	day    int // of a baseline, from 1; 0 outside of baselines
	repeat int // of a sweep, from 1; 0 outside of sweeps
	seed   int
}

// A design says in which order the runs of a session follow one another.
type design struct {
	name  string
	slots func(n int) []slot // for so many values a side
}

func designs() []design {
	return []design{
		{"paired", func(n int) []slot { return pairs(n, 1) }},
		{"paired, 2 runs a start", func(n int) []slot { return pairs(n, 2) }},
		{"alternated", alternated},
		{"one after the other", func(n int) []slot { return successive(n, true) }},
		{"one start a side", func(n int) []slot { return successive(n, false) }},
		{"chain", days},
	}
}

// pairs are pairs of starts in the order old, new, new, old. Each run of a start has another seed.
func pairs(n, runs int) (slots []slot) {
	for i := range 2 * n {
		for run := range runs {
			slots = append(slots, slot{new: i%4 == 1 || i%4 == 2, start: i, repeat: i/2 + 1, seed: i/2*runs + run})
		}
	}
	return slots
}

// alternated are starts of the two sides in turns, with nothing in common.
func alternated(n int) (slots []slot) {
	for i := range 2 * n {
		slots = append(slots, slot{new: i%2 == 1, start: i, seed: i})
	}
	return slots
}

// successive is all of the old side before all of the new one, each run on its own start or each
// side on one.
func successive(n int, restart bool) (slots []slot) {
	for i := range 2 * n {
		s := slot{new: i >= n, seed: i % n}
		if s.start = i; !restart {
			s.start = i / n
		}
		slots = append(slots, s)
	}
	return slots
}

// perDay is how many runs a session of a baseline has, each on its own start.
const perDay = 4

// days are so many sessions of a baseline, a day apart, and then one of the new side.
func days(n int) (slots []slot) {
	for i := range perDay * (n + 1) {
		slots = append(slots, slot{new: i >= perDay*n, start: i, day: i/perDay + 1, seed: i % perDay})
	}
	return slots
}

// names are the gated numbers. The effect is one on the second.
var names = [numbers]string{"output_throughput", "median_ttft", "median_tpot"}

// session draws the runs of a session, in which the second number of new runs is worse by the share
// effect. Runs begin a minute apart. Noise begins again every day.
func session(chance *rand.Rand, noise noise, slots []slot, effect float64) (old, new []*brief.Run) {
	var next func(slot) factor
	for i, s := range slots {
		if i == 0 || s.day != slots[i-1].day {
			next = noise.begin(chance, together(slots[i:]))
		}
		f := next(s)
		if s.new {
			f[1] += math.Log1p(effect)
		}
		id := strconv.Itoa(i + 1)
		r := &brief.Run{
			ID: id, Began: time.Unix(int64(60*i), 0).AddDate(0, 0, s.day), Start: "start " + strconv.Itoa(s.start+1),
			Repeat: s.repeat,
			Asked:  map[string]string{"model": "m", "seed": strconv.Itoa(s.seed)},
			Numbers: map[string]float64{names[0]: 2000 * math.Exp(-f[0]), names[1]: 40 * math.Exp(f[1]),
				names[2]: 10 * math.Exp(f[2])},
			Completed: 1000, Input: 100000, Output: 100000,
		}
		if s.new {
			new = append(new, r)
		} else {
			if s.day > 0 {
				r.Session = fmt.Sprint("day ", s.day)
			}
			old = append(old, r)
		}
	}
	return old, new
}

// together is how many slots have the day of the first.
func together(slots []slot) int {
	n := 1
	for n < len(slots) && slots[n].day == slots[0].day {
		n++
	}
	return n
}
