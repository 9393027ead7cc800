// Package messages speaks Anthropic's Messages API, which vLLM, llama.cpp, Ollama and gateways serve, too.
//
// Datasets and sessions have the messages of OpenAI's chats. An Encoder turns them into messages of
// this API: the system's text is apart, calls of tools and their results are blocks of content, and
// an image is a source. What is a message of this API already stays as it is.
package messages

import (
	"errors"
	"net/http"
	"slices"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/naming"
	"github.com/servebench/servebench/metrics/pyjson"
)

// version is the version of the API, which it wants in a header.
const version = "2023-06-01"

// Sender returns what sends requests to an endpoint of the API and reads the streams of its answers. It
// adds the header of the version, unless the endpoint has one.
func Sender(to *exchange.Endpoint) engine.Sender {
	to.Protocol = protocol
	if to.Header = to.Header.Clone(); to.Header == nil {
		to.Header = http.Header{}
	}
	if to.Header.Get("Anthropic-Version") == "" {
		to.Header.Set("Anthropic-Version", version)
	}
	return to.Send
}

// Encoder returns what makes the bodies of requests with the settings of body. It is safe for
// concurrent use. The API needs a bound on the length of an answer, so a turn without one is an error,
// unless the settings have it.
func Encoder(body *request.Body) request.Encoder {
	return func(turn *dataset.Turn, _ string) ([]byte, error) {
		object, err := native(body, turn)
		if err != nil {
			return nil, err
		}
		return pyjson.Append(make([]byte, 0, 1024+len(turn.Prompt)+len(turn.Messages)), object), nil
	}
}

// native is the body that sends turn, as this API has it.
func native(body *request.Body, turn *dataset.Turn) (pyjson.Object, error) {
	chat, err := body.Messages(turn)
	if err != nil {
		return nil, err
	}
	list, ok := chat.([]any)
	if !ok {
		return nil, errors.New("the messages are no list")
	}
	asked, err := converted(list)
	if err != nil {
		return nil, err
	}
	object := pyjson.Object{{Key: "model", Value: body.Model}}
	if asked.system != nil {
		object.Set("system", asked.system)
	}
	object.Set("messages", asked.messages)
	object.Set("max_tokens", turn.OutputLen)
	object.Set("stream", true)
	if object, err = body.Members(object, turn); err != nil {
		return nil, err
	}
	object = renamed(object)
	if _, bounded := object.Get("max_tokens"); !bounded && !slices.Contains(body.Drop, "max_tokens") {
		return nil, errNoBound
	}
	return object, nil
}

var errNoBound = &naming.Error{Text: func(by naming.Spelling) string {
	return "the Messages API needs a bound on each answer: give the dataset a number of output tokens, or " +
		by.Given(naming.ExtraBody, `'{"max_tokens": 1024}'`, `{"max_tokens": 1024}`)
}}
