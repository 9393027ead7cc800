package hf

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/jinja"
	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/table"
	"github.com/servebench/servebench/metrics/pyjson"
)

// bfcl asks for calls of functions: the Berkeley Function Calling Leaderboard.
var bfcl = &class{
	repositories: []string{BFCL}, noSubset: true, outputLen: 512, fitting: ": they need a question and a function",
	columns: []string{"question", "function"}, turn: call, open: (*opened).categories,
}

// BFCL is the repository whose requests have tools.
const BFCL = "gorilla-llm/Berkeley-Function-Calling-Leaderboard"

// defaultCategories are the categories that vLLM's client takes.
var defaultCategories = []string{"simple", "live_simple", "multiple"}

// categories opens the file of each category. Their rows come in turn, and are then shuffled by a
// generator that nothing else uses.
func (o *opened) categories() (store, []int, error) {
	names := o.of.Categories
	if len(names) == 0 {
		names = defaultCategories
	}
	paths := make([]string, len(names))
	for i, name := range names {
		var err error
		if paths[i], err = o.place.File("BFCL_v3_" + name + ".json"); err != nil {
			return nil, nil, fmt.Errorf("argument --bfcl-categories: %s: %w, or name other categories", name, err)
		}
	}
	t, err := table.Open(paths)
	if err != nil {
		return nil, nil, err
	}
	if o.template, err = o.of.ChatTemplate.Open(); err != nil {
		o.of.Notice("%s: prompts are counted without a chat template: %v", o.of.Path, err)
	}
	order := inTurn(t.Lens())
	if !o.of.DisableShuffle {
		nprand.NewPython(o.of.Seed).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	return t, order, nil
}

// inTurn is the first row of each file, then the second row of each, and so on.
func inTurn(lens []int) (order []int) {
	for i, left := 0, true; left; i++ {
		left = false
		first := 0
		for _, n := range lens {
			if i < n {
				order, left = append(order, first+i), true
			}
			first += n
		}
	}
	return order
}

// call asks for a call of one of the row's functions. Only the first turn of a conversation counts.
func call(o *opened, row pyjson.Object) (*dataset.Turn, error) {
	question, _ := row.Get("question")
	turns, _ := question.([]any)
	functions, ok := row.Get("function")
	if len(turns) == 0 || !ok {
		return nil, nil
	}
	messages, _ := turns[0].([]any)
	list, several := functions.([]any)
	if one, single := functions.(pyjson.Object); single && len(one) > 0 {
		list, several = []any{one}, true
	}
	if len(messages) == 0 || !several || len(list) == 0 {
		return nil, nil
	}
	tools := make([]any, len(list))
	for i, function := range list {
		tools[i] = pyjson.Object{{Key: "type", Value: "function"}, {Key: "function", Value: strict(function)}}
	}
	turn := &dataset.Turn{
		Prompt: contentOf(messages[len(messages)-1]), Messages: pyjson.Append(nil, messages), OutputLen: o.class.outputLen,
		Payload: &dataset.Payload{Members: pyjson.Append(
			nil, pyjson.Object{{Key: "tools", Value: tools}, {Key: "tool_choice", Value: "auto"}})},
	}
	if o.of.OutputLen != nil {
		turn.OutputLen = *o.of.OutputLen
	}
	turn.PromptLen = o.of.Tokenizer.Count(o.rendered(turn.Messages, messages, tools), true)
	return turn, nil
}

// rendered is the text of a conversation with tools, to count its tokens: by the chat template, or the
// texts of the messages if the template cannot render them.
func (o *opened) rendered(spelled json.RawMessage, messages, tools []any) string {
	if o.template != nil {
		kwargs, err := jinja.ParseKwargs(string(pyjson.Append(nil, pyjson.Object{{Key: "tools", Value: tools}})))
		if err == nil {
			if text, err := o.template.RenderJSON(spelled, kwargs); err == nil {
				return text
			}
		}
	}
	texts := make([]string, len(messages))
	for i, m := range messages {
		texts[i] = contentOf(m)
	}
	return strings.Join(texts, "\n")
}

// contentOf is the text of a message; empty if it has none.
func contentOf(message any) string {
	object, _ := message.(pyjson.Object)
	content, _ := object.Get("content")
	text, _ := content.(string)
	return text
}

// types are the types of JSON Schema for the leaderboard's.
var types = map[string]string{"dict": "object", "float": "number", "tuple": "array", "any": "string"}

// strict is a schema in the words of JSON Schema.
func strict(schema any) any {
	switch v := schema.(type) {
	case pyjson.Object:
		object := make(pyjson.Object, len(v))
		for i, m := range v {
			object[i] = pyjson.Member{Key: m.Key, Value: strict(m.Value)}
			if name, ok := m.Value.(string); ok && m.Key == "type" && types[name] != "" {
				object[i].Value = types[name]
			}
		}
		return object
	case []any:
		list := make([]any, len(v))
		for i, element := range v {
			list[i] = strict(element)
		}
		return list
	}
	return schema
}
