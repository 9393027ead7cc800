// Package gpu has what a run noticed about the state of GPUs: what slowed them, which processes
// computed on them, and what MPS said.
//
// A run watches, and its record stream keeps what it saw. Package trust judges from that.
package gpu

import (
	"slices"
	"time"
)

// A State is what a run saw of the GPUs of its machine, apart from the samples.
type State struct {
	// Processes computed on GPUs, in the order in which they were first seen.
	Processes []Process `json:"processes,omitempty"`
	// MPS is what the control daemon of MPS said; nil for a server that is not to run under MPS.
	MPS []MPS `json:"mps,omitempty"`
	// Notes are what could not be seen, and why.
	Notes []string `json:"notes,omitempty"`
}

// An Owner says whose process it is.
type Owner string

const (
	Server  Owner = "server"  // of a server under test: see docs/gpu.md
	Foreign Owner = "foreign" // it is known that no server under test has started it
	Hidden  Owner = "hidden"  // this machine shows no process with its id, as in a container
)

// A Process computed on a GPU.
type Process struct {
	GPU    string        `json:"gpu"` // its UUID
	PID    int           `json:"pid"`
	Name   string        `json:"name,omitempty"` // of the program; empty if unknown
	Owner  Owner         `json:"owner"`
	Memory *float64      `json:"memory,omitempty"` // the most that it had, in MiB; nil if unknown
	First  time.Duration `json:"first"`            // when it was first seen, from the start of the run
	Last   time.Duration `json:"last"`             // and last
}

// Sharing are the processes of an owner that share a GPU with the server. On other GPUs nobody is in
// its way.
func (s *State) Sharing(o Owner) []Process { return s.where(o, true) }

// Unplaced are the processes of an owner, if the server was seen on no GPU.
func (s *State) Unplaced(o Owner) []Process {
	if s == nil || slices.ContainsFunc(s.Processes, func(p Process) bool { return p.Owner == Server }) {
		return nil
	}
	return s.where(o, false)
}

func (s *State) where(o Owner, server bool) (found []Process) {
	if s == nil {
		return nil
	}
	of := map[string]bool{}
	for _, p := range s.Processes {
		of[p.GPU] = of[p.GPU] || p.Owner == Server
	}
	for _, p := range s.Processes {
		if p.Owner == o && of[p.GPU] == server {
			found = append(found, p)
		}
	}
	return found
}

// Add adds what another shard of the run saw, on its own machine.
func (s *State) Add(other *State) *State {
	if s == nil || other == nil {
		return either(s, other)
	}
	return &State{join(s.Processes, other.Processes), join(s.MPS, other.MPS), join(s.Notes, other.Notes)}
}

func either(a, b *State) *State {
	if a != nil {
		return a
	}
	return b
}

// join puts two lists after each other, without changing either.
func join[T any](a, b []T) []T { return append(a[:len(a):len(a)], b...) }
