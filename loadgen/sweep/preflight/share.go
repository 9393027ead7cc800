package preflight

import (
	"fmt"
	"math"
	"slices"

	"github.com/servebench/servebench/loadgen/sweep"
)

// Shares of a GPU's memory that vLLM takes (0.33.0).
const (
	usualShare = 0.92 // without --gpu-memory-utilization
	mostShare  = 0.94 // of several servers together, as each also has a context outside its share
)

// share is how much of the memory of its GPUs a server asks for; 0 with kvcached, which does not
// reserve it, and for servers other than vLLM.
func (s *server) share() float64 {
	if s.vllm == "" || s.elastic() {
		return 0
	}
	return s.number("gpu-memory-utilization", usualShare)
}

// asked is the share of a GPU that the servers of an arm ask for, and how many they are.
func (l *look) asked(a *sweep.Arm, place string) (sum float64, n int) {
	for _, s := range l.servers {
		if s.arm == a.Name && s.share() > 0 && slices.Contains(l.places(s), place) {
			sum += s.share()
			n++
		}
	}
	return sum, n
}

// tooMuch reports whether so many servers cannot have that share of any GPU together.
func tooMuch(sum float64, n int) bool { return sum > 1 || n > 1 && sum > mostShare+1e-9 }

// places name the GPUs of a server, also where there is none.
func (l *look) places(s *server) []string {
	var names []string
	for _, g := range l.of(s) {
		names = append(names, g.index)
	}
	if names == nil {
		names = []string{s.getenv("CUDA_VISIBLE_DEVICES")}
	}
	return names
}

// shares checks that the servers of an arm fit together, whatever the GPU.
func shares(l *look) (all []Finding) {
	var places []string
	for _, s := range l.servers {
		for _, place := range l.places(s) {
			if !slices.Contains(places, place) {
				places = append(places, place)
			}
		}
	}
	for i := range l.plan.Arms {
		for _, place := range places {
			if sum, n := l.asked(&l.plan.Arms[i], place); l.wantsGPU() && tooMuch(sum, n) {
				all = append(all, missing("GPU", fmt.Sprintf("lower --gpu-memory-utilization to %.2f each",
					math.Floor(mostShare/float64(n)*100)/100),
					"the servers of arm %s ask for %.2f of its memory, at most %.2f fit", l.plan.Arms[i].Name, sum, mostShare))
			}
		}
	}
	return all
}

// freeMemory checks that what an arm asks for is free now.
func freeMemory(l *look) (all []Finding) {
	for _, g := range l.used() {
		arm, most := "", 0.0
		for i := range l.plan.Arms {
			if sum, n := l.asked(&l.plan.Arms[i], g.index); sum > most && !tooMuch(sum, n) {
				arm, most = l.plan.Arms[i].Name, sum
			}
		}
		if most > 0 && (g.total == 0 || !g.freeKnown) {
			all = append(all, note("GPU", "whether arm %s fits into %v is not known: nvidia-smi does not say what is free", arm,
				g))
		} else if bytes := most * g.total; bytes > g.free {
			all = append(all, missing("GPU", "end what uses it: nvidia-smi names the processes",
				"%v has %.1f of %.1f GB free, arm %s asks for %.1f GB", g, g.free/1e9, g.total/1e9, arm, bytes/1e9))
		} else if most > 0 {
			all = append(all, fine("GPU", "%v has %.1f GB free, arm %s asks for most: %.1f GB", g, g.free/1e9, arm, bytes/1e9))
		}
	}
	return all
}
