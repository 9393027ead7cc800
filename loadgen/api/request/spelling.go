package request

import (
	"encoding/json"
	"slices"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics/pyjson"
)

// Spelled is src with the messages and the recorded answers of its sessions in the spelling of
// Python's json.dumps. A Body then copies the history of each turn, and need not parse it once for
// every later turn. It does not change the conversations of src, and leaves alone what is no JSON
// and conversations of one turn.
func Spelled(src dataset.Source) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		for c, err := range src {
			if err == nil && len(c.Turns) > 1 {
				c = spelled(c)
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// spelled is c, or a copy of it if something in it is spelled in another way.
func spelled(c *dataset.Conversation) *dataset.Conversation {
	whole, copied := c, false
	for i := range c.Turns {
		messages, other := respelled(c.Turns[i].Messages)
		answer, otherAnswer := respelled(c.Turns[i].Answer)
		if !other && !otherAnswer {
			continue
		}
		if !copied {
			whole, copied = new(*c), true
			whole.Turns = slices.Clone(c.Turns)
		}
		whole.Turns[i].Messages, whole.Turns[i].Answer = messages, answer
	}
	return whole
}

// respelled is raw as json.dumps spells it, and whether raw is spelled in another way.
func respelled(raw json.RawMessage) (text json.RawMessage, other bool) {
	if raw == nil || pyjson.Spelled(raw) {
		return raw, false
	}
	v, err := pyjson.Parse(string(raw))
	if err != nil {
		return raw, false
	}
	return pyjson.Append(make([]byte, 0, len(raw)+len(raw)/8), v), true
}
