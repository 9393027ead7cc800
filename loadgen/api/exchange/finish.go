package exchange

import (
	"cmp"
	"encoding/json"

	"github.com/servebench/servebench/loadgen/api/scan"
)

// Finish says why an answer ended. Some servers send an object that names it, such as
// {"type": "length", "length": 16}. Anything else is no reason, and no failure either.
type Finish string

// UnmarshalJSON takes any value.
func (r *Finish) UnmarshalJSON(raw []byte) error {
	*r = Finish(FinishOf(raw))
	return nil
}

// FinishOf is the finish reason in raw, empty without one.
func FinishOf(raw json.RawMessage) string {
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
	return cmp.Or(scan.Text(object.Type), scan.Text(object.Name), scan.Text(object.Reason))
}
