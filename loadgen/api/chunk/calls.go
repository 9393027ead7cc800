package chunk

import (
	"encoding/json"

	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/scan"
)

// A wireCall is what a chunk adds to a call.
type wireCall struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// Calls is a Protocol's: it reads the list of calls of a chunk or of a message.
func Calls(raw []byte) []exchange.CallPart {
	var list scan.Few[wireCall]
	_ = json.Unmarshal(raw, &list) // what is not a list has no parts
	parts := make([]exchange.CallPart, len(list))
	for i, c := range list {
		parts[i] = exchange.CallPart{Index: c.Index, ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments}
	}
	return parts
}
