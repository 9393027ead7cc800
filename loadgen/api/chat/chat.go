// Package chat speaks OpenAI's Chat Completions API.
package chat

import (
	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/chunk"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/metrics/pyjson"
)

// Form is how the API has a body.
var Form = &request.Form{Request: body, Messages: true}

// Protocol is how it answers.
var Protocol = &exchange.Protocol{
	Decoder: func() exchange.Decoder { return &chunk.Decoder{Deltas: true, Trails: true} }, Whole: chunk.Whole,
	Calls: chunk.Calls, Marked: true, Empty: exchange.NeverValid, Cut: exchange.Neither,
}

func body(b *request.Body, turn *dataset.Turn) (pyjson.Object, error) {
	messages, err := b.Messages(turn)
	return b.Streamed(pyjson.Object{
		{Key: "model", Value: b.Model},
		{Key: "messages", Value: messages},
		{Key: "max_completion_tokens", Value: turn.OutputLen},
	}), err
}
