package responses_test

import (
	"encoding/json"
	"fmt"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/loadgen/api/responses"
)

// A turn that goes on from an answer that the server has kept.
func ExampleAfter() {
	body := request.Body{Form: responses.Form, Model: "m", Store: true}
	answer := json.RawMessage(`{"role": "assistant", "content": "Hi", "id": "resp_1"}`)
	text, err := responses.After(&body, &dataset.Turn{Prompt: "And then?", OutputLen: 4}, answer)
	fmt.Println(string(text), err)
	// Output: {"model": "m", "input": "And then?", "max_output_tokens": 4, "stream": true, "store": true, "previous_response_id": "resp_1"} <nil>
}
