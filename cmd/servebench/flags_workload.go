package main

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/servebench/servebench/dataset/jinja"
	"github.com/servebench/servebench/dataset/kinds"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api"
	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
)

// workloadFlags say what is sent.
type workloadFlags struct {
	*options
	inputLen  *int
	outputLen *int
}

func (g *workloadFlags) define(f *argv.Flags) {
	w := &g.Plan.Workload
	f.StringVar(&w.Dataset, "dataset-name", "random",
		"`NAME` where prompts come from. auto looks at the file, and says what it is taken for")
	f.StringVar(&w.Path, "dataset-path", "", "`FILE` file of the dataset, folder of speed_bench, or repository, folder "+
		"or file of hf. For --dataset-name file it is what servebench dataset printed")
	f.IntVar(&w.NumPrompts, "num-prompts", 1000,
		"`N` number of requests, or of sessions if they have several turns. 0 sends all of a file that is sent in its "+
			"order, and is the default for "+kinds.InWords(kinds.SendsAll))
	f.Int64Var(&w.Seed, "seed", 0, "`N` seed of prompts and arrival times, 0 to 4294967295")
	f.Var(argv.Optional(&g.inputLen, argv.ParseInt), "input-len",
		"`TOKENS` prompt length of random, random-mm, random-rerank and sonnet")
	f.Var(argv.Optional(&g.outputLen, argv.ParseInt), "output-len",
		"`TOKENS` output length of random, random-mm, sharegpt, custom, custom_image, custom_audio, prefix_repetition, "+
			"sonnet, spec_bench, hf")
	kinds.Define(kinds.Workload, argv.Definer{Flags: f}, &w.Settings)
	f.BoolVar(&w.SkipTemplate, "skip-chat-template", false,
		"send prompts of custom, speed_bench and hf without the chat template")
	f.BoolVar(&w.DisableShuffle, "disable-shuffle", false, "keep the order of the dataset's file")
	f.BoolVar(&w.NoOversample, "no-oversample", false, "do not repeat a dataset that has fewer prompts than --num-prompts")
	f.StringVar(&w.RequestIDPrefix, "request-id-prefix", "",
		"`TEXT` start of each x-request-id (default bench-, 8 random hex digits and -)")
	f.BoolVar(&w.TokenIDs, "prompt-token-ids", false,
		"send prompts as token ids. random and prefix_repetition then need no tokenizer")
	f.IntVar(&w.VocabSize, "vocab-size", 32000, "`N` upper bound of the token ids to draw. It applies without a "+
		"tokenizer, and with the server's, which does not say its size")
	f.OfferFiles("dataset-path")
	f.Choices("dataset-name", append(kinds.Names(0), auto)...)
	f.Unbuilt("dataset-name", unbuiltDatasets...)
}

// auto is the value of --dataset-name that looks at the file.
const auto = "auto"

// detect finds out which dataset the file is.
func (g *workloadFlags) detect() error {
	w := &g.Plan.Workload
	if w.Path == "" {
		return errors.New("argument --dataset-name: auto needs --dataset-path")
	}
	guess, err := kinds.Detect(w.Path)
	if err != nil {
		return fmt.Errorf("argument --dataset-name: auto: %w", err)
	}
	w.Dataset = guess.Dataset
	g.Notes = append(g.Notes, fmt.Sprintf("%s is taken as --dataset-name %s: %s", w.Path, guess.Dataset, guess.Why))
	return nil
}

func (g *workloadFlags) resolve(f *argv.Flags) error {
	w := &g.Plan.Workload
	if w.Dataset == auto {
		if err := g.detect(); err != nil {
			return err
		}
	}
	w.VocabGiven, w.Random = f.Changed("vocab-size"), w.Settings.Random
	if w.Has(kinds.SendsAll) && !f.Changed("num-prompts") {
		w.NumPrompts, f.Lookup("num-prompts").DefValue = 0, "0"
	}
	if n := g.inputLen; n != nil {
		w.Random.InputLen, w.Settings.Sonnet.InputLen = *n, *n
	}
	if n := g.outputLen; n != nil {
		of := &w.Settings
		w.Random.OutputLen, of.ShareGPTLen, of.Custom.OutputLen = *n, n, *n
		of.SpecBench.OutputLen, of.PrefixRepetition.OutputLen, of.Sonnet.OutputLen, of.HF.OutputLen = *n, *n, *n, n
	}
	switch {
	case w.Seed < 0 || w.Seed > 1<<32-1:
		return fmt.Errorf("argument --seed: %d: it must be from 0 to 4294967295", w.Seed)
	case w.NumPrompts <= 0 && !w.Has(kinds.CanSendAll):
		return fmt.Errorf("argument --num-prompts: %d: it must be greater than 0", w.NumPrompts)
	case w.VocabSize < 1:
		return fmt.Errorf("argument --vocab-size: %d: it must be greater than 0", w.VocabSize)
	case w.TokenIDs && g.Plan.Server.API().Messages:
		return fmt.Errorf("argument --prompt-token-ids: %s takes no token ids: it needs --backend openai or vllm",
			strings.TrimPrefix(g.Plan.Server.Backend, "openai-"))
	case w.Has(kinds.Fileless) && w.Path != "":
		return fmt.Errorf("argument --dataset-path: Cannot use '%s' dataset with --dataset-path. Please specify the "+
			"appropriate --dataset-name (e.g., 'sharegpt', 'custom') for your dataset file: %s", w.Dataset, w.Path)
	case !w.Has(kinds.Fileless) && w.Path == "":
		return fmt.Errorf("argument --dataset-name: %s needs --dataset-path", w.Dataset)
	}
	return nil
}

// parseRatio reads one ratio for both lengths, or an object with one for each.
func parseRatio(text string) (r dataset.RangeRatio, err error) {
	if ratio, err := argv.ParseFloat(text); err == nil {
		r.Input, r.Output = ratio, ratio
	} else {
		object, err := argv.ParseObject(text)
		input, hasInput := object.Get("input")
		output, hasOutput := object.Get("output")
		if err != nil || len(object) != 2 || !hasInput || !hasOutput {
			return r, fmt.Errorf(`%s: it must be a number, or an object like {"input": 0.1, "output": 0.2}`, pyjson.Quote(text))
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

// number is a JSON number.
func number(v any) (float64, error) {
	return argv.ParseFloat(string(pyjson.Append(nil, v)))
}

// check has the kind of the dataset check its settings, and what else was asked for.
func (g *workloadFlags) check() error {
	w, to := &g.Plan.Workload, g.Plan.Server.API()
	settings := w.Settings
	ratio, err := parseRatio(settings.RangeRatio)
	w.Random.Ratio = ratio
	settings.Random = w.Random
	w.Settings.Random, w.Settings.RangeRatio = dataset.Random{}, "" // w.Random counts
	k := kinds.Find(w.Dataset)
	if k.Check == nil {
		return nil
	}
	return k.Check(&settings, &kinds.Asked{
		Name: w.Dataset, Path: w.Path, NumPrompts: w.NumPrompts, TokenIDs: w.TokenIDs,
		SkipTokenizer: g.Plan.Server.SkipTokenizer, InChat: w.MultimodalChat, RangeRatio: err,
		Backend: to.Name, Text: to.Messages, Pooling: to.Pooling, Files: to.Forms(), Parts: to.Media == api.Parts,
		Mute: to.Media == api.NoMedia, Tools: to.Tools, Templated: to.Templated,
		WithTools: api.WithTools(),
		Warn:      func(text string) { g.Warnings = append(g.Warnings, text) },
	})
}

// datasetFlags are for single datasets, apart from random, sharegpt and custom.
type datasetFlags struct {
	*options
	selfTimed *bool
}

func (g *datasetFlags) define(f *argv.Flags) {
	w := &g.Plan.Workload
	kinds.Define(kinds.Datasets, argv.Definer{Flags: f}, &w.Settings)
	f.BoolFunc("self-timed", "send at the times that the dataset has. This is the default for timed_trace, and for "+
		"other traces and files with times unless there is a rate",
		func(string) error { g.selfTimed = new(true); return nil })
	f.BoolFunc("no-self-timed", "send by --request-rate, although the dataset has times",
		func(string) error { g.selfTimed = new(false); return nil })
	f.Var(argv.Parsed(&w.TemplateKwargs, "", jinja.ParseKwargs), "chat-template-kwargs",
		"`JSON` more variables for the chat template")
	f.BoolVar(&g.Stats, "stats", false, "print histograms of lengths instead, and what prefix caches have of sessions. "+
		"Only for servebench dataset")
	f.StringVar(&g.Simulate, "simulate", "", "`NAME` print how a simulated server copes with the load, in time that "+
		"does not pass. NAME is a profile of servebench sim. Only for servebench dataset")
	f.Offer("simulate", speed.Names()...)
}

// resolveTimes decides whose times count.
func (g *datasetFlags) resolveTimes() error {
	w := &g.Plan.Workload
	w.SelfTimed = w.Has(kinds.OwnTimes)
	if g.selfTimed == nil {
		if rated := g.Plan.Traffic.RampUp != nil || g.Plan.Traffic.Curve != nil ||
			!math.IsInf(g.Plan.Traffic.RequestRate, 1); w.SelfTimed && rated {
			if w.SelfTimed = w.Has(kinds.KeepsTimes); w.SelfTimed {
				g.Warnings = append(g.Warnings, "--request-rate and ramp-up have no effect on "+w.Dataset+
					" without --no-self-timed")
			}
		}
		return nil
	}
	if *g.selfTimed && !w.SelfTimed {
		return fmt.Errorf("argument --self-timed: the %s dataset has no times", w.Dataset)
	}
	w.SelfTimed = *g.selfTimed
	return nil
}

// resolve checks what single datasets need from other flags.
func (g *datasetFlags) resolve(*argv.Flags) error {
	if err := g.resolveTimes(); err != nil {
		return err
	}
	if w := &g.Plan.Workload; w.Has(kinds.OwnIDs) && w.TokenIDs {
		return fmt.Errorf("argument --prompt-token-ids: %s sends ids where the endpoint takes them, of itself", w.Dataset)
	}
	return nil
}
