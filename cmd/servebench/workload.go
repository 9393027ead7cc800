package main

import (
	"cmp"
	"fmt"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/tokenizer"
)

// A workload is an opened dataset, and the tokenizer that measured it.
type workload struct {
	tokenizer     tokenizer.Tokenizer // nil without one
	tokenizerName string
	source        dataset.Source
	n             int // conversations in source
}

// openWorkload opens what o asks for. The model lends the tokenizer its name
// where none is given; say is where remarks go.
func openWorkload(o *options, model string, say func(format string, args ...any)) (*workload, error) {
	w := new(workload)
	if err := w.openTokenizer(o, model); err != nil {
		return nil, err
	}
	opener := w.dataset(&o.Workload, say)
	var err error
	if w.source, w.n, err = opener.Open(); err != nil {
		return nil, fmt.Errorf("dataset %s: %w", o.Workload.Dataset, err)
	}
	if o.Workload.TokenIDs && o.Workload.Dataset != "random" {
		w.source = dataset.TokenIDs(w.source, w.tokenizer)
	}
	return w, nil
}

// openTokenizer opens the tokenizer, unless the workload can do without.
func (w *workload) openTokenizer(o *options, model string) error {
	idsAlone := o.Workload.TokenIDs && o.Workload.Dataset == "random" && o.Server.Tokenizer == ""
	if o.Server.SkipTokenizer || idsAlone {
		return nil
	}
	w.tokenizerName = cmp.Or(o.Server.Tokenizer, model)
	if w.tokenizerName == "" {
		return fmt.Errorf("a tokenizer is needed: give --tokenizer, or --prompt-token-ids for the random dataset")
	}
	var err error
	if w.tokenizer, err = tokenizer.Open(w.tokenizerName); err != nil {
		return fmt.Errorf("%w; give --tokenizer, or --prompt-token-ids for the random dataset", err)
	}
	return nil
}

// opener is a dataset by its flags.
type opener interface {
	Open() (dataset.Source, int, error)
}

func (w *workload) dataset(o *workloadOptions, say func(format string, args ...any)) opener {
	prefix := o.RequestIDPrefix
	if prefix == "" {
		prefix = "bench-" + randomHex(4) + "-"
	}
	switch o.Dataset {
	case "sharegpt":
		d := dataset.ShareGPT{
			Path: o.Path, Tokenizer: w.tokenizer, Num: o.NumPrompts, Seed: o.Seed,
			DisableShuffle: !o.Shuffle, NoOversample: !o.Oversample, IDPrefix: prefix, Log: say,
		}
		if o.ShareGPT.OutputLen != nil {
			d.OutputLen = *o.ShareGPT.OutputLen
		}
		return d
	case "custom":
		return dataset.Custom{
			Path: o.Path, Tokenizer: w.tokenizer, Num: o.NumPrompts, OutputLen: o.Custom.OutputLen, Seed: o.Seed,
			DisableShuffle: !o.Shuffle, NoOversample: !o.Oversample, IDPrefix: prefix, Log: say,
		}
	}
	d := dataset.Random{
		Tokenizer: w.tokenizer, VocabSize: o.VocabSize, Num: o.NumPrompts,
		InputLen: o.Random.InputLen, OutputLen: o.Random.OutputLen, PrefixLen: o.Random.PrefixLen,
		Ratio: dataset.RangeRatio{Input: o.Random.InputRatio, Output: o.Random.OutputRatio},
		Seed:  o.Seed, IDPrefix: prefix, Log: say,
	}
	if o.TokenIDs && w.tokenizer != nil {
		d.Tokenizer, d.VocabSize = nil, w.tokenizer.VocabSize()
	}
	return d
}
