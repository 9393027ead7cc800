package request_test

import (
	"fmt"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/metrics/pyjson"
)

// What a user adds takes the place of what the API has.
func Example() {
	body := request.Body{Form: completions.Form, Model: "m", Extra: pyjson.Object{{Key: "logprobs", Value: 3}}}
	text, err := body.Encode(&dataset.Turn{Prompt: "Hi", OutputLen: 4})
	fmt.Println(string(text), err)
	// Output: {"model": "m", "prompt": "Hi", "repetition_penalty": 1.0, "max_tokens": 4, "logprobs": 3, "stream": true, "stream_options": {"include_usage": true}} <nil>
}
