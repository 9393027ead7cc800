package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/dataset/hf"
	"github.com/servebench/servebench/dataset/kinds"
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
	kinds.Define(kinds.Media, argv.Definer{Flags: f}, &w.Settings)
}

// resolve checks what prompts with media need from other flags. It follows workloadFlags.
func (g *mediaFlags) resolve(*argv.Flags) error {
	w := &g.Workload
	of := &w.Settings
	of.CustomImage.OutputLen, of.CustomAudio.OutputLen = of.Custom.OutputLen, of.Custom.OutputLen
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
type hubFlags struct{ *options }

func (g *hubFlags) define(f *argv.Flags) {
	kinds.Define(kinds.Hub, argv.Definer{Flags: f}, &g.Workload.Settings)
}

// resolve checks what a dataset of the Hub needs from other flags. It follows workloadFlags.
func (g *hubFlags) resolve(*argv.Flags) error {
	d := &g.Workload.Settings.HF
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
