package openai

import (
	"cmp"
	"encoding/json"
)

// A finishReason says why an answer ended. Some servers send an object that names it, such as
// {"type": "length", "length": 16}. Anything else is no reason, and no failure either.
type finishReason string

// UnmarshalJSON takes any value.
func (r *finishReason) UnmarshalJSON(raw []byte) error {
	*r = finishReason(finishOf(raw))
	return nil
}

// finishOf is the finish reason in raw, empty without one.
func finishOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var object struct {
		Type   json.RawMessage `json:"type"`
		Name   json.RawMessage `json:"name"`
		Reason json.RawMessage `json:"reason"`
	}
	_ = json.Unmarshal(raw, &object) // what is no object names none
	return cmp.Or(asText(object.Type), asText(object.Name), asText(object.Reason))
}
