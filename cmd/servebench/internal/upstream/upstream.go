// Package upstream knows the flags of `vllm bench serve`: what the release that servebench follows
// takes, which words and choices each flag has, and its default.
//
// The data are a snapshot of the installed client; tools/vllm has the program that makes it.
package upstream

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"

	"github.com/servebench/servebench/metrics/pyjson"
)

//go:embed vllm-0.33.0.json
var data []byte

// An argument is one value that the client reads from its command line.
type argument struct {
	Name  string   // in Python, as "num_prompts"
	Flags []string // with dashes; two only for a switch and its opposite
	Words string   // "0" for a switch, "" for one word, "*" and "+" for several
	Type  string   // the Python function that reads a word; empty for a switch

	// Default is the value without the flag, in JSON: infinity is "inf", and keys that are tuples
	// are their text. It is nil where the client draws one.
	Default json.RawMessage
}

// arguments are all of them, in the order of the client's parser.
var arguments = sync.OnceValue(func() []argument {
	var s struct{ Arguments []argument }
	if err := json.Unmarshal(data, &s); err != nil {
		panic(err) // the data are part of the program
	}
	return s.Arguments
})

// Flags are the names of all flags, without dashes.
func Flags() (names []string) {
	for _, a := range arguments() {
		for _, flag := range a.Flags {
			names = append(names, strings.TrimPrefix(flag, "--"))
		}
	}
	return names
}

// Given are the words after a flag, by its name without dashes, and whether it was given.
type Given func(flag string) (words []string, ok bool)

// Namespace gives all arguments as the client has them once it has read a command line, as they
// stand in its file for PyTorch: by their names in Python, in the order of its parser, without the
// values of headers. The error is about a word of the wrong type.
func Namespace(given Given) (pyjson.Object, error) {
	var all pyjson.Object
	for _, a := range arguments() {
		value, err := a.value(given)
		if err != nil {
			return nil, err
		}
		all = append(all, pyjson.Member{Key: a.Name, Value: value})
	}
	return lengths(all), nil
}

// lengths sets the arguments that --input-len and --output-len stand for.
func lengths(all pyjson.Object) pyjson.Object {
	if n, _ := all.Get("input_len"); n != nil {
		all = all.With("random_input_len", n)
	}
	if n, _ := all.Get("output_len"); n != nil {
		for _, dataset := range []string{"random", "sharegpt", "custom", "hf", "spec_bench", "prefix_repetition"} {
			all = all.With(dataset+"_output_len", n)
		}
	}
	return all
}

// value is the argument of a command line.
func (a *argument) value(given Given) (any, error) {
	words, ok := given(strings.TrimPrefix(a.Flags[0], "--"))
	switch {
	case !ok && a.Default == nil:
		return nil, nil
	case a.Name == "random_range_ratio":
		return ratio(words)
	case !ok:
		return pyjson.Parse(string(a.Default))
	case a.Words == "0":
		return true, nil
	case a.Name == "header":
		return "***", nil
	case a.Words != "":
		return words, nil
	}
	return a.read(words[0])
}

// ratio is --random-range-ratio as the client reads it in a second step.
func ratio(words []string) (any, error) {
	if len(words) == 0 {
		return 0.0, nil
	}
	return pyjson.Parse(words[0])
}
