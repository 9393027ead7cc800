package completions_test

import (
	"fmt"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/request"
)

func Example() {
	body := request.Body{Form: completions.Form, Model: "m", Drop: []string{"repetition_penalty", "logprobs", "stream_options"}}
	text, err := body.Encode(&dataset.Turn{TokenIDs: []int{1, 2}, OutputLen: 4})
	fmt.Println(string(text), err)
	// Output: {"model": "m", "prompt": [1, 2], "max_tokens": 4, "stream": true} <nil>
}
