package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/hf"
	"github.com/servebench/servebench/dataset/multimodal"
	"github.com/servebench/servebench/loadgen/api"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
)

// mediaFlags are for prompts with images and sounds.
type mediaFlags struct{ *options }

func (g *mediaFlags) define(f *argv.Flags) {
	w := &g.Workload
	f.BoolVar(&w.MultimodalChat, "enable-multimodal-chat", false,
		"make the user's message where the prompt is made. The parts of its text then have another order of keys. "+
			"custom_audio then puts its sounds into a chat. Only for datasets with media")
	f.BoolVar(&w.Settings.CustomImage.Inline, "custom-ensure-client-side-data", false,
		"send the images of custom_image themselves, as PNG, instead of their URLs. They are read before the run")
	mm := &w.Settings.RandomMM
	f.IntVar(&mm.Items, "random-mm-base-items-per-request", 1, "`N` images of each request of random-mm")
	f.Float64Var(&mm.ItemRatio, "random-mm-num-mm-items-range-ratio", 0,
		"`RATIO` how much the number of images varies, from 0 to 1. 0.5 draws from 50 % to 150 %")
	f.Var(argv.Parsed(&mm.Limits, `{"image": 255, "video": 1}`, parseLimits), "random-mm-limit-mm-per-prompt",
		"`JSON` how many media of each kind a request has at most")
	f.Var(argv.Parsed(&mm.Buckets, `{"(256, 256, 1)": 0.5, "(720, 1280, 1)": 0.5, "(720, 1280, 16)": 0.0}`,
		multimodal.ParseBuckets), "random-mm-bucket-config",
		"`DICT` sizes of the images of random-mm, as {(HEIGHT, WIDTH, FRAMES): WEIGHT}. More than one frame is a video, "+
			"which must have the weight 0")
}

// parseLimits reads numbers by kinds of media.
func parseLimits(text string) (map[dataset.Kind]int, error) {
	object, err := argv.ParseObject(text)
	if err != nil {
		return nil, err
	}
	limits := map[dataset.Kind]int{}
	for _, m := range object {
		n, err := argv.ParseInt(string(pyjson.Append(nil, m.Value)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Key, err)
		}
		limits[dataset.Kind(m.Key)] = n
	}
	return limits, nil
}

// resolve checks what prompts with media need from other flags. It follows workloadFlags.
func (g *mediaFlags) resolve(*argv.Flags) error {
	w := &g.Workload
	w.Settings.CustomImage.OutputLen, w.Settings.CustomAudio.OutputLen = w.Settings.Custom.OutputLen, w.Settings.Custom.OutputLen
	if err := g.checkForms(); err != nil {
		return err
	}
	if api := g.Server.API(); w.MultimodalChat && !api.Messages &&
		slices.Contains([]string{"sharegpt", "custom_image", "hf"}, w.Dataset) {
		return fmt.Errorf("argument --enable-multimodal-chat: --backend %s sends no messages: it needs --backend "+
			"openai-chat", g.Server.Backend)
	}
	switch w.Dataset {
	case "custom_audio":
		return g.resolveCustomAudio()
	case "custom_image":
		return g.resolveCustomImage()
	case "random-mm":
		return g.resolveRandomMM()
	}
	return nil
}

func (g *mediaFlags) resolveCustomImage() error {
	w := &g.Workload
	switch {
	case !strings.HasSuffix(w.Path, ".jsonl"):
		return fmt.Errorf("argument --dataset-path: %s: a custom_image dataset's name must end with .jsonl",
			pyjson.Quote(w.Path))
	case w.Settings.Custom.OutputLen < 1 && w.Settings.Custom.OutputLen != -1:
		return fmt.Errorf("argument --custom-output-len: %d: it must be greater than 0, or -1", w.Settings.Custom.OutputLen)
	case w.TokenIDs:
		return errors.New("argument --prompt-token-ids: token ids have no images: take --dataset-name custom")
	}
	if g.mediaIgnored() {
		g.Warnings = append(g.Warnings, "--backend "+g.Server.Backend+
			" sends no images that are next to a prompt, like vLLM's client: take --backend openai-chat")
	}
	return nil
}

// checkForms refuses what requests with files do not have.
func (g *mediaFlags) checkForms() error {
	w, api := &g.Workload, g.Server.API()
	switch {
	case !api.Forms():
		return nil
	case !slices.Contains([]string{"custom_audio", "hf", "file"}, w.Dataset):
		return fmt.Errorf("argument --backend: %s takes a sound with each request, and the %s dataset has none: take "+
			"--dataset-name custom_audio, or hf with speech", api.Name, w.Dataset)
	case w.MultimodalChat:
		return fmt.Errorf("argument --enable-multimodal-chat: it puts sounds into a chat, and --backend %s takes files",
			api.Name)
	case g.Traffic.ProbeRate > 0:
		return fmt.Errorf("argument --probe-request-rate: probes have no sound, which --backend %s needs", api.Name)
	}
	return nil
}

func (g *mediaFlags) resolveCustomAudio() error {
	w, name, to := &g.Workload, g.Server.Backend, g.Server.API()
	switch {
	case !strings.HasSuffix(w.Path, ".jsonl"):
		return fmt.Errorf("argument --dataset-path: %s: a custom_audio dataset's name must end with .jsonl",
			pyjson.Quote(w.Path))
	case w.Settings.Custom.OutputLen < 1 && w.Settings.Custom.OutputLen != -1:
		return fmt.Errorf("argument --custom-output-len: %d: it must be greater than 0, or -1", w.Settings.Custom.OutputLen)
	case w.TokenIDs:
		return errors.New("argument --prompt-token-ids: token ids have no sounds: take --dataset-name custom")
	case to.Media == api.Parts && to.Templated && !w.MultimodalChat:
		return fmt.Errorf("argument --dataset-name: custom_audio sends files, which --backend %s does not take: also give "+
			"--enable-multimodal-chat", name)
	}
	if g.mediaIgnored() {
		g.Warnings = append(g.Warnings, "--backend "+name+
			" sends no sounds, like vLLM's client: take --backend openai-audio, or openai-chat with --enable-multimodal-chat")
	}
	return nil
}

// mediaIgnored reports that the backend sends no media that are next to a prompt, as vLLM's client does.
func (g *mediaFlags) mediaIgnored() bool {
	to := g.Server.API()
	return to.Media == api.NoMedia && !to.Pooling
}

func (g *mediaFlags) resolveRandomMM() error {
	switch {
	case !g.Server.API().Tools:
		return fmt.Errorf("argument --dataset-name: random-mm sends images, which --backend %s does not take: it needs "+
			"--backend openai-chat or anthropic", g.Server.Backend)
	case g.Server.SkipTokenizer:
		return errors.New("argument --skip-tokenizer-init: the random-mm dataset needs a tokenizer to make its prompts")
	}
	if err := g.Workload.Settings.RandomMM.Check(); err != nil {
		return fmt.Errorf("argument %w", err)
	}
	return nil
}

// hubFlags are for datasets of Hugging Face's Hub.
type hubFlags struct {
	*options
	categories string
}

func (g *hubFlags) define(f *argv.Flags) {
	d := &g.Workload.Settings.HF
	f.StringVar(&d.Name, "hf-name", "", "`REPOSITORY` the repository whose form the rows have, if --dataset-path is a "+
		"folder or a file")
	f.StringVar(&d.Subset, "hf-subset", "", "`NAME` configuration of the repository (default as in vLLM: main for "+
		"openai/gsm8k)")
	f.StringVar(&d.Split, "hf-split", "", "`NAME` split of the repository (default as in vLLM: mostly train, or test)")
	f.Var(argv.Optional(&d.OutputLen, argv.ParseInt), "hf-output-len",
		"`TOKENS` output length of hf (default a length that vLLM sets for the repository, or the recorded length)")
	f.BoolVar(&d.NoStream, "no-stream", false, "shuffle all rows of hf at once, and not as a stream. The order is then "+
		"another from 1,000 rows on")
	f.Float64Var(&d.MinDistance, "blazedit-min-distance", 0,
		"`RATIO` take edits of vdaita/edit_5k_char and edit_10k_char that change at least this share of the code")
	f.Float64Var(&d.MaxDistance, "blazedit-max-distance", 1,
		"`RATIO` take edits that change at most this share of the code")
	f.Float64Var(&d.MinSeconds, "asr-min-audio-len-sec", 0, "`SECONDS` take speech of hf that lasts at least as long")
	f.Float64Var(&d.MaxSeconds, "asr-max-audio-len-sec", math.Inf(1),
		"`SECONDS` take speech that lasts at most as long. 0 is no limit")
	f.StringVar(&g.categories, "bfcl-categories", "", "`NAMES` categories of "+hf.BFCL+
		", with commas (default simple,live_simple,multiple)")
	f.Offer("hf-name", hf.Repositories()...)
}

// resolve checks what a dataset of the Hub needs from other flags. It follows workloadFlags.
func (g *hubFlags) resolve(*argv.Flags) error {
	d := &g.Workload.Settings.HF
	for _, name := range strings.Split(g.categories, ",") {
		if name = strings.TrimSpace(name); name != "" {
			d.Categories = append(d.Categories, name)
		}
	}
	if g.Workload.Dataset != "hf" {
		return nil
	}
	needs, err := hf.NeedsOf(g.Workload.Path, d.Name)
	name, to := g.Server.Backend, g.Server.API()
	switch {
	case err != nil:
		return err
	case g.Server.SkipTokenizer:
		return errors.New("argument --skip-tokenizer-init: the hf dataset needs a tokenizer to measure its prompts")
	case d.OutputLen != nil && *d.OutputLen < 1:
		return fmt.Errorf("argument --hf-output-len: %d: it must be greater than 0", *d.OutputLen)
	case needs.Tools && !to.Tools:
		return fmt.Errorf("argument --dataset-path: %s sends tools, which --backend %s does not take: it needs --backend "+
			"openai-chat or anthropic", hf.BFCL, name)
	case needs.Files != to.Forms() && (needs.Media || to.Forms()):
		return g.checkFiles(needs)
	case !(d.MinSeconds >= 0):
		return fmt.Errorf("argument --asr-min-audio-len-sec: %s: it must not be negative", metrics.FormatFloat(d.MinSeconds))
	case !(d.MaxSeconds >= 0):
		return fmt.Errorf("argument --asr-max-audio-len-sec: %s: it must not be negative", metrics.FormatFloat(d.MaxSeconds))
	case needs.Media && !needs.Files && to.Media != api.Parts:
		return fmt.Errorf("argument --dataset-path: its rows have images, videos or sounds, which --backend %s does not "+
			"take: it needs --backend openai-chat or anthropic", name)
	case g.Workload.TokenIDs && (needs.Media || needs.Tools):
		return errors.New("argument --prompt-token-ids: token ids have no images, videos, sounds and tools")
	}
	return nil
}

// checkFiles refuses rows with speech if the backend takes no files, and other rows if it does.
func (g *hubFlags) checkFiles(needs hf.Needs) error {
	if needs.Files {
		return fmt.Errorf("argument --dataset-path: its rows have speech, which --backend %s does not take as files: it "+
			"needs --backend openai-audio", g.Server.Backend)
	}
	return fmt.Errorf("argument --dataset-path: --backend %s takes a sound with each request, and its rows have none",
		g.Server.Backend)
}
