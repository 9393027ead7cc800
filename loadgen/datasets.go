package loadgen

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/batches"
	"github.com/servebench/servebench/dataset/jinja"
	"github.com/servebench/servebench/dataset/media"
	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/api"
	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/host"
)

// besides is what a run takes at most for other things than the prompts of its dataset, in bytes. A
// small run takes less.
const besides = 128 << 20

// checkMemory refuses more prompts than there is memory for, so that the system need not
// kill what is being prepared.
func (p *Plan) checkMemory(free host.Memory, known bool) error {
	w := &p.Workload
	each := w.kept()
	need := int64(w.NumPrompts) * each
	if !known || need+min(need, besides) <= free.Free {
		return nil
	}
	const gib = 1 << 30
	under := ""
	if free.Limit != "" {
		under = " under " + free.Limit
	}
	return fmt.Errorf("argument --num-prompts: %d: the %s dataset keeps %d bytes for each prompt, %.1f GiB in all, and "+
		"%.1f GiB are free%s: "+
		"lower it, or take --dataset-name random without --dataset-path, which keeps nothing", w.NumPrompts, w.Dataset, each,
		float64(need)/gib, float64(free.Free)/gib, under)
}

// An opener opens the dataset that the plan describes.
type opener interface {
	Open() (dataset.Source, int, error)
}

// dataset returns the dataset that the workload names.
func (w *workload) dataset(p *Plan, from tokenizerSource) (opener, error) {
	d := &p.Workload
	if len(d.Adapters.Names) > 0 {
		w.python = nprand.NewPython(d.Seed)
	}
	if d.Source != nil {
		n := d.NumPrompts
		if p.Endless() {
			n = max(n, 1)
		}
		return given{d.Source, n}, nil
	}
	common := dataset.Options{
		Path: d.Path, Num: d.NumPrompts, Seed: d.Seed, Tokenizer: w.tokenizer, VocabSize: d.VocabSize,
		DisableShuffle: d.DisableShuffle, NoOversample: d.NoOversample,
		IDPrefix: cmp.Or(d.RequestIDPrefix, "bench-"+randomHex(4)+"-"), Python: w.python, Log: from.say,
	}
	k := d.kind()
	if k.turns != nil && (k.open == nil || d.Sessions.MultiTurn) {
		if d.Sessions.To > 0 || d.Sessions.From > 0 {
			common.Num = 0 // the cut comes first
		}
		return k.turns(d, p.Server.messages(), common), nil
	}
	return k.open(w, p, common)
}

// A given dataset is a Source of the caller's.
type given struct {
	source dataset.Source
	n      int
}

// Open returns that Source.
func (g given) Open() (dataset.Source, int, error) {
	if g.n < 1 {
		return nil, 0, fmt.Errorf("%d prompts: a Source needs at least 1", g.n)
	}
	return g.source, g.n, nil
}

// useNumPy has the dataset leave the state of numpy's generator for the arrivals.
func (w *workload) useNumPy(o *dataset.Options) {
	w.numpy = new(nprand.RandomState)
	o.NumPy = w.numpy
}

// asIDs leaves the prompts token ids, if they are to be sent so.
func (w *workload) asIDs(o *dataset.Options) {
	if w.ids && w.tokenizer != nil {
		o.Tokenizer, o.VocabSize = nil, w.tokenizer.VocabSize()
	}
}

func openRandom(w *workload, p *Plan, o dataset.Options) (opener, error) {
	if p.Traffic.Rule == arrivals.UpToV092 {
		w.useNumPy(&o)
	}
	w.asIDs(&o)
	r := p.Workload.Random
	if r.Options = o; p.Workload.BatchSize > 1 {
		return batches.Random{Random: r, Size: p.Workload.BatchSize}, nil
	}
	return r, nil
}

func openRerank(_ *workload, p *Plan, o dataset.Options) (opener, error) {
	d := p.Workload
	d.Random.Options = o
	return batches.Rerank{Random: d.Random, Size: max(d.BatchSize, 1), Separate: d.NoReranker}, nil
}

func openPrefixes(w *workload, p *Plan, o dataset.Options) (opener, error) {
	w.useNumPy(&o)
	w.asIDs(&o)
	d := p.Workload.PrefixRepetition
	d.Options = o
	return d, nil
}

func openBurstGPT(w *workload, _ *Plan, o dataset.Options) (opener, error) {
	w.asIDs(&o)
	return dataset.BurstGPT{Options: o}, nil
}

func openTimedTrace(w *workload, p *Plan, o dataset.Options) (opener, error) {
	w.useNumPy(&o)
	t := p.Workload.TimedTrace
	t.Options, t.Text, t.FileOrder = o, p.Server.messages(), !p.Workload.SelfTimed
	return t, nil
}

func openFile(_ *workload, p *Plan, o dataset.Options) (opener, error) {
	return dataset.File{Options: o, Text: p.Server.messages(), IgnoreEOS: p.Sampling.IgnoreEOS}, nil
}

func openShareGPT(_ *workload, p *Plan, o dataset.Options) (opener, error) {
	s := dataset.ShareGPT{Options: o, Attach: attach(p, o.Log)}
	if n := p.Workload.ShareGPTLen; n != nil {
		s.OutputLen = *n
	}
	return s, nil
}

func openCustomImage(_ *workload, p *Plan, o dataset.Options) (opener, error) {
	d := p.Workload.CustomImage
	d.Options, d.Chat = o, p.Workload.MultimodalChat
	return d, nil
}

func openRandomMM(_ *workload, p *Plan, o dataset.Options) (opener, error) {
	d := p.Workload.RandomMM
	d.Random, d.Chat = p.Workload.Random, p.Workload.MultimodalChat
	d.Options = o
	return d, nil
}

// openCustomAudio opens a dataset whose prompts have sounds. A model of speech may have no chat template.
// Transcriptions have no prompt: it only counts, with its template even if prompts are to have none,
// as in vLLM's client.
func openCustomAudio(w *workload, p *Plan, o dataset.Options) (opener, error) {
	d, forms := p.Workload, p.Server.API().Forms()
	if !d.MultimodalChat {
		var err error
		if o.Template, err = w.template(p); err != nil && !forms && !errors.Is(err, jinja.ErrNone) {
			return nil, err
		}
	}
	d.CustomAudio.Options, d.CustomAudio.Chat, d.CustomAudio.Always = o, d.MultimodalChat, forms
	return d.CustomAudio, nil
}

// attach adds what the conversations of sharegpt have apart from text.
func attach(p *Plan, say func(format string, args ...any)) func(turn *dataset.Turn, image, video string) {
	var once sync.Once
	return func(turn *dataset.Turn, image, video string) {
		var with []dataset.Medium
		switch {
		case image != "":
			with = []dataset.Medium{media.Linked(dataset.Image, media.ImageURL(image))}
		case video != "":
			with = []dataset.Medium{media.Linked(dataset.Video, media.VideoURL(video))}
		}
		if with != nil && p.Server.API().Media == api.NoMedia {
			once.Do(func() {
				say("the sharegpt dataset has images or videos, and --backend %s sends none: take --backend openai-chat",
					p.Server.Backend)
			})
		}
		if with != nil {
			turn.Payload = &dataset.Payload{Media: with}
		}
		if p.Workload.MultimodalChat {
			turn.Messages = media.Message(turn.Prompt, with)
		}
	}
}

// render adds the chat template to the options, unless the plan skips it.
func (w *workload) render(p *Plan, o *dataset.Options) (err error) {
	if !p.Workload.SkipTemplate || !p.Workload.canSkipTemplate() {
		o.Template, err = w.template(p)
	}
	return err
}

func openCustom(w *workload, p *Plan, o dataset.Options) (opener, error) {
	err := w.render(p, &o)
	d := p.Workload.Custom
	d.Options = o
	return d, err
}

func openSpeedBench(w *workload, p *Plan, o dataset.Options) (opener, error) {
	err := w.render(p, &o)
	d := p.Workload.SpeedBench
	d.Options = o
	return d, err
}

func openSpecBench(w *workload, p *Plan, o dataset.Options) (opener, error) {
	err := w.render(p, &o)
	d := p.Workload.SpecBench
	d.Options = o
	return d, err
}

func openSonnet(w *workload, p *Plan, o dataset.Options) (opener, error) {
	err := w.render(p, &o)
	d := p.Workload.Sonnet
	d.Options, d.Bare = o, p.Server.API().Chat
	return d, err
}

// openHF opens a data set of the Hugging Face Hub.
func openHF(w *workload, p *Plan, o dataset.Options) (opener, error) {
	d := p.Workload.HF
	d.Options, d.SkipTemplate, d.Chat, d.TokenizerName = o, p.Workload.SkipTemplate, p.Workload.MultimodalChat,
		w.tokenizerName
	d.OpenTemplate = func() (*jinja.Template, error) {
		folder, err := w.templateFolder(p)
		if err != nil {
			return nil, err
		}
		t, err := jinja.Open(folder)
		if err != nil {
			return nil, err
		}
		t.Now = time.Now
		return t, nil
	}
	return d, nil
}

// templateFolder is the folder of the tokenizer, which has the chat template.
func (w *workload) templateFolder(p *Plan) (string, error) {
	folder, err := tokenizer.Folder(w.tokenizerName)
	if err != nil || w.remote != nil {
		return "", fmt.Errorf("its prompts are rendered with the model's chat template: give --tokenizer a model's folder%s",
			unlessSkipped(p))
	}
	return folder, nil
}

// template is the tokenizer's chat template; nil without a tokenizer.
func (w *workload) template(p *Plan) (dataset.Template, error) {
	if p.Server.SkipTokenizer {
		return nil, nil
	}
	folder, err := w.templateFolder(p)
	if err != nil {
		return nil, err
	}
	t, err := dataset.OpenTemplate(folder, p.Workload.TemplateKwargs, time.Now)
	if err != nil {
		return nil, fmt.Errorf("%w%s", err, unlessSkipped(p))
	}
	return t, nil
}

// unlessSkipped is advice for datasets that work without a template.
func unlessSkipped(p *Plan) string {
	if p.Workload.canSkipTemplate() {
		return ", or --skip-chat-template to send them as they are"
	}
	return ""
}
