package sim

import "sync/atomic"

// A GPU is shared by the servers whose Config names it. A server's step takes longer by its
// profile's Sharing for each other server that has requests when the step begins. Without Sharing,
// the servers take turns: with two servers, a step takes twice as long. The zero value is ready to
// use.
type GPU struct{ working atomic.Int64 }

// sharing is how much longer a step takes that begins now, for a server at work. Without a GPU, the
// profile's value always holds.
func (g *GPU) sharing(s Sharing) Sharing {
	if g == nil {
		return Sharing{orElse(s.Base, 1), orElse(s.Prompt, 1)}
	}
	others := float64(g.working.Load() - 1)
	return Sharing{1 + others*(orElse(s.Base, 2)-1), 1 + others*(orElse(s.Prompt, 2)-1)}
}

// work counts an engine that has work, until rest.
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
