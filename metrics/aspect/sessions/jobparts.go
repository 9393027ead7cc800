package sessions

import (
	"time"
)

// JobParts are what job times are made of, along the critical path of each session: from the turn
// that ended last to the last of the turns that it waited for, and so on to a first turn. They add
// up to the job time.
type JobParts struct {
	Think        time.Duration // gaps of persons
	Tool         time.Duration // gaps of tools
	SessionSlots time.Duration // waiting for a session slot
	Slots        time.Duration // waiting for slots
	Lag          time.Duration // our own lateness, also before gaps
	Prefill      time.Duration // the server, from Sent to the first chunk
	Decode       time.Duration // the server, from there to End
}

// Gaps are the gaps of both kinds.
func (p JobParts) Gaps() time.Duration { return p.Think + p.Tool }

// Queue is the wait for session slots and slots.
func (p JobParts) Queue() time.Duration { return p.SessionSlots + p.Slots }

// Server is the time in which the server worked on an answer.
func (p JobParts) Server() time.Duration { return p.Prefill + p.Decode }

// Total is the job time.
func (p JobParts) Total() time.Duration { return p.Gaps() + p.Queue() + p.Lag + p.Server() }

func (p JobParts) plus(other JobParts) JobParts {
	return JobParts{
		Think: p.Think + other.Think, Tool: p.Tool + other.Tool, SessionSlots: p.SessionSlots + other.SessionSlots,
		Slots: p.Slots + other.Slots,
		Lag:   p.Lag + other.Lag, Prefill: p.Prefill + other.Prefill, Decode: p.Decode + other.Decode,
	}
}
