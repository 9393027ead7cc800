package workload

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/jinja"
	"github.com/servebench/servebench/dataset/kinds"
	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/api"
	"github.com/servebench/servebench/loadgen/arrivals"
	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/loadgen/naming"
)

// besides is what a run takes at most for other things than the prompts of its dataset, in bytes. A
// small run takes less.
const besides = 128 << 20

// checkMemory refuses more prompts than there is memory for, so that the system need not
// kill what is being prepared.
func (p *Spec) checkMemory(free host.Memory, known bool) error {
	w := &p.Workload
	each := w.Kept()
	need := int64(w.NumPrompts) * each
	if !known || need+min(need, besides) <= free.Free {
		return nil
	}
	const gib = 1 << 30
	under := ""
	if free.Limit != "" {
		under = " under " + free.Limit
	}
	return fmt.Errorf("%s: %d: the %s dataset keeps %d bytes for each prompt, %.1f GiB in all, and "+
		"%.1f GiB are free%s: "+
		"lower it, or take %s random without %s, which keeps nothing", p.Spelling.Argument(naming.NumPrompts), w.NumPrompts,
		w.Dataset, each, float64(need)/gib, float64(free.Free)/gib, under, p.Spelling.Spell(naming.Dataset),
		p.Spelling.Spell(naming.Path))
}

// dataset returns the dataset that the workload names, and what it gets of the run.
func (w *Opened) dataset(p *Spec, from Origin) (kinds.Opener, *kinds.Run, error) {
	d := &p.Workload
	if len(d.Adapters.Names) > 0 {
		w.python = nprand.NewPython(d.Seed)
	}
	if d.Source != nil {
		n := d.NumPrompts
		if p.endless() {
			n = max(n, 1)
		}
		return given{d.Source, n}, new(kinds.Run), nil
	}
	run, settings, k := w.run(p, from), d.Settings, d.Kind()
	settings.Random = d.Random
	if k.Turns != nil && (k.Open == nil || settings.MultiTurn.On) {
		if d.Sessions.To > 0 || d.Sessions.From > 0 {
			run.Options.Num = 0 // the cut comes first
		}
		return k.Turns(&settings, run), run, nil
	}
	opener, err := k.Open(&settings, run)
	return opener, run, err
}

// run is what the dataset gets of the run.
func (w *Opened) run(p *Spec, from Origin) *kinds.Run {
	d, to := &p.Workload, p.Server.API()
	return &kinds.Run{
		Options: dataset.Options{
			Path: d.Path, Num: d.NumPrompts, Seed: d.Seed, Tokenizer: w.Tokenizer, VocabSize: d.VocabSize,
			DisableShuffle: d.DisableShuffle, NoOversample: d.NoOversample,
			IDPrefix: cmp.Or(d.RequestIDPrefix, fmt.Sprintf("bench-%08x-", rand.Uint32())), Python: w.python, Log: from.Say,
		},
		Backend: to.Name, Text: to.Messages, IDs: w.IDs, Files: to.Forms(), Mute: to.Media == api.NoMedia, Chat: to.Chat,
		MultimodalChat: d.MultimodalChat, SkipTemplate: d.SkipTemplate, SelfTimed: d.SelfTimed,
		IgnoreEOS: p.IgnoreEOS, Live: d.Live(), NumPyArrivals: p.Traffic.Rule == arrivals.UpToV092,
		TokenizerName: w.TokenizerName,
		Template:      func() (dataset.Template, error) { return w.template(p) },
		OpenTemplate:  func() (*jinja.Template, error) { return w.openTemplate(p) },
	}
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

// openTemplate opens the tokenizer's chat template.
func (w *Opened) openTemplate(p *Spec) (*jinja.Template, error) {
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

// templateFolder is the folder of the tokenizer, which has the chat template.
func (w *Opened) templateFolder(p *Spec) (string, error) {
	folder, err := tokenizer.Folder(w.TokenizerName)
	if err != nil || w.Remote != nil {
		return "", fmt.Errorf("its prompts are rendered with the model's chat template: give %s a model's folder%s",
			p.Spelling.Spell(naming.Tokenizer), unlessSkipped(p))
	}
	return folder, nil
}

// template is the tokenizer's chat template; nil without a tokenizer.
func (w *Opened) template(p *Spec) (dataset.Template, error) {
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
func unlessSkipped(p *Spec) string {
	if p.Workload.CanSkipTemplate() {
		return ", or " + p.Spelling.Spell(naming.SkipTemplate) + " to send them as they are"
	}
	return ""
}
