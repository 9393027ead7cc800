package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/servebench/servebench/loadgen/api/scan"
)

// Messages is the protocol of Anthropic's Messages API.
var Messages = &Protocol{
	event: (*piece).readMessage, whole: (*piece).message,
	empty: "the answer has no text, no reasoning and no call",
	cut:   "the stream ended without a stop reason and without message_stop", unknown: true,
}

// The members that a load test looks at in an event of Anthropic's Messages API, in its block and in
// its delta. The code takes their values by position.
var (
	messageEventNames = []string{"type", "message", "content_block", "delta", "usage"}
	messageNames      = []string{"usage"}
	blockNames        = []string{"type", "text", "thinking"}
	messageDeltaNames = []string{"type", "text", "thinking", "partial_json", "stop_reason"}
)

// readMessage decodes the JSON of one event of Anthropic's Messages API. Only the type decides what the
// event is. What carries text, reasoning or a part of a call is output, and so is the begin of a call,
// which has its name. An empty delta is a blank chunk.
func (p *piece) readMessage(data []byte) error {
	p.reset()
	var v [5][]byte
	if !scan.Members(data, messageEventNames, v[:]) {
		if err := scan.Decoded(data, messageEventNames, v[:]); err != nil {
			return err
		}
	}
	switch kind := scan.Kind(v[0]); string(kind) {
	case "message_start":
		var usage [1][]byte
		scan.Within(v[1], messageNames, usage[:])
		p.usage = messageUsage(usage[0])
		p.usage.out = 0 // the answer has only begun
	case "content_block_start":
		p.block(v[2], data)
	case "content_block_delta":
		p.messageDelta(v[3], data)
	case "message_delta":
		var delta [5][]byte
		scan.Within(v[3], messageDeltaNames, delta[:])
		if !scan.IsNull(delta[4]) {
			p.finish = []byte(finishOf(delta[4]))
		}
		p.usage = messageUsage(v[4])
	case "message_stop":
		p.last = true
	case "error":
		p.failed = true
	}
	return nil
}

// block reads the begin of a content block. event is the whole event.
func (p *piece) block(raw, event []byte) {
	var v [3][]byte
	scan.Within(raw, blockNames, v[:])
	switch kind := scan.Kind(v[0]); {
	case string(kind) == "redacted_thinking":
		p.choices, p.output, p.content = true, true, true
	case bytes.HasSuffix(kind, []byte("tool_use")): // of the client, of the server, of an MCP server
		p.choices, p.output, p.content, p.answers = true, true, true, true
		p.calls = event
	case scan.Truthy(v[1]):
		p.delta(v[1], true, &p.text)
	case scan.Truthy(v[2]):
		p.delta(v[2], true, &p.thought)
		p.answers = false
	}
}

// messageDelta reads what an event adds to a content block. event is the whole event.
func (p *piece) messageDelta(raw, event []byte) {
	var v [5][]byte
	scan.Within(raw, messageDeltaNames, v[:])
	switch string(scan.Kind(v[0])) {
	case "text_delta":
		p.delta(v[1], true, &p.text)
	case "thinking_delta":
		p.delta(v[2], true, &p.thought)
		p.answers = false
	case "input_json_delta":
		p.delta(v[3], true, nil)
		p.calls = event
	}
	p.output = p.content
}

// messageUsage returns the counts of the Messages API in raw. The tokens of the prompt come in three
// parts: new ones, those written to the cache and those read from it. Some servers send 0 until
// they know, and no prompt has 0 tokens.
func messageUsage(raw json.RawMessage) usage {
	var members struct {
		In      json.RawMessage `json:"input_tokens"`
		Out     json.RawMessage `json:"output_tokens"`
		Written json.RawMessage `json:"cache_creation_input_tokens"`
		Read    json.RawMessage `json:"cache_read_input_tokens"`
	}
	_ = json.Unmarshal(raw, &members) // what is not an object has no counts
	found := usage{given: scan.Truthy(raw) && raw[0] == '{'}
	found.out, found.hasOut = scan.CountOf(members.Out)
	found.cached, found.hasCached = scan.CountOf(members.Read)
	fresh, _ := scan.CountOf(members.In)
	written, _ := scan.CountOf(members.Written)
	found.in = min(fresh+written+found.cached, scan.MaxCount)
	found.hasIn = found.in > 0
	return found
}

// A wireBlock is a content block of an answer that is not streamed.
type wireBlock struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Thought string          `json:"thinking"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
}

// message reads an answer of the Messages API, and its calls into kept.
func (p *piece) message(a *wireAnswer, kept *answerParts) {
	p.usage, p.finish = messageUsage(a.Usage), []byte(a.StopReason)
	for _, raw := range a.Content {
		var block wireBlock
		_ = json.Unmarshal(raw, &block) // what is no block has no type
		p.text = append(p.text, block.Text...)
		p.thought = append(p.thought, block.Thought...)
		if strings.HasSuffix(block.Type, "tool_use") {
			// texts have no errors
			call, _ := json.Marshal(callPart{CallID: block.ID, Name: block.Name, Arguments: string(block.Input)})
			kept.add(&piece{calls: call})
		}
	}
	p.content = len(p.text)+len(p.thought) > 0 || kept.parts != nil
	p.choices = p.content
}
