package main

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/servebench/servebench/dataset/jinja"
)

// datasetFlags are the flags of single datasets, beside random, sharegpt and
// custom.
func (f *form) datasetFlags() []*flag {
	w := &f.Workload
	p, s, trace := &w.PrefixRepetition, &w.Sonnet, &w.TimedTrace
	return []*flag{
		{name: "prefix-repetition-prefix-len", meta: "TOKENS", fallback: "256", set: into(&p.PrefixLen, parseInt),
			help: "prefix_repetition: tokens of each prefix"},
		{name: "prefix-repetition-suffix-len", meta: "TOKENS", fallback: "256", set: into(&p.SuffixLen, parseInt),
			help: "prefix_repetition: tokens after the prefix"},
		{name: "prefix-repetition-num-prefixes", meta: "N", fallback: "10", set: into(&p.NumPrefixes, parseInt),
			help: "prefix_repetition: prefixes"},
		{name: "prefix-repetition-output-len", meta: "TOKENS", fallback: "128", set: into(&p.OutputLen, parseInt),
			help: "prefix_repetition: output tokens"},
		{name: "sonnet-input-len", meta: "TOKENS", fallback: "550", set: into(&s.InputLen, parseInt),
			help: "sonnet: prompt tokens, about; vLLM dropped the dataset in 0.32.0"},
		{name: "sonnet-output-len", meta: "TOKENS", fallback: "150", set: into(&s.OutputLen, parseInt),
			help: "sonnet: output tokens"},
		{name: "sonnet-prefix-len", meta: "TOKENS", fallback: "200", set: into(&s.PrefixLen, parseInt),
			help: "sonnet: tokens that all prompts begin with, about"},
		{name: "spec-bench-output-len", meta: "TOKENS", fallback: "256", set: into(&w.SpecBench.OutputLen, parseInt),
			help: "spec_bench: output tokens"},
		{name: "spec-bench-category", meta: "NAME", set: into(&w.SpecBench.Category, parseString),
			help: "spec_bench: only questions of this category"},
		{name: "speed-bench-dataset-subset", meta: "NAME", fallback: "qualitative", set: into(&w.SpeedBench.Subset, parseString),
			choices: []string{"qualitative", "throughput_1k", "throughput_2k", "throughput_8k", "throughput_16k", "throughput_32k"},
			help:    "speed_bench: the file to take"},
		{name: "speed-bench-output-len", meta: "TOKENS", fallback: "4096", set: into(&w.SpeedBench.OutputLen, parseInt),
			help: "speed_bench: output tokens"},
		{name: "speed-bench-category", meta: "NAME", set: into(&w.SpeedBench.Category, parseString),
			help: "speed_bench: only prompts of this category"},
		{name: "timed-trace-chunk-hash-size", meta: "TOKENS", fallback: "16", set: into(&trace.ChunkSize, parseInt),
			help: "timed_trace: tokens that a hash id stands for"},
		{name: "timed-trace-sec-multiplier", meta: "SECONDS", fallback: "1", set: into(&trace.Multiplier, parseFloat),
			help: "timed_trace: seconds in a unit of the timestamps"},
		{name: "timed-trace-label-timestamp", meta: "NAME", fallback: "timestamp", set: into(&trace.Labels.Timestamp, parseString),
			help: "timed_trace: field of the timestamp"},
		{name: "timed-trace-label-input-length", meta: "NAME", fallback: "input_length", set: into(&trace.Labels.InputLength, parseString),
			help: "timed_trace: field of the prompt's length"},
		{name: "timed-trace-label-output-length", meta: "NAME", fallback: "output_length", set: into(&trace.Labels.OutputLength, parseString),
			help: "timed_trace: field of the output's length"},
		{name: "timed-trace-label-hash-ids", meta: "NAME", fallback: "hash_ids", set: into(&trace.Labels.HashIDs, parseString),
			help: "timed_trace: field of the hash ids"},
		{name: "self-timed", args: none, set: switchTo(&f.selfTimed, new(true)),
			help: "send at the times in the dataset: on for timed_trace, and for file unless a rate is given"},
		{name: "no-self-timed", args: none, set: switchTo(&f.selfTimed, new(false)),
			help: "send by --request-rate instead"},
		{name: "chat-template-kwargs", meta: "JSON", set: into(&w.TemplateKwargs, jinja.ParseKwargs),
			help: "further variables for the chat template"},
		{name: "stats", args: none, ours: true, set: switchTo(&w.Stats, true),
			help: "of servebench dataset: print a histogram of lengths instead"},
	}
}

// hasOwnTimes says whether a dataset says when its requests are sent.
func hasOwnTimes(dataset string) bool { return dataset == "timed_trace" || dataset == "file" }

// resolveTimes decides whose times count.
func (f *form) resolveTimes() error {
	w := &f.Workload
	w.SelfTimed = hasOwnTimes(w.Dataset)
	if f.selfTimed == nil {
		if rated := f.Traffic.RampUp != nil || f.Traffic.Curve != nil || !math.IsInf(f.Traffic.RequestRate, 1); w.SelfTimed && rated {
			w.SelfTimed = w.Dataset != "file"
			if w.SelfTimed {
				f.Warnings = append(f.Warnings, "--request-rate and ramp-up have no effect on timed_trace without --no-self-timed")
			}
		}
		return nil
	}
	if *f.selfTimed && !w.SelfTimed {
		return fmt.Errorf("argument --self-timed: the %s dataset has no times of its own", w.Dataset)
	}
	w.SelfTimed = *f.selfTimed
	return nil
}

// resolveDatasets checks what single datasets need of the rest.
func (f *form) resolveDatasets() error {
	w := &f.Workload
	measured := w.Dataset == "sonnet" || w.Dataset == "timed_trace" && f.Server.Backend == "openai-chat"
	switch {
	case measured && f.Server.SkipTokenizer:
		return fmt.Errorf("argument --skip-tokenizer-init: the %s dataset needs a tokenizer", w.Dataset)
	case w.Dataset == "timed_trace" && w.TokenIDs:
		return errors.New("argument --prompt-token-ids: timed_trace sends ids where the endpoint takes them, of itself")
	case w.Dataset == "file" && w.TokenIDs:
		return errors.New("argument --prompt-token-ids: what a file holds is sent as it is")
	case w.Dataset == "burstgpt" && !strings.HasSuffix(w.Path, ".csv"):
		return fmt.Errorf("argument --dataset-path: %s: a burstgpt dataset's name must end with .csv", quoted(w.Path))
	}
	return nil
}
