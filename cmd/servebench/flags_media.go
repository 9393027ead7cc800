package main

import (
	"fmt"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/dataset/kinds"
)

// mediaFlags are for prompts with images and sounds.
type mediaFlags struct{ *options }

func (g *mediaFlags) define(f *argv.Flags) {
	w := &g.Plan.Workload
	f.BoolVar(&w.MultimodalChat, "enable-multimodal-chat", false,
		"make the user's message where the prompt is made. The parts of its text then have another order of keys. "+
			"custom_audio then puts its sounds into a chat. Only for datasets with media")
	kinds.Define(kinds.Media, argv.Definer{Flags: f}, &w.Settings)
}

// resolve checks what prompts with media need from other flags. It follows workloadFlags.
func (g *mediaFlags) resolve(*argv.Flags) error {
	w := &g.Plan.Workload
	of := &w.Settings
	of.CustomImage.OutputLen, of.CustomAudio.OutputLen = of.Custom.OutputLen, of.Custom.OutputLen
	if err := g.checkForms(); err != nil {
		return err
	}
	if api := g.Plan.Server.API(); w.MultimodalChat && !api.Messages && w.Has(kinds.Chats) {
		return fmt.Errorf("argument --enable-multimodal-chat: --backend %s sends no messages: it needs --backend "+
			"openai-chat", g.Plan.Server.Backend)
	}
	return (&workloadFlags{options: g.options}).check()
}

// checkForms refuses what requests with files do not have.
func (g *mediaFlags) checkForms() error {
	w, api := &g.Plan.Workload, g.Plan.Server.API()
	switch {
	case !api.Forms():
		return nil
	case !w.Has(kinds.Speaks):
		return fmt.Errorf("argument --backend: %s takes a sound with each request, and the %s dataset has none: take "+
			"--dataset-name custom_audio, or hf with speech", api.Name, w.Dataset)
	case w.MultimodalChat:
		return fmt.Errorf("argument --enable-multimodal-chat: it puts sounds into a chat, and --backend %s takes files",
			api.Name)
	case g.Plan.Traffic.ProbeRate > 0:
		return fmt.Errorf("argument --probe-request-rate: probes have no sound, which --backend %s needs", api.Name)
	}
	return nil
}

// hubFlags are for datasets of Hugging Face's Hub.
type hubFlags struct{ *options }

func (g *hubFlags) define(f *argv.Flags) {
	kinds.Define(kinds.Hub, argv.Definer{Flags: f}, &g.Plan.Workload.Settings)
}
