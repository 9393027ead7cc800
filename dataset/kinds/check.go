package kinds

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/servebench/servebench/dataset/hf"
	"github.com/servebench/servebench/metrics/pyjson"
)

// Asked is what else a user has asked for, which the settings of a dataset have to fit.
type Asked struct {
	Name          string // of the dataset
	Path          string
	NumPrompts    int
	TokenIDs      bool  // prompts as token ids
	SkipTokenizer bool  // there is no tokenizer
	InChat        bool  // the client makes the user's message with its media
	RangeRatio    error // what is wrong with Settings.RangeRatio; nil if nothing is

	// How the API takes prompts.
	Backend   string // its name
	Text      bool   // as messages and text, and never as token ids
	Pooling   bool   // its answers are numbers
	Files     bool   // as a form with a file
	Parts     bool   // with media as parts of messages
	Mute      bool   // without media
	Tools     bool   // with tools
	Templated bool   // the server puts them into a chat template
	WithTools string // the APIs that take tools and media, for a sentence

	Warn func(text string) // takes a warning
}

// ending refuses a file whose name ends in another way.
func (a *Asked) ending(suffix string) error {
	if strings.HasSuffix(a.Path, suffix) {
		return nil
	}
	return fmt.Errorf("argument --dataset-path: %s: a %s dataset's name must end with %s", pyjson.Quote(a.Path), a.Name,
		suffix)
}

func checkRandom(s *Settings, a *Asked) error {
	if a.SkipTokenizer && !a.TokenIDs {
		return errors.New("argument --skip-tokenizer-init: without a tokenizer the random dataset needs --prompt-token-ids")
	}
	return checkDrawn(s, a, s.BatchSize > 1, "random-batch-size")
}

func checkRerank(s *Settings, a *Asked) error {
	if s.NoReranker && s.BatchSize > 0 && min(s.BatchSize, a.NumPrompts) < 2 {
		return errors.New("argument --random-batch-size: with --no-reranker the query is one of the prompts: it and " +
			"--num-prompts must be at least 2")
	}
	return checkDrawn(s, a, true, "dataset-name: random-rerank")
}

// checkDrawn checks what prompts of random tokens need. several says that a request has several, and flag why.
func checkDrawn(s *Settings, a *Asked, several bool, flag string) error {
	r := &s.Random
	switch {
	case s.BatchSize < 1:
		return fmt.Errorf("argument --random-batch-size: %d: it must be greater than 0", s.BatchSize)
	case several && a.Text && !a.Pooling:
		return fmt.Errorf("argument --%s: --backend %s takes one prompt in a request: --backend list shows the others", flag,
			a.Backend)
	case several && a.TokenIDs:
		return errors.New("argument --prompt-token-ids: requests with several prompts are sent as text")
	case several && a.SkipTokenizer:
		return errors.New("argument --skip-tokenizer-init: requests with several prompts need a tokenizer")
	case r.InputLen < 0:
		return fmt.Errorf("argument --random-input-len: %d: it must not be negative", r.InputLen)
	case r.OutputLen < 0:
		return fmt.Errorf("argument --random-output-len: %d: it must not be negative", r.OutputLen)
	case r.PrefixLen < 0:
		return fmt.Errorf("argument --random-prefix-len: %d: it must not be negative", r.PrefixLen)
	case a.RangeRatio != nil:
		return fmt.Errorf("argument --random-range-ratio: %w", a.RangeRatio)
	}
	return nil
}

func checkRandomMM(s *Settings, a *Asked) error {
	if err := checkDrawn(s, a, false, ""); err != nil {
		return err
	}
	switch {
	case !a.Tools:
		return fmt.Errorf("argument --dataset-name: random-mm sends images, which --backend %s does not take: it needs "+
			"--backend %s", a.Backend, a.WithTools)
	case a.SkipTokenizer:
		return errors.New("argument --skip-tokenizer-init: the random-mm dataset needs a tokenizer to make its prompts")
	}
	if err := s.RandomMM.Media.Check(); err != nil {
		return fmt.Errorf("argument %w", err)
	}
	return nil
}

func checkShareGPT(s *Settings, a *Asked) error {
	if a.SkipTokenizer {
		return errors.New("argument --skip-tokenizer-init: the sharegpt dataset needs a tokenizer to measure its prompts")
	}
	if n := s.ShareGPTLen; n != nil && *n < 1 {
		return fmt.Errorf("argument --sharegpt-output-len: %d: it must be greater than 0", *n)
	}
	return nil
}

// checkRows checks what files of a custom dataset need.
func checkRows(s *Settings, a *Asked) error {
	if err := a.ending(".jsonl"); err != nil {
		return err
	}
	if n := s.Custom.OutputLen; n < 1 && n != -1 {
		return fmt.Errorf("argument --custom-output-len: %d: it must be greater than 0, or -1", n)
	}
	return nil
}

func checkCustom(s *Settings, a *Asked) error {
	if err := checkRows(s, a); err != nil {
		return err
	}
	if a.TokenIDs && a.SkipTokenizer {
		return errors.New("argument --prompt-token-ids: the custom dataset needs a tokenizer for it")
	}
	return nil
}

func checkCustomImage(s *Settings, a *Asked) error {
	if err := checkRows(s, a); err != nil {
		return err
	}
	if a.TokenIDs {
		return errors.New("argument --prompt-token-ids: token ids have no images: take --dataset-name custom")
	}
	if a.Mute && !a.Pooling {
		a.Warn("--backend " + a.Backend + " sends no images that are next to a prompt, like vLLM's client: take --backend " +
			"openai-chat")
	}
	return nil
}

func checkCustomAudio(s *Settings, a *Asked) error {
	if err := checkRows(s, a); err != nil {
		return err
	}
	switch {
	case a.TokenIDs:
		return errors.New("argument --prompt-token-ids: token ids have no sounds: take --dataset-name custom")
	case a.Parts && a.Templated && !a.InChat:
		return fmt.Errorf("argument --dataset-name: custom_audio sends files, which --backend %s does not take: also give "+
			"--enable-multimodal-chat", a.Backend)
	}
	if a.Mute && !a.Pooling {
		a.Warn("--backend " + a.Backend + " sends no sounds, like vLLM's client: take --backend openai-audio, or " +
			"openai-chat with --enable-multimodal-chat")
	}
	return nil
}

// checkMeasured checks a dataset whose prompts a tokenizer has to measure.
func checkMeasured(_ *Settings, a *Asked) error {
	if a.SkipTokenizer {
		return fmt.Errorf("argument --skip-tokenizer-init: the %s dataset needs a tokenizer", a.Name)
	}
	return nil
}

func checkTimedTrace(s *Settings, a *Asked) error {
	if !a.Text {
		return nil
	}
	return checkMeasured(s, a)
}

func checkFile(_ *Settings, a *Asked) error {
	if a.TokenIDs {
		return errors.New("argument --prompt-token-ids: what a file holds is sent as it is")
	}
	return nil
}

func checkBurstGPT(_ *Settings, a *Asked) error { return a.ending(".csv") }

// checkHF checks what a dataset of the Hub needs.
func checkHF(s *Settings, a *Asked) error {
	d := &s.HF
	needs, err := hf.NeedsOf(a.Path, d.Name)
	switch {
	case err != nil:
		return err
	case a.SkipTokenizer:
		return errors.New("argument --skip-tokenizer-init: the hf dataset needs a tokenizer to measure its prompts")
	case d.OutputLen != nil && *d.OutputLen < 1:
		return fmt.Errorf("argument --hf-output-len: %d: it must be greater than 0", *d.OutputLen)
	case needs.Tools && !a.Tools:
		return fmt.Errorf("argument --dataset-path: %s sends tools, which --backend %s does not take: it needs --backend "+
			"%s", hf.BFCL, a.Backend, a.WithTools)
	case needs.Files && !a.Files && needs.Media:
		return fmt.Errorf("argument --dataset-path: its rows have speech, which --backend %s does not take as files: it "+
			"needs --backend openai-audio", a.Backend)
	case !needs.Files && a.Files:
		return fmt.Errorf("argument --dataset-path: --backend %s takes a sound with each request, and its rows have none",
			a.Backend)
	case !(d.Speech.Min >= 0):
		return fmt.Errorf("argument --asr-min-audio-len-sec: %s: it must not be negative", number(d.Speech.Min))
	case !(d.Speech.Max >= 0):
		return fmt.Errorf("argument --asr-max-audio-len-sec: %s: it must not be negative", number(d.Speech.Max))
	case needs.Media && !needs.Files && !a.Parts:
		return fmt.Errorf("argument --dataset-path: its rows have images, videos or sounds, which --backend %s does not "+
			"take: it needs --backend %s", a.Backend, a.WithTools)
	case a.TokenIDs && (needs.Media || needs.Tools):
		return errors.New("argument --prompt-token-ids: token ids have no images, videos, sounds and tools")
	}
	return nil
}

func checkSynthetic(s *Settings, _ *Asked) error {
	switch d := &s.Synthetic; {
	case !(d.Agents.Share >= 0 && d.Agents.Share <= 1):
		return fmt.Errorf("argument --session-agent-share: %s: it must be from 0 to 1", number(d.Agents.Share))
	case !(d.Shape.Growth >= 0 && d.Shape.Growth <= 100):
		return fmt.Errorf("argument --session-growth: %s: it must be from 0 to 100", number(d.Shape.Growth))
	case !(d.System.Bias >= 0 && d.System.Bias < 100):
		return fmt.Errorf("argument --session-system-bias: %s: it must be at least 0 and below 100", number(d.System.Bias))
	case d.System.Kinds < 0:
		return fmt.Errorf("argument --session-systems: %d: it must not be negative", d.System.Kinds)
	}
	return nil
}

// number is a number as a message has it.
func number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, -1):
		return "-inf"
	}
	return string(pyjson.Append(nil, v))
}
