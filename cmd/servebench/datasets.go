package main

import (
	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/tokenizer"
)

// A datasetMaker turns options into one of package dataset's.
type datasetMaker struct {
	*workloadOptions
	*workload
	tokens tokenizer.Tokenizer // nil where prompts are made of ids alone
	vocab  int
	prefix string // of request ids
	past   bool   // arrivals are those of vLLM up to v0.9.2
	say    func(format string, args ...any)
}

// synthetic are the datasets whose prompts are made of token ids.
func (d *datasetMaker) synthetic(chat bool) opener {
	switch d.Dataset {
	case "prefix_repetition":
		p := d.PrefixRepetition
		d.numpy = new(nprand.RandomState)
		p.Tokenizer, p.VocabSize, p.Num, p.Seed = d.tokens, d.vocab, d.NumPrompts, d.Seed
		p.DisableShuffle, p.Log, p.NumPy = !d.Shuffle, d.say, d.numpy
		return p
	case "burstgpt":
		return dataset.BurstGPT{Path: d.Path, Tokenizer: d.tokens, VocabSize: d.vocab, Num: d.NumPrompts, Seed: d.Seed, IDPrefix: d.prefix}
	case "timed_trace":
		t := d.TimedTrace
		d.numpy = new(nprand.RandomState)
		t.Path, t.Tokenizer, t.VocabSize, t.Text, t.Num = d.Path, d.workload.tokenizer, d.vocab, chat, d.NumPrompts
		t.Seed, t.IDPrefix, t.NumPy = d.Seed, d.prefix, d.numpy
		return t
	}
	if d.past {
		d.numpy = new(nprand.RandomState)
	}
	return dataset.Random{
		Tokenizer: d.tokens, VocabSize: d.vocab, Num: d.NumPrompts,
		InputLen: d.Random.InputLen, OutputLen: d.Random.OutputLen, PrefixLen: d.Random.PrefixLen,
		Ratio: dataset.RangeRatio{Input: d.Random.InputRatio, Output: d.Random.OutputRatio},
		Seed:  d.Seed, IDPrefix: d.prefix, Log: d.say, NumPy: d.numpy,
	}
}

func (d *datasetMaker) shareGPT() opener {
	s := dataset.ShareGPT{
		Path: d.Path, Tokenizer: d.tokens, Num: d.NumPrompts, Seed: d.Seed,
		DisableShuffle: !d.Shuffle, NoOversample: !d.Oversample, IDPrefix: d.prefix, Log: d.say,
	}
	if d.ShareGPT.OutputLen != nil {
		s.OutputLen = *d.ShareGPT.OutputLen
	}
	return s
}

// templated are the datasets whose prompts are texts that a chat template renders.
func (d *datasetMaker) templated(render dataset.Template, chat bool) opener {
	switch d.Dataset {
	case "sonnet":
		s := d.Sonnet
		s.Path, s.Tokenizer, s.Template, s.Bare = d.Path, d.tokens, render, chat
		s.Num, s.Seed, s.IDPrefix = d.NumPrompts, d.Seed, d.prefix
		return s
	case "spec_bench":
		return d.bench(d.SpecBench, render)
	case "speed_bench":
		return dataset.SpeedBench{SpecBench: d.bench(d.SpeedBench.SpecBench, render), Subset: d.SpeedBench.Subset}
	}
	return dataset.Custom{
		Path: d.Path, Tokenizer: d.tokens, Template: render, Num: d.NumPrompts, OutputLen: d.Custom.OutputLen, Seed: d.Seed,
		DisableShuffle: !d.Shuffle, NoOversample: !d.Oversample, IDPrefix: d.prefix, Log: d.say,
	}
}

func (d *datasetMaker) bench(s dataset.SpecBench, render dataset.Template) dataset.SpecBench {
	s.Path, s.Tokenizer, s.Template, s.Num = d.Path, d.tokens, render, d.NumPrompts
	s.DisableShuffle, s.NoOversample, s.IDPrefix, s.Log = !d.Shuffle, !d.Oversample, d.prefix, d.say
	return s
}
