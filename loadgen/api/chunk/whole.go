package chunk

import (
	"cmp"
	"encoding/json"

	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/scan"
)

// A wireAnswer is the JSON of an answer that is not streamed.
type wireAnswer struct {
	Choices scan.Few[wireWhole] `json:"choices"`
	Usage   json.RawMessage     `json:"usage"`
	Metrics json.RawMessage     `json:"metrics"`
}

// A wireWhole is a choice of an answer that is not streamed.
type wireWhole struct {
	Text         json.RawMessage `json:"text"`
	Message      wireDelta       `json:"message"`
	FinishReason exchange.Finish `json:"finish_reason"`
}

// Whole is a Protocol's: it reads an answer of completions or of a chat.
func Whole(body []byte, p *exchange.Piece, _ *exchange.Kept) error {
	var a wireAnswer
	if err := scan.Into(body, &a); err != nil {
		return err
	}
	p.Usage, p.Server = usageOf(a.Usage), serverTimes(a.Metrics)
	if len(a.Choices) == 0 {
		return nil
	}
	first := &a.Choices[0]
	(&Decoder{}).choice(&first.Message, scan.Truthy(first.Text), p)
	p.Chunk, p.Finish = true, []byte(first.FinishReason)
	p.Text = []byte(cmp.Or(scan.Text(first.Text), scan.Text(first.Message.Content)))
	p.Thought = []byte(cmp.Or(scan.Text(first.Message.Reasoning), scan.Text(first.Message.ReasoningContent)))
	return nil
}
