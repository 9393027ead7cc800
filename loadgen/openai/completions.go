package openai

import (
	"errors"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics/pyjson"
)

// Completions is the protocol of OpenAI's Completions API.
var Completions = &Protocol{
	request: (*Body).completion, ids: true,
	event: readChunk, whole: (*piece).completion, counted: true,
	marked: true, empty: neverValid, cut: neither,
}

func (b *Body) completion(turn *dataset.Turn) (pyjson.Object, error) {
	if turn.Messages != nil {
		return nil, errors.New("a completions endpoint takes no messages: use --backend openai-chat --endpoint " +
			"/v1/chat/completions")
	}
	prompt, err := promptOf(turn)
	var logprobs any
	if b.Logprobs != nil {
		logprobs = *b.Logprobs
	}
	return b.streamed(pyjson.Object{
		{Key: "model", Value: b.Model},
		{Key: "prompt", Value: prompt},
		{Key: "repetition_penalty", Value: 1.0},
		{Key: "max_tokens", Value: turn.OutputLen},
		{Key: "logprobs", Value: logprobs},
	}), err
}
