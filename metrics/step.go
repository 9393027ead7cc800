package metrics

import (
	"encoding/binary"
	"time"
)

// A Step says where a request stands in its session. Times are offsets from the start of the run.
type Step struct {
	// Session is the id of the session, empty if the dataset has none. Record.Index and Place
	// distinguish sessions in any case.
	Session string `json:"session,omitempty"`
	// Turns is how many requests the whole session has.
	Turns int `json:"turns"`
	// Agent is who sent it, empty if the session has one agent.
	Agent string `json:"agent,omitempty"`
	// Waits are the turns that it waited for.
	Waits []int `json:"waits,omitempty"`
	// Early says that its session began in the warm-up. Sessions of the warm-up have indexes of their
	// part, as measured ones have.
	Early bool `json:"early,omitempty"`
	// Tool says that its Gap is a tool's, not a person's.
	Tool bool `json:"tool,omitempty"`

	// Ready is when the last byte of the last of the answers that it waited for arrived. It is the
	// start of the session for a request that waits for nothing.
	Ready time.Duration `json:"ready,omitempty"`
	// Gap is how long it was to wait then.
	Gap time.Duration `json:"gap,omitempty"`
	// At is when the recording had it sent, on the run's clock; nil if that is not known.
	At *time.Duration `json:"at,omitempty"`
	// Took is how long the recorded answer took, at the speed of the run; 0 if that is not known.
	Took time.Duration `json:"took,omitempty"`
	// Place is when its session got one of the places for sessions; without a limit on them, the Due
	// of the session's first request. Sessions of the warm-up and of the measured part may share an
	// Index, but no Place.
	Place time.Duration `json:"place,omitempty"`

	// History is how many tokens of its prompt earlier requests of the session had, by the dataset's
	// count.
	History int `json:"history,omitempty"`
	// Reusable is how many tokens of its prompt a prefix cache without limit would have had; −1 if
	// that is not known.
	Reusable int `json:"reusable,omitempty"`
	// Answered is how many tokens the recorded answer of the turn before it has that is in its
	// history; 0 if that is not known. Live answers may have other lengths.
	Answered int `json:"answered,omitempty"`
}

// shifted is s with all times moved by d; nil for nil. It shares the rest with s.
func (s *Step) shifted(d time.Duration) *Step {
	if s == nil {
		return nil
	}
	moved := *s
	moved.Ready += d
	moved.Place += d
	if s.At != nil {
		moved.At = new(*s.At + d)
	}
	return &moved
}

// pack appends s, whose record has that Due.
func (s *Step) pack(b []byte, p *Records, due time.Duration) []byte {
	b = append(binary.AppendUvarint(b, uint64(len(s.Session))), s.Session...)
	b = binary.AppendUvarint(b, uint64(p.name(s.Agent)))
	flags := uint64(len(s.Waits)) << 2
	if s.Tool {
		flags |= 1
	}
	if s.At != nil {
		flags |= 2
	}
	b = binary.AppendUvarint(b, flags)
	for _, turn := range s.Waits {
		b = binary.AppendVarint(b, int64(turn))
	}
	if s.At != nil {
		b = binary.AppendVarint(b, int64(*s.At-due))
	}
	for _, n := range [...]int64{
		int64(s.Turns), int64(s.Gap), int64(s.Ready + s.Gap - due), int64(s.Took), int64(s.Place - due), int64(s.History), int64(s.Reusable), int64(s.Answered),
	} {
		b = binary.AppendVarint(b, n)
	}
	return b
}

// step reads what pack appends.
func (u *unpacker) step(p *Records, due time.Duration) *Step {
	s := &Step{Session: string(u.bytes()), Agent: p.names[u.uint()]}
	flags := u.uint()
	s.Tool = flags&1 != 0
	for range flags >> 2 {
		s.Waits = append(s.Waits, int(u.int()))
	}
	if flags&2 != 0 {
		s.At = new(due + time.Duration(u.int()))
	}
	s.Turns, s.Gap = int(u.int()), time.Duration(u.int())
	s.Ready = due - s.Gap + time.Duration(u.int())
	s.Took, s.Place = time.Duration(u.int()), due+time.Duration(u.int())
	s.History, s.Reusable, s.Answered = int(u.int()), int(u.int()), int(u.int())
	return s
}
