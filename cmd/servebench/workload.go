package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/jinja"
	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen"
)

// A workload is an opened dataset, and the tokenizer that measured it.
type workload struct {
	tokenizer     tokenizer.Tokenizer // nil without one
	tokenizerName string
	remote        *loadgen.ServerTokenizer // the tokenizer, if it is the server's
	ids           bool                     // prompts are sent as token ids
	source        dataset.Source
	n             int                 // conversations in source; math.MaxInt where it does not end
	numpy         *nprand.RandomState // where the dataset left it, nil if it did not touch it
}

// An opener is a dataset by its flags.
type opener interface {
	Open() (dataset.Source, int, error)
}

// openWorkload opens what o asks for.
func openWorkload(ctx context.Context, o *options, from tokenizerSource) (*workload, error) {
	w := new(workload)
	if err := w.openTokenizer(ctx, o, from); err != nil {
		return nil, err
	}
	if err := w.open(o, from); err != nil {
		return nil, fmt.Errorf("dataset %s: %w", o.Workload.Dataset, err)
	}
	w.extend(o, from)
	return w, nil
}

// open opens the dataset, once there is a tokenizer.
func (w *workload) open(o *options, from tokenizerSource) error {
	d, err := w.dataset(o, from)
	if err != nil {
		return err
	}
	if w.source, w.n, err = d.Open(); err == nil {
		err = w.leaveForArrivals(o, from)
	}
	if w.remote != nil {
		err = errors.Join(err, w.remote.Err())
	}
	if err != nil {
		return err
	}
	if w.ids && !makesIDs(o.Workload.Dataset) {
		w.source = dataset.TokenIDs(w.source, w.tokenizer)
	}
	if hasOwnTimes(o.Workload.Dataset) && !o.Workload.SelfTimed {
		w.source = dataset.Untimed(w.source)
	}
	if w.remote != nil {
		w.source = believe(w.source, w.remote)
	}
	return nil
}

// leaveForArrivals leaves numpy's generator where the dataset by the seed of the
// arrivals does, should the prompts have another: alone, a target gets prompts of
// its own at the times at which it gets those among others.
func (w *workload) leaveForArrivals(o *options, from tokenizerSource) error {
	if w.numpy == nil || o.Traffic.Seed == nil {
		return nil
	}
	asked, twin := *o, *w
	asked.Workload.Seed = *o.Traffic.Seed
	from.say = func(string, ...any) {}
	d, err := twin.dataset(&asked, from)
	if err == nil {
		_, _, err = d.Open()
	}
	w.numpy = twin.numpy
	return err
}

// makesIDs says whether a dataset makes token ids rather than text, and so needs
// no tokenizer.
func makesIDs(name string) bool {
	return name == "random" || name == "prefix_repetition" || name == "burstgpt" || name == "timed_trace"
}

// dataset is the one that o names.
func (w *workload) dataset(o *options, from tokenizerSource) (opener, error) {
	d := datasetMaker{
		workloadOptions: &o.Workload, workload: w, say: from.say,
		prefix: o.Workload.RequestIDPrefix, past: o.Traffic.Rule == loadgen.UpToV092,
	}
	if d.prefix == "" {
		d.prefix = "bench-" + randomHex(4) + "-"
	}
	if d.tokens = w.tokenizer; w.ids && makesIDs(d.Dataset) && d.tokens != nil {
		d.vocab, d.tokens = d.tokens.VocabSize(), nil
	} else {
		d.vocab = d.VocabSize
	}
	chat := o.Server.Backend == "openai-chat"
	switch d.Dataset {
	case "random", "prefix_repetition", "burstgpt", "timed_trace":
		return d.synthetic(chat), nil
	case "file":
		return dataset.File{Path: d.Path, Num: d.NumPrompts}, nil
	case "sharegpt":
		return d.shareGPT(), nil
	}
	var render dataset.Template
	if d.Dataset != "custom" && d.Dataset != "speed_bench" || !d.SkipTemplate {
		var err error
		if render, err = w.template(o); err != nil {
			return nil, err
		}
	}
	return d.templated(render, chat), nil
}

// template is the tokenizer's chat template; nil without a tokenizer.
func (w *workload) template(o *options) (dataset.Template, error) {
	if o.Server.SkipTokenizer {
		return nil, nil
	}
	folder, err := tokenizer.Folder(w.tokenizerName)
	if err != nil || w.remote != nil {
		return nil, fmt.Errorf("its prompts are rendered with the model's chat template: give --tokenizer a model's folder%s", unlessSkipped(o))
	}
	t, err := jinja.Open(folder)
	if err != nil {
		return nil, fmt.Errorf("%w%s", err, unlessSkipped(o))
	}
	t.Now = time.Now
	return func(prompt string) (string, error) {
		return t.Render([]jinja.Message{{Role: "user", Content: prompt}}, o.Workload.TemplateKwargs)
	}, nil
}

// unlessSkipped is the advice for datasets that can do without a template.
func unlessSkipped(o *options) string {
	if o.Workload.Dataset == "custom" || o.Workload.Dataset == "speed_bench" {
		return ", or --skip-chat-template to send them as they are"
	}
	return ""
}
