package messages

import (
	"bytes"
	"encoding/json"

	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/scan"
)

// protocol is how the API answers.
var protocol = &exchange.Protocol{
	Decoder: func() exchange.Decoder { return decoder{} }, Whole: whole, Calls: calls,
	Empty: "the answer has no text, no reasoning and no call",
	Cut:   "the stream ended without a stop reason and without message_stop", Unknown: true,
}

// The members that a load test looks at in an event of Anthropic's Messages API, in its block and in
// its delta. The code takes their values by position.
var (
	messageEventNames = []string{"type", "message", "content_block", "delta", "usage"}
	messageNames      = []string{"usage"}
	blockNames        = []string{"type", "text", "thinking"}
	messageDeltaNames = []string{"type", "text", "thinking", "partial_json", "stop_reason"}
)

// A decoder reads the events of streams.
type decoder struct{}

// Decode is a Decoder's of package exchange. Only the type decides what the event is. What carries text,
// reasoning or a part of a call is output, and so is the begin of a call, which has its name. An empty delta is a
// blank chunk.
func (decoder) Decode(data []byte, p *exchange.Piece) error {
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
		p.Usage = usageOf(usage[0])
		p.Usage.Out = 0 // the answer has only begun
	case "content_block_start":
		begin(v[2], data, p)
	case "content_block_delta":
		delta(v[3], data, p)
	case "message_delta":
		var delta [5][]byte
		scan.Within(v[3], messageDeltaNames, delta[:])
		if !scan.IsNull(delta[4]) {
			p.Finish = []byte(exchange.FinishOf(delta[4]))
		}
		p.Usage = usageOf(v[4])
	case "message_stop":
		p.Last = true
	case "error":
		p.Failed = true
	}
	return nil
}

// begin reads the begin of a content block. event is the whole event.
func begin(raw, event []byte, p *exchange.Piece) {
	var v [3][]byte
	scan.Within(raw, blockNames, v[:])
	switch kind := scan.Kind(v[0]); {
	case string(kind) == "redacted_thinking":
		p.Chunk, p.Output, p.Content = true, true, true
	case bytes.HasSuffix(kind, []byte("tool_use")): // of the client, of the server, of an MCP server
		p.Chunk, p.Output, p.Content, p.Answers = true, true, true, true
		p.Calls = event
	case scan.Truthy(v[1]):
		p.Delta(v[1], true, &p.Text)
	case scan.Truthy(v[2]):
		p.Delta(v[2], true, &p.Thought)
		p.Answers = false
	}
}

// delta reads what an event adds to a content block. event is the whole event.
func delta(raw, event []byte, p *exchange.Piece) {
	var v [5][]byte
	scan.Within(raw, messageDeltaNames, v[:])
	switch string(scan.Kind(v[0])) {
	case "text_delta":
		p.Delta(v[1], true, &p.Text)
	case "thinking_delta":
		p.Delta(v[2], true, &p.Thought)
		p.Answers = false
	case "input_json_delta":
		p.Delta(v[3], true, nil)
		p.Calls = event
	}
	p.Output = p.Content
}

// usageOf returns the counts of the Messages API in raw. The tokens of the prompt come in three
// parts: new ones, those written to the cache and those read from it. Some servers send 0 until
// they know, and no prompt has 0 tokens.
func usageOf(raw json.RawMessage) exchange.Usage {
	var members struct {
		In      json.RawMessage `json:"input_tokens"`
		Out     json.RawMessage `json:"output_tokens"`
		Written json.RawMessage `json:"cache_creation_input_tokens"`
		Read    json.RawMessage `json:"cache_read_input_tokens"`
	}
	_ = json.Unmarshal(raw, &members) // what is not an object has no counts
	found := exchange.Usage{Given: scan.Truthy(raw) && raw[0] == '{'}
	found.Out, found.HasOut = scan.CountOf(members.Out)
	found.Cached, found.HasCached = scan.CountOf(members.Read)
	fresh, _ := scan.CountOf(members.In)
	written, _ := scan.CountOf(members.Written)
	found.In = min(fresh+written+found.Cached, scan.MaxCount)
	found.HasIn = found.In > 0
	return found
}
