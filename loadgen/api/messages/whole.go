package messages

import (
	"encoding/json"
	"strings"

	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/scan"
)

// A wireAnswer is the JSON of an answer that is not streamed.
type wireAnswer struct {
	Content    scan.Few[json.RawMessage] `json:"content"`
	StopReason exchange.Finish           `json:"stop_reason"`
	Usage      json.RawMessage           `json:"usage"`
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

// whole reads an answer that is not streamed.
func whole(body []byte, p *exchange.Piece, kept *exchange.Kept) error {
	var a wireAnswer
	if err := scan.Into(body, &a); err != nil {
		return err
	}
	p.Usage, p.Finish = usageOf(a.Usage), []byte(a.StopReason)
	for i, raw := range a.Content {
		var block wireBlock
		_ = json.Unmarshal(raw, &block) // what is no block has no type
		p.Text = append(p.Text, block.Text...)
		p.Thought = append(p.Thought, block.Thought...)
		if strings.HasSuffix(block.Type, "tool_use") {
			// texts have no errors
			call, _ := json.Marshal(wireCall{&i, wireBlock{ID: block.ID, Name: block.Name}, wireDelta{string(block.Input)}})
			kept.Call(call)
		}
	}
	p.Content = len(p.Text)+len(p.Thought) > 0 || kept.Called()
	p.Chunk = p.Content
	return nil
}

// A wireCall is an event with a part of a call: the begin of its block, or what a delta adds to it.
type wireCall struct {
	Index *int      `json:"index"`
	Block wireBlock `json:"content_block"`
	Delta wireDelta `json:"delta"`
}

// A wireDelta is a part of the arguments of a call.
type wireDelta struct {
	Arguments string `json:"partial_json"`
}

// calls reads an event with a part of a call.
func calls(raw []byte) []exchange.CallPart {
	var e wireCall
	if json.Unmarshal(raw, &e) != nil || e.Index == nil {
		return nil
	}
	return []exchange.CallPart{{Index: e.Index, ID: e.Block.ID, Name: e.Block.Name, Arguments: e.Delta.Arguments}}
}
