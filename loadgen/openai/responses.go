package openai

import (
	"bytes"
	"encoding/json"

	"github.com/servebench/servebench/loadgen/api/scan"
	"github.com/servebench/servebench/loadgen/api/sse"
)

// neverDelta is the message of vLLM's client about an answer of the Responses API without output.
const neverDelta = "Never received a token delta to calculate TTFT.This response will be marked as failed!"

// Responses is the protocol of OpenAI's Responses API.
var Responses = &Protocol{
	request: (*Body).response,
	event:   (*piece).readResponse, whole: (*piece).response, failure: responseOf,
	empty: neverDelta, cut: "the stream ended without response.completed",
	lines: sse.Rules{Joins: true}, agrees: true,
}

// The members that a load test looks at in an event of the Responses API, and in its response. The
// code takes their values by position.
var (
	responseEventNames = []string{"type", "delta", "response", "item", "error"}
	responseNames      = []string{"id", "usage", "incomplete_details"}
)

// readResponse decodes the JSON of one event of the Responses API. Only the type decides what the
// event is. Like vLLM's client since 0.31.0, it counts the deltas of the text and of the reasoning as
// output, and looks for an error in any event except the last.
func (p *piece) readResponse(data []byte) error {
	p.reset()
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
		p.delta(delta, true, &p.text)
	case "response.reasoning_text.delta":
		p.delta(delta, true, &p.thought)
		p.answers = false
	case "response.reasoning_summary_text.delta":
		p.delta(delta, false, nil)
		p.answers = false
	case "response.refusal.delta", "response.function_call_arguments.delta":
		p.delta(delta, false, nil)
	case "response.output_item.done":
		p.scanItem(item)
	case "response.completed", "response.incomplete":
		p.last, p.finish = true, bytes.TrimPrefix(kind, []byte("response."))
		p.scanResponse(response)
	case "error", "response.failed":
		p.failed = true
	}
	p.failed = p.failed || !p.last && scan.Truthy(v[4])
	return nil
}

// delta reads what an event adds to the answer, as a part of what to points to.
func (p *piece) delta(raw []byte, output bool, to *[]byte) {
	p.output, p.content, p.answers = output, scan.Truthy(raw), scan.Truthy(raw)
	if !scan.IsNull(raw) && !p.scanText(raw, to) && to != nil {
		*to = []byte(asText(raw))
	}
	p.choices = true
}

// scanItem reads a whole item of the output, of which only calls count.
func (p *piece) scanItem(raw []byte) {
	if bytes.Contains(raw, []byte(`"function_call"`)) {
		p.calls = raw
	}
}

// scanResponse reads the response itself, as the last event has it.
func (p *piece) scanResponse(raw []byte) {
	var v [3][]byte
	if scan.IsNull(raw) || !scan.Members(raw, responseNames, v[:]) && scan.Decoded(raw, responseNames, v[:]) != nil {
		return
	}
	p.reply = asText(v[0])
	var why struct {
		Reason string `json:"reason"`
	}
	_ = json.Unmarshal(v[2], &why) // what is not an object has no reason
	if why.Reason != "" {
		p.finish = []byte(why.Reason)
	}
	p.usage = responseUsage(v[1])
}

// responseUsage returns the counts of the Responses API in raw.
func responseUsage(raw json.RawMessage) usage {
	var members struct {
		In      json.RawMessage `json:"input_tokens"`
		Out     json.RawMessage `json:"output_tokens"`
		Details json.RawMessage `json:"input_tokens_details"`

		OutDetails json.RawMessage `json:"output_tokens_details"`
	}
	_ = json.Unmarshal(raw, &members) // what is not an object has no counts
	found := usage{given: scan.Truthy(raw) && raw[0] == '{'}
	found.in, found.hasIn = scan.CountOf(members.In)
	found.out, found.hasOut = scan.CountOf(members.Out)
	found.cached, found.hasCached = cachedOf(members.Details)
	found.reasoned = reasonedOf(members.OutDetails)
	return found
}

// responseOf is the response in an event, if it has an error, else the event.
func responseOf(data []byte) []byte {
	var v [1][]byte
	if scan.Members(data, []string{"response"}, v[:]) && !scan.IsNull(v[0]) && errorOf(v[0]) != nil {
		return v[0]
	}
	return data
}
