package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics/pyjson"
)

func (f *form) samplingFlags() []*flag {
	s := &f.Sampling
	return []*flag{
		{name: "temperature", meta: "T", set: intoOptional(&s.Temperature, parseFloat),
			help: "0 is greedy (default the server's choice)"},
		{name: "top-p", meta: "P", set: intoOptional(&f.topP, parseFloat),
			help: "nucleus sampling (default the server's)"},
		{name: "top-k", meta: "K", set: intoOptional(&f.topK, parseInt),
			help: "choose among the K likeliest tokens (default the server's)"},
		{name: "min-p", meta: "P", set: intoOptional(&f.minP, parseFloat),
			help: "least probability relative to the likeliest token (default the server's)"},
		{name: "frequency-penalty", meta: "X", set: intoOptional(&f.frequency, parseFloat),
			help: "penalty by how often a token was generated (default the server's)"},
		{name: "presence-penalty", meta: "X", set: intoOptional(&f.presence, parseFloat),
			help: "penalty for tokens that were generated (default the server's)"},
		{name: "repetition-penalty", meta: "X", set: intoOptional(&f.repetition, parseFloat),
			help: "penalty for repeating prompt or output (default 1.0 for completions, the server's for chat)"},
		{name: "logprobs", meta: "N", set: intoOptional(&s.Logprobs, parseInt),
			help: "log probabilities to ask for per token; completions only (default none)"},
		{name: "ignore-eos", args: none, set: switchTo(&s.IgnoreEOS, true),
			help: "generate to the full output length; always on for the random dataset"},
		{name: "extra-body", meta: "JSON", set: into(&f.extraBody, parseObject),
			help: "members to set in every body, over all other flags; also as --extra-body.a.b VALUE"},
		{name: "drop-body", meta: "NAMES", ours: true, set: into(&s.Drop, parseNames),
			help: "leave these members out of every body, as ignore_eos,repetition_penalty,logprobs for servers that refuse what they do not know"},
		{name: "chat-content", meta: "KIND", ours: true, choices: []string{"parts", "string"}, set: into(&s.PlainText, isPlainText),
			help: "send the text of a chat's messages as a list of parts, as vLLM's client does (the default), or as a string"},
		{name: "continuous-usage-stats", args: none, ours: true, set: switchTo(&s.UsageAlways, true),
			help: "ask for the token count with every chunk: tells tokens from chunks, and makes chunks longer"},
		{name: "use-beam-search", args: none, set: nothing,
			help: "no effect, as in vllm bench serve"},
	}
}

func (f *form) resolveSampling() error {
	s := &f.Sampling
	s.IgnoreEOS = s.IgnoreEOS || f.Workload.Dataset == "random" || f.Workload.Dataset == "timed_trace"
	// The order is the one in which vLLM's client puts them into the body.
	var given pyjson.Object
	given = member(given, "top_p", f.topP)
	given = member(given, "top_k", f.topK)
	given = member(given, "min_p", f.minP)
	given = member(given, "temperature", s.Temperature)
	given = member(given, "frequency_penalty", f.frequency)
	given = member(given, "presence_penalty", f.presence)
	given = member(given, "repetition_penalty", f.repetition)
	s.ExtraBody = given.Merge(f.extraBody)
	return f.checkDropped()
}

// checkDropped refuses to leave out of the bodies what the load cannot do without, and
// what they never have.
func (f *form) checkDropped() error {
	s := &f.Sampling
	for _, name := range s.Drop {
		_, extra := s.ExtraBody.Get(name)
		switch why := needed[name]; {
		case why != "":
			return fmt.Errorf("argument --drop-body: %s: %s", name, why)
		case name == "stream_options" && s.UsageAlways:
			return errors.New("argument --drop-body: stream_options: --continuous-usage-stats asks in it: give one of the two")
		case !extra && !slices.Contains(droppable, name):
			return fmt.Errorf("argument --drop-body: %s: no body has it: bodies have %s, and what --extra-body sets", quoted(name), strings.Join(droppable, ", "))
		case name == "stream_options":
			f.Warnings = append(f.Warnings, "--drop-body stream_options: most servers then tell no token counts: a tokenizer counts, or each answer is one token")
		}
	}
	return nil
}

// needed are members that a body must have, with the reason.
var needed = map[string]string{
	"model":    "the server would choose the model",
	"prompt":   "there would be nothing to answer",
	"messages": "there would be nothing to answer",
	"stream":   "an answer that comes as one has no TTFT and no ITL",
}

// droppable are the other members that bodies of servebench's have.
var droppable = []string{"ignore_eos", "logprobs", "max_completion_tokens", "max_tokens", "repetition_penalty", "stream_options"}

// parseNames reads names with commas between.
func parseNames(text string) ([]string, error) {
	var names []string
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name == "" {
			return nil, fmt.Errorf("%s: there must be a name on each side of a comma", quoted(text))
		}
		names = append(names, name)
	}
	return names, nil
}

func isPlainText(kind string) (bool, error) { return kind == "string", nil }

// member appends a member when there is a value for it.
func member[T any](o pyjson.Object, key string, value *T) pyjson.Object {
	if value == nil {
		return o
	}
	return append(o, pyjson.Member{Key: key, Value: *value})
}
