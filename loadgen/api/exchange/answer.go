package exchange

import (
	"encoding/json"
	"slices"

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

// Kept is what a record keeps of an answer apart from its text: its reasoning and its calls. Nil keeps nothing.
type Kept struct {
	reasoning bool // keep it
	thoughts  []byte
	calls     [][]byte // as the Protocol's Calls reads them
	size      int      // bytes of all of them
}

// with is how many bytes k has with p.
func (k *Kept) with(p *Piece) int {
	if k == nil {
		return 0
	}
	return k.size + len(p.Thought) + len(p.Calls)
}

// add keeps what p adds.
func (k *Kept) add(p *Piece) {
	if k.reasoning && p.Thought != nil {
		k.size += len(p.Thought)
		k.thoughts = append(k.thoughts, p.Thought...)
	}
	if p.Calls != nil {
		k.Call(p.Calls)
	}
}

// Call keeps a copy of calls, as the Protocol's Calls reads them.
func (k *Kept) Call(raw []byte) {
	k.size += len(raw)
	k.calls = append(k.calls, slices.Clone(raw))
}

// Called reports whether it has calls.
func (k *Kept) Called() bool { return k.calls != nil }

// into completes the record.
func (k *Kept) into(rec *record.Record, api *Protocol) {
	rec.Answer.Reasoning = string(k.thoughts)
	if calls := k.message(api); len(calls) > 0 {
		rec.Answer.Calls = pyjson.Append(nil, calls)
	}
}

// A CallPart is what a Piece adds to a call of a tool, or a whole call.
type CallPart struct {
	Index     *int   // of the call; nil if the server gives none
	ID        string // of the call; empty in later parts, except from some servers
	Name      string
	Arguments string
	Whole     bool // it is a whole call, and no part of the one before
}

// A call is what its parts make.
type call struct {
	id        string
	name      string
	arguments []byte
}

// message are the calls that the parts make, as a message has them.
func (k *Kept) message(api *Protocol) (list []pyjson.Object) {
	var all []*call
	numbered := map[int]*call{}
	for _, raw := range k.calls {
		for _, part := range api.Calls(raw) {
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
func (part *CallPart) of(all []*call, numbered map[int]*call) (c *call) {
	if part.Whole {
		return nil
	}
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
func (c *call) add(part *CallPart) {
	if part.ID != "" {
		c.id = part.ID
	}
	if part.Name != c.name {
		c.name += part.Name
	}
	c.arguments = append(c.arguments, part.Arguments...)
}
