// Package request makes the bodies of requests, byte for byte as vLLM's client does.
//
// An API has a Form, which says where a body has its prompt. A Body has what all APIs have in common: the
// model, the settings of sampling and what a user adds or leaves out.
package request

import (
	"slices"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics/pyjson"
)

// An Encoder makes the body of a request. id is the request's id, empty for a request without one.
// It is safe for concurrent use.
type Encoder func(turn *dataset.Turn, id string) ([]byte, error)

// A Form is how an API has a body.
type Form struct {
	// Request makes what a body has apart from Members.
	Request  func(b *Body, turn *dataset.Turn) (pyjson.Object, error)
	Messages bool // it has the messages of a turn as they are
	TokenIDs bool // it takes token ids
}

// A Body makes the bodies of requests byte for byte as vLLM's client does: with
// its keys in its order, in the spelling of Python's json.dumps. UsageAlways,
// PlainText and Drop are our extensions.
type Body struct {
	Model       string // as the API names it
	Path        string // of the endpoint, for an API with several
	Form        *Form  // what its API has for it
	Store       bool   // have the server of the Responses API keep its answers
	IgnoreEOS   bool
	Logprobs    *int // for completions; nil is sent as null
	UsageAlways bool // ask for token counts in every chunk
	// PlainText makes the content of a chat's messages a string instead of a list of parts, which
	// works for text only.
	PlainText bool

	// Extra replaces everything else, and the Members of a turn's Payload replace Extra. A key that
	// exists already keeps its place.
	Extra pyjson.Object
	Drop  []string // names of members to leave out, wherever they come from
}

// Encode makes the body that sends turn.
func (b *Body) Encode(turn *dataset.Turn) ([]byte, error) {
	object, err := b.Form.Request(b, turn)
	if err != nil {
		return nil, err
	}
	return b.Complete(object, turn)
}

// Complete is the text of a body that lacks only what the APIs have in common.
func (b *Body) Complete(object pyjson.Object, turn *dataset.Turn) ([]byte, error) {
	object, err := b.Members(object, turn)
	if err != nil {
		return nil, err
	}
	return pyjson.Append(make([]byte, 0, 1024+sizeOf(turn)), object), nil
}

// Members are the members of a body that lacks only what the APIs have in common.
func (b *Body) Members(object pyjson.Object, turn *dataset.Turn) (pyjson.Object, error) {
	members, err := overrides(turn.Payload)
	if err != nil {
		return nil, err
	}
	if turn.OutputLen == 0 { // the server decides
		object = slices.DeleteFunc(object, func(m pyjson.Member) bool { return slices.Contains(bounds, m.Key) })
	}
	if b.IgnoreEOS {
		object = append(object, pyjson.Member{Key: "ignore_eos", Value: true})
	}
	object = object.Merge(b.Extra).Merge(members)
	return slices.DeleteFunc(object, func(m pyjson.Member) bool { return slices.Contains(b.Drop, m.Key) }), nil
}

// Streams reports whether the answers will be streams. Extra and Drop decide.
func (b *Body) Streams() bool {
	stream, set := b.Extra.Get("stream")
	return !slices.Contains(b.Drop, "stream") && (!set || stream == true)
}

// Streamed asks for a stream that ends with the token counts. Servers refuse the options of a stream
// without a stream.
func (b *Body) Streamed(object pyjson.Object) pyjson.Object {
	if !b.Streams() {
		return append(object, pyjson.Member{Key: "stream", Value: false})
	}
	usage := pyjson.Object{{Key: "include_usage", Value: true}}
	if b.UsageAlways {
		usage = append(usage, pyjson.Member{Key: "continuous_usage_stats", Value: true})
	}
	return append(object, pyjson.Member{Key: "stream", Value: true}, pyjson.Member{Key: "stream_options", Value: usage})
}

// bounds are the members of bodies that bound the length of an answer.
var bounds = []string{"max_tokens", "max_completion_tokens", "max_output_tokens"}
