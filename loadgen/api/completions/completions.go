// Package completions speaks OpenAI's Completions API.
package completions

import (
	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/chunk"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/loadgen/naming"
	"github.com/servebench/servebench/metrics/pyjson"
)

// Form is how the API has a body.
var Form = &request.Form{Request: body, TokenIDs: true}

// Protocol is how it answers.
var Protocol = &exchange.Protocol{
	Decoder: func() exchange.Decoder { return &chunk.Decoder{All: true} }, Whole: chunk.Whole, Calls: chunk.Calls,
	Marked: true, Empty: exchange.NeverValid, Cut: exchange.Neither,
}

func body(b *request.Body, turn *dataset.Turn) (pyjson.Object, error) {
	if turn.Messages != nil {
		return nil, &naming.Error{Text: func(by naming.Spelling) string {
			return "a completions endpoint takes no messages: use " + by.Spell(naming.Backend) + " openai-chat " +
				by.Spell(naming.Endpoint) + " /v1/chat/completions"
		}}
	}
	prompt, err := request.PromptOf(turn)
	var logprobs any
	if b.Logprobs != nil {
		logprobs = *b.Logprobs
	}
	return b.Streamed(pyjson.Object{
		{Key: "model", Value: b.Model},
		{Key: "prompt", Value: prompt},
		{Key: "repetition_penalty", Value: 1.0},
		{Key: "max_tokens", Value: turn.OutputLen},
		{Key: "logprobs", Value: logprobs},
	}), err
}
