package metrics

import "time"

// A Step says where a request stands in its session. Times are offsets from the start of the run.
type Step struct {
	// Session is the id of the session, empty if the dataset has none. Record.Index tells sessions
	// apart in any case.
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
	// Place is when its session got one of the places for sessions.
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
