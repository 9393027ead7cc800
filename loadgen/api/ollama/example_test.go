package ollama_test

import (
	"fmt"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/ollama"
	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/metrics/pyjson"
)

// Settings of sampling are options.
func ExampleEncoder() {
	body := &request.Body{Model: "m", Path: "/api/generate", Extra: pyjson.Object{{Key: "temperature", Value: 0.0}, {Key: "keep_alive", Value: "5m"}}}
	text, err := ollama.Encoder(body)(&dataset.Turn{Prompt: "Hi", OutputLen: 4}, "")
	fmt.Println(string(text), err)
	// Output: {"model": "m", "prompt": "Hi", "stream": true, "keep_alive": "5m", "options": {"num_predict": 4, "temperature": 0.0}} <nil>
}
