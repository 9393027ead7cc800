package openai

import (
	"bytes"
	"encoding/json"
	"errors"
)

// neverDelta is the message of vLLM's client about an answer of the Responses API without output.
const neverDelta = "Never received a token delta to calculate TTFT.This response will be marked as failed!"

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
	if !members(data, responseEventNames, v[:]) {
		if err := decoded(data, responseEventNames, v[:]); err != nil {
			return err
		}
	}
	var kind []byte
	if !isNull(v[0]) {
		kind = plain(v[0])
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
	p.failed = p.failed || !p.last && truthy(v[4])
	return nil
}

// decoded stores the raw values of the named members of data in values, by encoding/json. What is no
// object has none.
func decoded(data []byte, names []string, values [][]byte) error {
	var object map[string]json.RawMessage
	var odd *json.UnmarshalTypeError
	if err := json.Unmarshal(data, &object); err != nil && !errors.As(err, &odd) {
		return err
	}
	for i, name := range names {
		values[i] = object[name]
	}
	return nil
}

// delta reads what an event adds to the answer, as a part of what to points to.
func (p *piece) delta(raw []byte, output bool, to *[]byte) {
	p.output, p.content, p.answers = output, truthy(raw), truthy(raw)
	if !isNull(raw) && !p.scanText(raw, to) && to != nil {
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
	if isNull(raw) || !members(raw, responseNames, v[:]) && decoded(raw, responseNames, v[:]) != nil {
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
	found := usage{given: truthy(raw) && raw[0] == '{'}
	found.in, found.hasIn = asCount(members.In)
	found.out, found.hasOut = asCount(members.Out)
	found.cached, found.hasCached = cachedOf(members.Details)
	found.reasoned = reasonedOf(members.OutDetails)
	return found
}

// responseOf is the response in an event, if it has an error, else the event.
func responseOf(data []byte) []byte {
	var v [1][]byte
	if members(data, []string{"response"}, v[:]) && !isNull(v[0]) && errorOf(v[0]) != nil {
		return v[0]
	}
	return data
}
