package loadgen

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/batches"
	"github.com/servebench/servebench/dataset/jinja"
	"github.com/servebench/servebench/dataset/media"
	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/host"
)

// Datasets are the names that Workload.Dataset accepts.
var Datasets = []string{
	"random", "random-mm", "random-rerank", "sharegpt", "custom", "custom_image", "custom_audio", "prefix_repetition",
	"sonnet", "burstgpt", "spec_bench", "speed_bench",
	"timed_trace", "hf", "file",
	"conversations", "multi_turn", "mooncake", "weka", "azure", "sessions",
}

// A Trait is what some datasets have in common.
type Trait uint

// The traits of datasets.
const (
	Fileless       Trait = 1 << iota // it reads no file
	CanSendAll                       // NumPrompts = 0 means all that the file has
	SendsAll                         // so it does by default
	OwnTimes                         // it may say when its sessions are due
	MakesIDs                         // it makes token ids instead of texts, and so needs no tokenizer
	ExactOutput                      // a trace or a draw gives its output lengths: answers have all their tokens
	SeveralTurns                     // its sessions may have several turns, or its prompts blocks
	Renders                          // it puts prompts into the model's chat template, if it is not told to skip it
	SharesPrefixes                   // its prompts share a beginning, or repeat
)

// traits are the Traits of each dataset.
var traits = map[string]Trait{
	"random":            Fileless | MakesIDs | ExactOutput,
	"random-mm":         Fileless | ExactOutput,
	"random-rerank":     Fileless,
	"custom":            CanSendAll | Renders,
	"custom_image":      CanSendAll,
	"custom_audio":      CanSendAll | Renders,
	"hf":                Renders,
	"sonnet":            SharesPrefixes,
	"prefix_repetition": Fileless | MakesIDs | SharesPrefixes,
	"burstgpt":          MakesIDs,
	"spec_bench":        CanSendAll | Renders,
	"speed_bench":       CanSendAll | Renders,
	"timed_trace":       OwnTimes | MakesIDs | ExactOutput | SharesPrefixes,
	"file":              CanSendAll | SendsAll | OwnTimes,
	"conversations":     CanSendAll | SendsAll | SeveralTurns,
	"multi_turn":        CanSendAll | SendsAll | OwnTimes | SeveralTurns,
	"mooncake":          CanSendAll | SendsAll | OwnTimes | MakesIDs | ExactOutput | SeveralTurns | SharesPrefixes,
	"weka":              CanSendAll | SendsAll | MakesIDs | ExactOutput | SeveralTurns | SharesPrefixes,
	"azure":             CanSendAll | SendsAll | OwnTimes | MakesIDs | ExactOutput | SeveralTurns,
	"sessions":          Fileless | MakesIDs | ExactOutput | SeveralTurns | SharesPrefixes,
}

// Has reports whether the workload's dataset has a trait.
func (w *Workload) Has(t Trait) bool {
	if t == MakesIDs && w.textual() {
		return false
	}
	return traits[w.Dataset]&t != 0
}

// textual reports whether a dataset that otherwise makes token ids makes texts: its prompts go on
// from the server's answers, or several are one request.
func (w *Workload) textual() bool {
	return w.Sessions.MultiTurn || w.BatchSize > 1 || w.Dataset == "sessions" && w.Live()
}

// kept is how many bytes the dataset keeps for each prompt to send: a position in the file, or what it
// drew. Random tokens are made as they are sent, and keep nothing.
func (w *Workload) kept() int64 {
	switch {
	case w.Source != nil:
		return 0
	case w.Dataset == "sharegpt" && w.Sessions.MultiTurn && !w.NoOversample, w.Dataset == "prefix_repetition":
		return 24
	case w.Dataset == "burstgpt":
		return 8
	case w.NoOversample || w.Has(MakesIDs) || w.Has(Fileless):
		return 0
	}
	return 8
}

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
	switch d.Dataset {
	case "conversations", "multi_turn", "mooncake", "weka", "azure", "sessions":
		return w.sessions(p, common), nil
	case "random", "prefix_repetition", "burstgpt", "timed_trace":
		if d.Sessions.MultiTurn {
			return w.sessions(p, common), nil
		}
		return w.synthetic(p, common), nil
	case "random-rerank":
		return batched(*d, common), nil
	case "custom_image", "random-mm":
		return illustrated(*d, common), nil
	case "custom_audio":
		return w.spoken(p, common)
	case "hf":
		return w.hosted(p, common), nil
	case "file":
		return dataset.File{Options: common, Text: p.Server.messages(), IgnoreEOS: p.Sampling.IgnoreEOS}, nil
	case "sharegpt":
		if d.Sessions.MultiTurn {
			return w.sessions(p, common), nil
		}
		s := dataset.ShareGPT{Options: common, Attach: attach(p, from.say)}
		if d.ShareGPTLen != nil {
			s.OutputLen = *d.ShareGPTLen
		}
		return s, nil
	}
	if d.Dataset != "custom" && d.Dataset != "speed_bench" || !d.SkipTemplate {
		var err error
		if common.Template, err = w.template(p); err != nil {
			return nil, err
		}
	}
	return rendered(p, common), nil
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

// synthetic returns a dataset that makes its prompts of token ids.
func (w *workload) synthetic(p *Plan, common dataset.Options) opener {
	d := &p.Workload
	if d.Dataset == "prefix_repetition" || d.Dataset == "timed_trace" || d.Dataset == "random" &&
		p.Traffic.Rule == arrivals.UpToV092 {
		w.numpy = new(nprand.RandomState)
		common.NumPy = w.numpy
	}
	if d.Dataset == "timed_trace" {
		t := d.TimedTrace
		t.Options, t.Text, t.FileOrder = common, p.Server.messages(), !d.SelfTimed
		return t
	}
	if w.ids && w.tokenizer != nil {
		common.Tokenizer, common.VocabSize = nil, w.tokenizer.VocabSize()
	}
	switch d.Dataset {
	case "prefix_repetition":
		p := d.PrefixRepetition
		p.Options = common
		return p
	case "burstgpt":
		return dataset.BurstGPT{Options: common}
	}
	if d.BatchSize > 1 {
		return batched(*d, common)
	}
	r := d.Random
	r.Options = common
	return r
}

// batched returns a dataset with several prompts in a request.
func batched(d Workload, common dataset.Options) opener {
	size := max(d.BatchSize, 1)
	if d.Random.Options = common; d.Dataset == "random-rerank" {
		return batches.Rerank{Random: d.Random, Size: size, Separate: d.NoReranker}
	}
	return batches.Random{Random: d.Random, Size: size}
}

// illustrated returns a dataset whose prompts have images.
func illustrated(d Workload, common dataset.Options) opener {
	if d.Dataset == "custom_image" {
		d.CustomImage.Options, d.CustomImage.Chat = common, d.MultimodalChat
		return d.CustomImage
	}
	d.RandomMM.Random, d.RandomMM.Chat = d.Random, d.MultimodalChat
	d.RandomMM.Options = common
	return d.RandomMM
}

// spoken returns a dataset whose prompts have sounds. A model of speech may have no chat template.
// Transcriptions have no prompt: it only counts, with its template even if prompts are to have none,
// as in vLLM's client.
func (w *workload) spoken(p *Plan, common dataset.Options) (opener, error) {
	d, forms := p.Workload, p.Server.backend().Forms
	if !d.MultimodalChat {
		var err error
		if common.Template, err = w.template(p); err != nil && !forms && !errors.Is(err, jinja.ErrNone) {
			return nil, err
		}
	}
	d.CustomAudio.Options, d.CustomAudio.Chat, d.CustomAudio.Always = common, d.MultimodalChat, forms
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
		if with != nil && (!p.Server.messages() || p.Server.responses()) {
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

// rendered returns a dataset whose prompts a chat template renders.
func rendered(p *Plan, common dataset.Options) opener {
	switch d := p.Workload; d.Dataset {
	case "sonnet":
		d.Sonnet.Options, d.Sonnet.Bare = common, p.Server.chat()
		return d.Sonnet
	case "spec_bench":
		d.SpecBench.Options = common
		return d.SpecBench
	case "speed_bench":
		d.SpeedBench.Options = common
		return d.SpeedBench
	default:
		d.Custom.Options = common
		return d.Custom
	}
}

// hosted returns a data set of the Hugging Face Hub.
func (w *workload) hosted(p *Plan, common dataset.Options) opener {
	d := p.Workload.HF
	d.Options, d.SkipTemplate, d.Chat, d.TokenizerName = common, p.Workload.SkipTemplate, p.Workload.MultimodalChat,
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
	return d
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
	if slices.Contains([]string{"custom", "custom_audio", "speed_bench"}, p.Workload.Dataset) {
		return ", or --skip-chat-template to send them as they are"
	}
	return ""
}
