package exchange

import "github.com/servebench/servebench/loadgen/api/sse"

// A Protocol is what tells the answers of an API from others: what an event means, how an answer ends, and how
// vLLM's client differs. An Endpoint asks it, and knows no API.
type Protocol struct {
	// Decoder makes what reads the events of streams.
	Decoder func() Decoder
	// Whole reads an answer that is not streamed into p. Calls that p cannot hold go into kept. The error says that
	// the answer is not JSON.
	Whole func(answer []byte, p *Piece, kept *Kept) error
	// Calls reads the Calls of a Piece; nil for an API without calls.
	Calls func(raw []byte) []CallPart
	// Refuse says why a chunk is none; nil for an API that takes all.
	Refuse func(event []byte) error
	// Failure is where the error of an event is; nil if the event is the error.
	Failure func(event []byte) []byte

	// Type is the media type of its streams; empty for an event stream.
	Type string
	// Marked says that [DONE] ends an answer, and not an event of the API.
	Marked bool
	// Empty and Cut are what failures of answers say: one without output, and one without an end.
	Empty, Cut string

	// How vLLM's client differs.
	Lines    sse.Rules
	Unknown  bool // it does not know the API
	Agrees   bool // it fails every answer that fails here
	OnlyOuts bool // it reads the output's count alone
}

// What vLLM's client says about a reply without a chunk, and what we say about an answer of completions or of a
// chat that was cut off.
const (
	NeverValid = "Never received a valid chunk to calculate TTFT.This response will be marked as failed!"
	Neither    = "the stream ended without a finish reason and without [DONE]"
)
