package main

import (
	"fmt"
	"slices"
)

// seeded is what a target of the experiment is asked for in one trial. Prompts
// that a server has seen before are in its prefix cache, so repeats differ in
// their seeds, and so do targets on one server and a target alone from the same
// one among others. Targets on servers of their own get the same prompts, and
// the requests of a target alone arrive when they do among the others.
func (e *experiment) seeded(o *options, repeat int, solo bool) *options {
	n := int64(repeat) * e.seedsPerRepeat()
	arrivals := o.Workload.Seed + n
	offset := n + e.besides(o)
	if solo {
		offset += int64(len(e.targets))
	}
	if offset == 0 {
		return o
	}
	seeded := *o
	seeded.Workload.Seed += offset
	if solo {
		seeded.Traffic.Seed = &arrivals
	}
	seeded.Flags = slices.Clone(o.Flags)
	for i, kv := range seeded.Flags {
		if kv.Key == "seed" {
			seeded.Flags[i].Value = fmt.Sprint(seeded.Workload.Seed)
		}
	}
	return &seeded
}

// seedsPerRepeat is how many seeds one repeat takes.
func (e *experiment) seedsPerRepeat() int64 {
	n := int64(len(e.targets))
	if e.SoloFirst {
		n *= 2
	}
	return n
}

// besides is how many targets before o are on the same server with the same seed.
func (e *experiment) besides(o *options) (n int64) {
	for _, other := range e.targets {
		switch {
		case other == o:
			return n
		case other.Server.BaseURL == o.Server.BaseURL && other.Server.Socket == o.Server.Socket && other.Workload.Seed == o.Workload.Seed:
			n++
		}
	}
	return n
}
