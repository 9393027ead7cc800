// Package ollama speaks Ollama's API: /api/chat, and /api/generate for one prompt.
//
// An answer is lines of JSON, and the last has the counts of tokens and how long the server took for what. Settings
// of sampling are options, under names of llama.cpp. Datasets have messages of OpenAI's chats, which become Ollama's:
// contents are texts, images are apart, and the arguments of a call are an object.
package ollama

import (
	"errors"
	"slices"
	"strings"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/naming"
	"github.com/servebench/servebench/metrics/pyjson"
)

// Paths are the endpoints of the API, the usual one first.
var Paths = []string{"/api/chat", "/api/generate"}

// Sampling are the settings of sampling that the API has, under the names of OpenAI's and vLLM's APIs.
var Sampling = []string{
	"temperature", "top_p", "top_k", "min_p", "frequency_penalty", "presence_penalty", "repetition_penalty",
}

// Bounds are the members of a body that bound the answer, by Ollama's name and by others'. All of them become options.
var Bounds = []string{bound, "max_tokens", "max_completion_tokens"}

// bound is the option that bounds the answer.
const bound = "num_predict"

// Bounded reports whether options among the members of a body bound the answer.
func Bounded(members pyjson.Object) bool {
	given, _ := members.Get("options")
	all, _ := given.(pyjson.Object)
	_, bounded := all.Get(bound)
	return bounded
}

// Sender returns what sends requests to an endpoint of the API, which it changes.
func Sender(to *exchange.Endpoint) engine.Sender {
	to.Protocol = protocol
	return to.Send
}

// Encoder returns what makes the bodies of requests with the settings of body, whose Path says for which endpoint. It
// is safe for concurrent use.
func Encoder(body *request.Body) request.Encoder {
	members := chat
	if strings.HasSuffix(body.Path, Paths[1]) {
		members = generate
	}
	return func(turn *dataset.Turn, _ string) ([]byte, error) {
		object, err := members(body, turn)
		if err != nil {
			return nil, err
		}
		object.Set("stream", body.Streams())
		object.Set("max_tokens", turn.OutputLen)
		if object, err = body.Members(object, turn); err != nil {
			return nil, err
		}
		if !body.Streams() { // the server streams unless it is told not to
			object.Set("stream", false)
		}
		return pyjson.Append(make([]byte, 0, 1024+len(turn.Prompt)+len(turn.Messages)), withOptions(object, body.Drop)), nil
	}
}

// chat has the messages of turn.
func chat(body *request.Body, turn *dataset.Turn) (pyjson.Object, error) {
	given, err := body.Messages(turn)
	if err != nil {
		return nil, err
	}
	list, ok := given.([]any)
	if !ok {
		return nil, errors.New("the messages are no list")
	}
	messages, err := converted(list)
	return pyjson.Object{{Key: "model", Value: body.Model}, {Key: "messages", Value: messages}}, err
}

// generate has the prompt of turn as one text, which the server puts into the model's template.
func generate(body *request.Body, turn *dataset.Turn) (pyjson.Object, error) {
	if turn.Messages != nil {
		return nil, &naming.Error{Text: func(by naming.Spelling) string {
			return "/api/generate takes no messages: use " + by.Spell(naming.Endpoint) + " /api/chat"
		}}
	}
	given, err := request.MessagesOf(turn)
	if err != nil {
		return nil, err
	}
	messages, err := converted(given.([]any))
	if err != nil {
		return nil, err
	}
	message := messages[0].(pyjson.Object)
	prompt, _ := message.Get("content")
	object := pyjson.Object{{Key: "model", Value: body.Model}, {Key: "prompt", Value: prompt}}
	if images, there := message.Get("images"); there {
		object.Set("images", images)
	}
	return object, nil
}

// options are the members of a body that Ollama has among its options, by the names that they have elsewhere, with
// Ollama's.
var options = func() map[string]string {
	names := map[string]string{"repetition_penalty": "repeat_penalty"}
	for _, name := range Bounds {
		names[name] = bound
	}
	for _, name := range []string{"repeat_penalty", "repeat_last_n", "temperature", "top_p", "top_k",
		"min_p", "typical_p", "frequency_penalty", "presence_penalty", "seed", "stop", "num_ctx", "num_keep", "num_batch",
		"num_gpu", "main_gpu", "num_thread", "use_mmap"} {
		names[name] = name
	}
	return names
}()

// withOptions is a body with its settings as options, without those to leave out. Of two names of an option the later
// one counts, and options that are there already win. The API has no ignore_eos.
func withOptions(body pyjson.Object, leaveOut []string) pyjson.Object {
	var all, rest, own pyjson.Object
	for _, m := range body {
		name, isOption := options[m.Key]
		given, _ := m.Value.(pyjson.Object) // nothing else is options
		switch {
		case isOption:
			all.Set(name, m.Value)
		case m.Key == "options":
			own = given
		case m.Key != "ignore_eos":
			rest = append(rest, m)
		}
	}
	all = slices.DeleteFunc(all.Merge(own), func(m pyjson.Member) bool { return slices.Contains(leaveOut, m.Key) })
	if len(all) > 0 {
		rest = append(rest, pyjson.Member{Key: "options", Value: all})
	}
	return rest
}
