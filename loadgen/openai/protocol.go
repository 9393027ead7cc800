package openai

import (
	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/sse"
	"github.com/servebench/servebench/metrics/pyjson"
)

// A Protocol is what tells an API from others on the wire: the members of a request, what an event of an answer
// means, and how an answer ends. Readers and writers of this package ask it, and know no API.
type Protocol struct {
	// request makes the members of a body; nil for an API whose bodies another package makes. A body has the
	// messages of a turn as they are if the API lists them, and takes token ids if it has ids.
	request    func(b *Body, turn *dataset.Turn) (pyjson.Object, error)
	lists, ids bool

	// event reads an event of a stream into p, and whole an answer that is not streamed, with its calls into kept.
	event func(p *piece, data []byte) error
	whole func(p *piece, a *wireAnswer, kept *answerParts)
	// refuse says why a chunk is none; nil for an API that takes all.
	refuse func(event []byte) error
	// failure is where the error of an event is; nil if the event is the error.
	failure func(event []byte) []byte

	// How chunks are, for an API that has the chunks of completions or chats.
	deltas  bool // the text of a chunk is in its delta
	counted bool // vLLM's client counts every chunk as output

	// How an answer ends.
	trails bool // an event without choices follows: see Times.Trailer
	marked bool // by [DONE], and not by an event of the API
	// What failures of answers say: one without output, and one without an end.
	empty, cut string

	// How vLLM's client differs.
	lines    sse.Rules
	unknown  bool // it does not know the API
	agrees   bool // it fails every answer that fails here
	onlyOuts bool // it reads the output's count alone
}

// neverValid is the message of vLLM's client about a reply without a chunk.
const neverValid = "Never received a valid chunk to calculate TTFT.This response will be marked as failed!"

// neither is the message about an answer of completions or a chat that was cut off.
const neither = "the stream ended without a finish reason and without [DONE]"
