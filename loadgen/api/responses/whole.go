package responses

import (
	"cmp"
	"encoding/json"

	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/scan"
)

// A wireAnswer is the JSON of an answer that is not streamed.
type wireAnswer struct {
	ID         string                    `json:"id"`
	Status     string                    `json:"status"`
	Incomplete struct{ Reason string }   `json:"incomplete_details"`
	Output     scan.Few[json.RawMessage] `json:"output"`
	Usage      json.RawMessage           `json:"usage"`
}

// A wireItem is an item of the output.
type wireItem struct {
	Type    string          `json:"type"`
	Content json.RawMessage `json:"content"`
}

// whole reads an answer that is not streamed.
func whole(body []byte, p *exchange.Piece, kept *exchange.Kept) error {
	var a wireAnswer
	if err := scan.Into(body, &a); err != nil {
		return err
	}
	p.Usage, p.Reply = usageOf(a.Usage), a.ID
	p.Finish = []byte(cmp.Or(a.Incomplete.Reason, a.Status))
	p.Chunk = a.Status == "completed" || a.Status == "incomplete"
	p.Failed = !p.Chunk && a.Status != ""
	for _, raw := range a.Output {
		var item wireItem
		_ = json.Unmarshal(raw, &item) // what is no item has no type
		switch text := scan.Text(item.Content); item.Type {
		case "message":
			p.Text = append(p.Text, text...)
		case "reasoning":
			p.Thought = append(p.Thought, text...)
		case "function_call":
			kept.Call(raw)
		}
	}
	p.Content = len(p.Text)+len(p.Thought) > 0 || kept.Called()
	return nil
}

// calls reads an item of the output that is a call.
func calls(raw []byte) []exchange.CallPart {
	var item struct {
		ID        string `json:"call_id"`
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	if json.Unmarshal(raw, &item) != nil || item.ID == "" {
		return nil
	}
	return []exchange.CallPart{{ID: item.ID, Name: item.Name, Arguments: item.Arguments, Whole: true}}
}
