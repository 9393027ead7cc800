package chat_test

import (
	"fmt"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/chat"
	"github.com/servebench/servebench/loadgen/api/request"
)

func Example() {
	body := request.Body{Form: chat.Form, Model: "m", PlainText: true, Drop: []string{"stream_options"}}
	text, err := body.Encode(&dataset.Turn{Prompt: "Hi", OutputLen: 4})
	fmt.Println(string(text), err)
	// Output: {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "max_completion_tokens": 4, "stream": true} <nil>
}
