package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
)

func (f *form) workloadFlags() []*flag {
	w := &f.Workload
	return []*flag{
		{name: "dataset-name", meta: "NAME", fallback: "random", set: into(&w.Dataset, parseString),
			choices: builtDatasets, unbuilt: unbuiltDatasets,
			help: "where prompts come from"},
		{name: "dataset-path", meta: "FILE", set: into(&w.Path, parseString),
			help: "the dataset's file, or folder for speed_bench; file takes what servebench dataset printed"},
		{name: "num-prompts", meta: "N", fallback: "1000", set: into(&w.NumPrompts, parseInt),
			help: "requests to send; 0 for all of a custom, spec_bench, speed_bench or file dataset, which file has as its default"},
		{name: "seed", meta: "N", fallback: "0", set: into(&w.Seed, parseInt64),
			help: "seed of prompts and arrival times, 0 to 4294967295"},
		{name: "input-len", meta: "TOKENS", set: intoOptional(&f.inputLen, parseInt),
			help: "sets the prompt length of random and sonnet"},
		{name: "output-len", meta: "TOKENS", set: intoOptional(&f.outputLen, parseInt),
			help: "sets the output length of random, sharegpt, custom, prefix_repetition, sonnet and spec_bench"},
		{name: "random-input-len", meta: "TOKENS", fallback: "1024", set: into(&w.Random.InputLen, parseInt),
			help: "random: prompt tokens, the prefix aside"},
		{name: "random-output-len", meta: "TOKENS", fallback: "128", set: into(&w.Random.OutputLen, parseInt),
			help: "random: output tokens"},
		{name: "random-range-ratio", meta: "RATIO", fallback: "0.0", set: into(&f.rangeRatio, parseString),
			help: `random: lengths vary by this part either way, 0 to below 1, or {"input":R,"output":R}`},
		{name: "random-prefix-len", meta: "TOKENS", fallback: "0", set: into(&w.Random.PrefixLen, parseInt),
			help: "random: tokens before the prompt that all requests share"},
		{name: "sharegpt-output-len", meta: "TOKENS", set: intoOptional(&w.ShareGPTLen, parseInt),
			help: "sharegpt: output tokens (default as long as the recorded answer)"},
		{name: "custom-output-len", meta: "TOKENS", fallback: "256", set: into(&w.Custom.OutputLen, parseInt),
			help: "custom: output tokens; -1 takes each row's output_tokens"},
		{name: "skip-chat-template", args: none, set: switchTo(&w.SkipTemplate, true),
			help: "custom, speed_bench: send prompts without the chat template"},
		{name: "disable-shuffle", args: none, set: switchTo(&w.Shuffle, false),
			help: "keep the order of the dataset's file"},
		{name: "no-oversample", args: none, set: switchTo(&w.Oversample, false),
			help: "do not repeat a dataset that has fewer than --num-prompts"},
		{name: "request-id-prefix", meta: "TEXT", set: into(&w.RequestIDPrefix, parseString),
			help: "what each x-request-id begins with (default bench-<8 random hex digits>-)"},
		{name: "prompt-token-ids", args: none, ours: true, set: switchTo(&w.TokenIDs, true),
			help: "send prompts as token ids; datasets that make them of ids then need no tokenizer"},
		{name: "vocab-size", meta: "N", fallback: "32000", ours: true, set: into(&w.VocabSize, parseInt),
			help: "token ids are below this when there is no tokenizer, or the server's"},
	}
}

func (f *form) resolveWorkload() error {
	w := &f.Workload
	if n := f.inputLen; n != nil {
		w.Random.InputLen, w.Sonnet.InputLen = *n, *n
	}
	if n := f.outputLen; n != nil {
		w.Random.OutputLen, w.ShareGPTLen, w.Custom.OutputLen = *n, n, *n
		w.SpecBench.OutputLen, w.PrefixRepetition.OutputLen, w.Sonnet.OutputLen = *n, *n, *n
	}
	switch {
	case w.Seed < 0 || w.Seed > 1<<32-1:
		return fmt.Errorf("argument --seed: %d: it must be from 0 to 4294967295", w.Seed)
	case w.NumPrompts <= 0 && !slices.Contains([]string{"custom", "spec_bench", "speed_bench", "file"}, w.Dataset):
		return fmt.Errorf("argument --num-prompts: %d: it must be greater than 0", w.NumPrompts)
	case w.VocabSize < 1:
		return fmt.Errorf("argument --vocab-size: %d: it must be greater than 0", w.VocabSize)
	case w.TokenIDs && f.Server.Backend == "openai-chat":
		return errors.New("argument --prompt-token-ids: chat takes no token ids: it needs --backend openai or vllm")
	case fileless(w.Dataset) && w.Path != "":
		return fmt.Errorf("argument --dataset-path: Cannot use '%s' dataset with --dataset-path. Please specify the "+
			"appropriate --dataset-name (e.g., 'sharegpt', 'custom') for your dataset file: %s", w.Dataset, w.Path)
	case !fileless(w.Dataset) && w.Path == "":
		return fmt.Errorf("argument --dataset-name: %s needs --dataset-path", w.Dataset)
	}
	switch w.Dataset {
	case "sharegpt":
		return f.resolveShareGPT()
	case "custom":
		return f.resolveCustom()
	case "random":
		return f.resolveRandom()
	}
	return nil
}

// fileless says whether a dataset is made of nothing.
func fileless(dataset string) bool { return dataset == "random" || dataset == "prefix_repetition" }

func (f *form) resolveRandom() error {
	r := &f.Workload.Random
	switch {
	case r.InputLen < 0:
		return fmt.Errorf("argument --random-input-len: %d: it must not be negative", r.InputLen)
	case r.OutputLen < 0:
		return fmt.Errorf("argument --random-output-len: %d: it must not be negative", r.OutputLen)
	case r.PrefixLen < 0:
		return fmt.Errorf("argument --random-prefix-len: %d: it must not be negative", r.PrefixLen)
	case f.Server.SkipTokenizer && !f.Workload.TokenIDs:
		return errors.New("argument --skip-tokenizer-init: without a tokenizer the random dataset needs --prompt-token-ids")
	}
	var err error
	if r.Ratio, err = parseRatio(f.rangeRatio); err != nil {
		return fmt.Errorf("argument --random-range-ratio: %w", err)
	}
	return nil
}

// parseRatio reads one ratio for both lengths, or an object with one for each.
func parseRatio(text string) (r dataset.RangeRatio, err error) {
	if ratio, err := parseFloat(text); err == nil {
		r.Input, r.Output = ratio, ratio
	} else {
		object, err := parseObject(text)
		input, hasInput := object.Get("input")
		output, hasOutput := object.Get("output")
		if err != nil || len(object) != 2 || !hasInput || !hasOutput {
			return r, fmt.Errorf(`%s: it must be a number, or an object like {"input": 0.1, "output": 0.2}`, quoted(text))
		}
		if r.Input, err = number(input); err != nil {
			return r, fmt.Errorf("input: %w", err)
		}
		if r.Output, err = number(output); err != nil {
			return r, fmt.Errorf("output: %w", err)
		}
	}
	for _, ratio := range []float64{r.Input, r.Output} {
		if !(ratio >= 0 && ratio < 1) {
			return r, fmt.Errorf("%s: it must be from 0 to below 1", metrics.FormatFloat(ratio))
		}
	}
	return r, nil
}

// number is a JSON value that is one.
func number(v any) (float64, error) {
	return parseFloat(string(pyjson.Append(nil, v)))
}

func (f *form) resolveShareGPT() error {
	if f.Server.SkipTokenizer {
		return errors.New("argument --skip-tokenizer-init: the sharegpt dataset needs a tokenizer to measure its prompts")
	}
	if n := f.Workload.ShareGPTLen; n != nil && *n < 1 {
		return fmt.Errorf("argument --sharegpt-output-len: %d: it must be greater than 0", *n)
	}
	return nil
}

func (f *form) resolveCustom() error {
	w := &f.Workload
	switch {
	case !strings.HasSuffix(w.Path, ".jsonl"):
		return fmt.Errorf("argument --dataset-path: %s: a custom dataset's name must end with .jsonl", quoted(w.Path))
	case w.Custom.OutputLen < 1 && w.Custom.OutputLen != -1:
		return fmt.Errorf("argument --custom-output-len: %d: it must be greater than 0, or -1", w.Custom.OutputLen)
	case w.TokenIDs && f.Server.SkipTokenizer:
		return errors.New("argument --prompt-token-ids: the custom dataset needs a tokenizer for it")
	}
	return nil
}
