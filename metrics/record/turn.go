package record

import "time"

// A Turn says where a request stands in its session. Times are offsets from the start of the run.
type Turn struct {
	// ID is the id of the session, empty if the dataset has none. The Record's Index and Early
	// distinguish sessions in any case.
	ID string
	// Turns is how many requests the whole session has.
	Turns int
	// Agent is who sent it, empty if the session has one agent.
	Agent string
	// Waits are the turns that it waited for.
	Waits []int
	// Early says that its session began in the warm-up. Sessions of the warm-up have indexes of their
	// part, as measured ones have.
	Early bool
	// Tool says that its Gap is a tool's, not a person's.
	Tool bool

	// Ready is when the last byte of the last of the answers that it waited for arrived. It is the
	// start of the session for a request that waits for nothing.
	Ready time.Duration
	// Gap is how long it was to wait then.
	Gap time.Duration
	// At is when the recording had it sent, on the run's clock; nil if that is not known.
	At *time.Duration
	// Took is how long the recorded answer took, at the speed of the run; 0 if that is not known.
	Took time.Duration
	// SessionSlot is when its session got a session slot; without a limit on them, the Due
	// of the session's first request.
	SessionSlot time.Duration

	// History is how many tokens of its prompt earlier requests of the session had, by the dataset's
	// count.
	History int
	// Reusable is how many tokens of its prompt a prefix cache without limit would have had; −1 if
	// that is not known.
	Reusable int
	// Answered is how many tokens the recorded answer of the turn before it has that is in its
	// history; 0 if that is not known. Live answers may have other lengths.
	Answered int
}
