package sim

import "sync/atomic"

// A GPU is what the servers share whose Config names it. A server's step takes
// longer by its profile's Sharing for each other server that has requests when
// the step begins; without Sharing, each takes what a share in time slices costs:
// two servers take twice as long. The zero value is ready to be used.
type GPU struct{ working atomic.Int64 }

// sharing is how much longer a step takes that begins now, for a server at work.
// Without a GPU, what the profile says holds always.
func (g *GPU) sharing(s Sharing) Sharing {
	if g == nil {
		return Sharing{orElse(s.Base, 1), orElse(s.Prompt, 1)}
	}
	others := float64(g.working.Load() - 1)
	return Sharing{1 + others*(orElse(s.Base, 2)-1), 1 + others*(orElse(s.Prompt, 2)-1)}
}

// work counts an engine that has something to do, until rest.
func (g *GPU) work() {
	if g != nil {
		g.working.Add(1)
	}
}

func (g *GPU) rest() {
	if g != nil {
		g.working.Add(-1)
	}
}
