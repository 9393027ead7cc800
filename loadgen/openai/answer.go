package openai

import (
	"encoding/json"
	"slices"

	"github.com/servebench/servebench/loadgen/api/scan"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/record"
)

// Answer is what rec was answered as an assistant's message, as the next turn sends it: its text
// and its tool calls, in the spelling of Python's json.dumps. Templates drop the reasoning of
// earlier turns, so it is part of the message only if rec has kept it. The id of an answer of the
// Responses API is for the Body alone. The request must have had KeepAnswer.
func Answer(rec *record.Record) json.RawMessage {
	message := pyjson.Object{{Key: "role", Value: "assistant"}, {Key: "content", Value: rec.Answer.Text}}
	if rec.Answer.Reasoning != "" {
		message.Set("reasoning", rec.Answer.Reasoning)
	}
	if rec.Answer.Reply != "" {
		message.Set("id", rec.Answer.Reply)
	}
	if rec.Answer.Calls == nil {
		return pyjson.Append(nil, message)
	}
	if rec.Answer.Text == "" {
		message.Set("content", nil)
	}
	text := pyjson.Append(nil, message)
	text = append(text[:len(text)-len("}")], `, "tool_calls": `...)
	return append(append(text, rec.Answer.Calls...), '}')
}

// maxCalls bounds the calls of an answer. A model makes a few at once.
const maxCalls = 1024

// The answerParts are what an answer has apart from its text. Nil answerParts gather nothing.
type answerParts struct {
	reasoning bool // keep it
	thoughts  []byte
	parts     [][]byte // raw lists of parts of calls
	kept      int      // bytes of all of them
}

// size is how many bytes the draft has with p.
func (d *answerParts) size(p *piece) int {
	if d == nil {
		return 0
	}
	return d.kept + len(p.thought) + len(p.calls)
}

func (d *answerParts) add(p *piece) {
	if d.reasoning && p.thought != nil {
		d.kept += len(p.thought)
		d.thoughts = append(d.thoughts, p.thought...)
	}
	if p.calls != nil {
		d.kept += len(p.calls)
		d.parts = append(d.parts, slices.Clone(p.calls))
	}
}

// into completes the record.
func (d *answerParts) into(rec *record.Record) {
	rec.Answer.Reasoning = string(d.thoughts)
	if calls := d.calls(); len(calls) > 0 {
		rec.Answer.Calls = pyjson.Append(nil, calls)
	}
}

// A callPart is what a chunk adds to a tool call. The Responses API gives whole calls, with a CallID.
// The Messages API gives their names and the pieces of their arguments in events with the same Index.
type callPart struct {
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`

	Block struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"content_block"`
	Delta struct {
		Arguments string `json:"partial_json"`
	} `json:"delta"`

	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// A call is what its parts make.
type call struct {
	id        string
	name      string
	arguments []byte
}

// partsOf are the parts of calls in a raw list, or the call or the part in an object.
func partsOf(raw []byte) (parts scan.Few[callPart]) {
	if raw[0] != '{' {
		_ = json.Unmarshal(raw, &parts) // what is not a list has no parts
		return parts
	}
	var one callPart
	switch {
	case json.Unmarshal(raw, &one) != nil:
		return nil
	case one.CallID != "":
		one.ID, one.Function.Name, one.Function.Arguments = one.CallID, one.Name, one.Arguments
	case one.Index != nil:
		one.ID, one.Function.Name, one.Function.Arguments = one.Block.ID, one.Block.Name, one.Delta.Arguments
	default:
		return nil
	}
	return scan.Few[callPart]{one}
}

// calls are the calls that the parts make, as a message has them.
func (d *answerParts) calls() (list []pyjson.Object) {
	var all []*call
	numbered := map[int]*call{}
	for _, raw := range d.parts {
		for _, part := range partsOf(raw) {
			c := part.of(all, numbered)
			if c == nil {
				if len(all) == maxCalls {
					continue
				}
				c = new(call)
				all = append(all, c)
			}
			if part.Index != nil {
				numbered[*part.Index] = c
			}
			c.add(&part)
		}
	}
	for _, c := range all {
		function := pyjson.Object{{Key: "name", Value: c.name}, {Key: "arguments", Value: string(c.arguments)}}
		list = append(list, pyjson.Object{{Key: "id", Value: c.id}, {Key: "type", Value: "function"},
			{Key: "function", Value: function}})
	}
	return list
}

// of is the call that the part goes on with; nil if it begins one. Some servers give no index, and
// some give all calls the same.
func (part *callPart) of(all []*call, numbered map[int]*call) (c *call) {
	if part.Index != nil {
		c = numbered[*part.Index]
	} else if len(all) > 0 {
		c = all[len(all)-1]
	}
	if c != nil && part.ID != "" && c.id != "" && part.ID != c.id {
		return nil
	}
	return c
}

// add adds a part. Some servers repeat id and name in every part.
func (c *call) add(part *callPart) {
	if part.ID != "" {
		c.id = part.ID
	}
	if part.Function.Name != c.name {
		c.name += part.Function.Name
	}
	c.arguments = append(c.arguments, part.Function.Arguments...)
}
