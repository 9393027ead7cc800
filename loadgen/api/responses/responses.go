// Package responses speaks OpenAI's Responses API.
//
// Only the type of an event decides what it is. Servers can keep answers, so that a later turn sends only
// what it adds.
package responses

import (
	"bytes"
	"encoding/json"

	"github.com/servebench/servebench/loadgen/api/chunk"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/refusal"
	"github.com/servebench/servebench/loadgen/api/scan"
	"github.com/servebench/servebench/loadgen/api/sse"
)

// neverDelta is the message of vLLM's client about an answer of the Responses API without output.
const neverDelta = "Never received a token delta to calculate TTFT.This response will be marked as failed!"

// Protocol is how the API answers.
var Protocol = &exchange.Protocol{
	Decoder: func() exchange.Decoder { return decoder{} }, Whole: whole, Calls: calls, Failure: responseOf,
	Empty: neverDelta, Cut: "the stream ended without response.completed",
	Lines: sse.Rules{Joins: true}, Agrees: true,
}

// The members that a load test looks at in an event of the Responses API, and in its response. The
// code takes their values by position.
var (
	responseEventNames = []string{"type", "delta", "response", "item", "error"}
	responseNames      = []string{"id", "usage", "incomplete_details"}
)

// A decoder reads the events of streams.
type decoder struct{}

// Decode is a Decoder's of package exchange. Like vLLM's client since 0.31.0, it counts the deltas of the text
// and of the reasoning as output, and looks for an error in any event except the last.
func (decoder) Decode(data []byte, p *exchange.Piece) error {
	var v [5][]byte
	if !scan.Members(data, responseEventNames, v[:]) {
		if err := scan.Decoded(data, responseEventNames, v[:]); err != nil {
			return err
		}
	}
	var kind []byte
	if !scan.IsNull(v[0]) {
		kind = scan.Plain(v[0])
	}
	delta, response, item := v[1], v[2], v[3]
	switch string(kind) {
	case "response.output_text.delta":
		p.Delta(delta, true, &p.Text)
	case "response.reasoning_text.delta":
		p.Delta(delta, true, &p.Thought)
		p.Answers = false
	case "response.reasoning_summary_text.delta":
		p.Delta(delta, false, nil)
		p.Answers = false
	case "response.refusal.delta", "response.function_call_arguments.delta":
		p.Delta(delta, false, nil)
	case "response.output_item.done":
		if bytes.Contains(item, []byte(`"function_call"`)) { // the only items that count
			p.Calls = item
		}
	case "response.completed", "response.incomplete":
		p.Last, p.Finish = true, bytes.TrimPrefix(kind, []byte("response."))
		last(response, p)
	case "error", "response.failed":
		p.Failed = true
	}
	p.Failed = p.Failed || !p.Last && scan.Truthy(v[4])
	return nil
}

// last reads the response itself, as the last event has it.
func last(raw []byte, p *exchange.Piece) {
	var v [3][]byte
	if scan.IsNull(raw) || !scan.Members(raw, responseNames, v[:]) && scan.Decoded(raw, responseNames, v[:]) != nil {
		return
	}
	p.Reply = scan.Text(v[0])
	var why struct {
		Reason string `json:"reason"`
	}
	_ = json.Unmarshal(v[2], &why) // what is not an object has no reason
	if why.Reason != "" {
		p.Finish = []byte(why.Reason)
	}
	p.Usage = usageOf(v[1])
}

// usageOf returns the counts of the Responses API in raw.
func usageOf(raw json.RawMessage) exchange.Usage {
	var members struct {
		In      json.RawMessage `json:"input_tokens"`
		Out     json.RawMessage `json:"output_tokens"`
		Details json.RawMessage `json:"input_tokens_details"`

		OutDetails json.RawMessage `json:"output_tokens_details"`
	}
	_ = json.Unmarshal(raw, &members) // what is not an object has no counts
	found := exchange.Usage{Given: scan.Truthy(raw) && raw[0] == '{'}
	found.In, found.HasIn = scan.CountOf(members.In)
	found.Out, found.HasOut = scan.CountOf(members.Out)
	found.Cached, found.HasCached = chunk.CachedOf(members.Details)
	found.Reasoned = chunk.ReasonedOf(members.OutDetails)
	return found
}

// responseOf is the response in an event, if it has an error, else the event.
func responseOf(data []byte) []byte {
	var v [1][]byte
	if scan.Members(data, []string{"response"}, v[:]) && !scan.IsNull(v[0]) && refusal.Said(v[0]) != nil {
		return v[0]
	}
	return data
}
