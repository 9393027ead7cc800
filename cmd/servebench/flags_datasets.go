package main

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/dataset/jinja"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/metrics/pyjson"
)

// datasetFlags are those of single datasets, beside random, sharegpt and custom.
type datasetFlags struct {
	*options
	selfTimed *bool
}

func (g *datasetFlags) define(f *argv.Flags) {
	w := &g.Workload
	p, s, trace := &w.PrefixRepetition, &w.Sonnet, &w.TimedTrace
	f.IntVar(&p.PrefixLen, "prefix-repetition-prefix-len", 256, "`TOKENS` prefix_repetition: tokens of each prefix")
	f.IntVar(&p.SuffixLen, "prefix-repetition-suffix-len", 256, "`TOKENS` prefix_repetition: tokens after the prefix")
	f.IntVar(&p.NumPrefixes, "prefix-repetition-num-prefixes", 10, "`N` prefix_repetition: prefixes")
	f.IntVar(&p.OutputLen, "prefix-repetition-output-len", 128, "`TOKENS` prefix_repetition: output tokens")
	f.IntVar(&s.InputLen, "sonnet-input-len", 550, "`TOKENS` sonnet: prompt tokens, about; vLLM dropped the dataset in 0.32.0")
	f.IntVar(&s.OutputLen, "sonnet-output-len", 150, "`TOKENS` sonnet: output tokens")
	f.IntVar(&s.PrefixLen, "sonnet-prefix-len", 200, "`TOKENS` sonnet: tokens that all prompts begin with, about")
	f.IntVar(&w.SpecBench.OutputLen, "spec-bench-output-len", 256, "`TOKENS` spec_bench: output tokens")
	f.StringVar(&w.SpecBench.Category, "spec-bench-category", "", "`NAME` spec_bench: only questions of this category")
	f.StringVar(&w.SpeedBench.Subset, "speed-bench-dataset-subset", "qualitative", "`NAME` speed_bench: the file to take")
	f.IntVar(&w.SpeedBench.OutputLen, "speed-bench-output-len", 4096, "`TOKENS` speed_bench: output tokens")
	f.StringVar(&w.SpeedBench.Category, "speed-bench-category", "", "`NAME` speed_bench: only prompts of this category")
	f.IntVar(&trace.ChunkSize, "timed-trace-chunk-hash-size", 16, "`TOKENS` timed_trace: tokens that a hash id stands for")
	f.Float64Var(&trace.Multiplier, "timed-trace-sec-multiplier", 1, "`SECONDS` timed_trace: seconds in a unit of the timestamps")
	f.StringVar(&trace.Labels.Timestamp, "timed-trace-label-timestamp", "timestamp", "`NAME` timed_trace: field of the timestamp")
	f.StringVar(&trace.Labels.InputLength, "timed-trace-label-input-length", "input_length", "`NAME` timed_trace: field of the prompt's length")
	f.StringVar(&trace.Labels.OutputLength, "timed-trace-label-output-length", "output_length", "`NAME` timed_trace: field of the output's length")
	f.StringVar(&trace.Labels.HashIDs, "timed-trace-label-hash-ids", "hash_ids", "`NAME` timed_trace: field of the hash ids")
	f.BoolFunc("self-timed", "send at the times in the dataset: on for timed_trace, and for file unless a rate is given", func(string) error { g.selfTimed = new(true); return nil })
	f.BoolFunc("no-self-timed", "send by --request-rate instead", func(string) error { g.selfTimed = new(false); return nil })
	f.Var(argv.Parsed(&w.TemplateKwargs, "", jinja.ParseKwargs), "chat-template-kwargs", "`JSON` further variables for the chat template")
	f.BoolVar(&g.Stats, "stats", false, "of servebench dataset: print a histogram of lengths instead")
	f.Choices("speed-bench-dataset-subset", "qualitative", "throughput_1k", "throughput_2k", "throughput_8k", "throughput_16k", "throughput_32k")
}

// resolveTimes decides whose times count.
func (g *datasetFlags) resolveTimes() error {
	w := &g.Workload
	w.SelfTimed = loadgen.HasOwnTimes(w.Dataset)
	if g.selfTimed == nil {
		if rated := g.Traffic.RampUp != nil || g.Traffic.Curve != nil || !math.IsInf(g.Traffic.RequestRate, 1); w.SelfTimed && rated {
			w.SelfTimed = w.Dataset != "file"
			if w.SelfTimed {
				g.Warnings = append(g.Warnings, "--request-rate and ramp-up have no effect on timed_trace without --no-self-timed")
			}
		}
		return nil
	}
	if *g.selfTimed && !w.SelfTimed {
		return fmt.Errorf("argument --self-timed: the %s dataset has no times of its own", w.Dataset)
	}
	w.SelfTimed = *g.selfTimed
	return nil
}

// resolve checks what single datasets need of the rest.
func (g *datasetFlags) resolve(*argv.Flags) error {
	if err := g.resolveTimes(); err != nil {
		return err
	}
	w := &g.Workload
	measured := w.Dataset == "sonnet" || w.Dataset == "timed_trace" && g.Server.Backend == "openai-chat"
	switch {
	case measured && g.Server.SkipTokenizer:
		return fmt.Errorf("argument --skip-tokenizer-init: the %s dataset needs a tokenizer", w.Dataset)
	case w.Dataset == "timed_trace" && w.TokenIDs:
		return errors.New("argument --prompt-token-ids: timed_trace sends ids where the endpoint takes them, of itself")
	case w.Dataset == "file" && w.TokenIDs:
		return errors.New("argument --prompt-token-ids: what a file holds is sent as it is")
	case w.Dataset == "burstgpt" && !strings.HasSuffix(w.Path, ".csv"):
		return fmt.Errorf("argument --dataset-path: %s: a burstgpt dataset's name must end with .csv", pyjson.Quote(w.Path))
	}
	return nil
}
