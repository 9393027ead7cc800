package speed

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A GPU is shared by the servers whose configurations name it. It is a model, not a measurement.
//
// A server with SMs fills a part of them, its demand: all with a step that has prompt tokens, and
// SMs.Decode with any other, but never more than its SMs.Share. The servers at work get what they
// demand while that is there. If not, they get max-min fair shares: the SMs are divided evenly, and
// what one does not need goes to the others (Bertsekas, Gallager, Data Networks, 6.5.2). A part of a
// step takes as many times as long as it would fill times the SMs that it gets. What the others
// demand is looked up when a step begins, and memory bandwidth is not modelled.
//
// A server without SMs takes longer by its profile's Sharing for each other server that has requests
// when the step begins. Without Sharing, the servers take turns: with two servers, a step takes twice
// as long.
//
// The zero value is ready to use.
type GPU struct {
	mu      sync.Mutex
	demands map[*Stopwatch]float64 // of the servers at work
}

// SMs are the streaming multiprocessors of a GPU that a server can use, as parts of all of them.
type SMs struct {
	// Share is the most, as under CUDA_MPS_ACTIVE_THREAD_PERCENTAGE; 0 for no model of SMs.
	Share float64 `yaml:"share"`
	// Decode is what a step without prompt tokens can fill; 0 means 1.
	Decode float64 `yaml:"decode"`
}

// ParseSMs reads the SMs of several servers in percent, as 100,50.
func ParseSMs(text string) (all []float64, err error) {
	for part := range strings.SplitSeq(text, ",") {
		percent, err := strconv.ParseFloat(part, 64)
		if err != nil || !(percent > 0 && percent <= 100) {
			return nil, fmt.Errorf("invalid percentage: %q: it must be above 0 and at most 100, or one for each server, as "+
				"100,50", part)
		}
		all = append(all, percent/100)
	}
	return all, nil
}

func (s SMs) check() error {
	if !(s.Share >= 0 && s.Share <= 1) || !(s.Decode >= 0 && s.Decode <= 1) {
		return fmt.Errorf("the share of SMs, and what a decoding step fills of them, must be from 0 to 1")
	}
	return nil
}

// sharing is how much longer a step with b's work takes that begins now, for a server at work.
// Without a GPU, the profile's Sharing always holds, and the SMs are for this server alone.
func (w *Stopwatch) sharing(b Batch) Sharing {
	sms, s := w.profile.SMs, w.profile.Sharing
	switch {
	case sms.Share > 0:
		decode := cmp.Or(sms.Decode, 1)
		fills := decode
		if b.Prompt > 0 {
			fills = 1
		}
		granted := w.gpu.grant(w, min(fills, sms.Share))
		return Sharing{max(1, decode/granted), fills / granted}
	case w.gpu == nil:
		return Sharing{cmp.Or(s.Base, 1), cmp.Or(s.Prompt, 1)}
	}
	others := w.gpu.others()
	return Sharing{1 + others*(cmp.Or(s.Base, 2)-1), 1 + others*(cmp.Or(s.Prompt, 2)-1)}
}

// grant is the part of the SMs that a server gets of its demand.
func (g *GPU) grant(w *Stopwatch, demand float64) float64 {
	if g == nil {
		return demand
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.demands[w] = demand
	left, servers := 1.0, float64(len(g.demands))
	for _, d := range slices.Sorted(maps.Values(g.demands)) {
		fair := left / servers
		if d > fair {
			return min(demand, fair)
		}
		left, servers = left-d, servers-1
	}
	return demand
}

// others is how many other servers are at work.
func (g *GPU) others() float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return float64(len(g.demands) - 1)
}

// work counts a server that has work, until rest. Its demand is known once it makes a step.
func (g *GPU) work(w *Stopwatch) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.demands == nil {
		g.demands = map[*Stopwatch]float64{}
	}
	g.demands[w] = 0
}

func (g *GPU) rest(w *Stopwatch) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.demands, w)
}
