package kinds

import (
	"errors"
	"sync"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/batches"
	"github.com/servebench/servebench/dataset/hf"
	"github.com/servebench/servebench/dataset/jinja"
	"github.com/servebench/servebench/dataset/media"
	"github.com/servebench/servebench/dataset/replay"
)

func openRandom(s *Settings, r *Run) (Opener, error) {
	if r.NumPyArrivals {
		r.useNumPy()
	}
	d := s.Random
	if d.Options = r.ids(); s.BatchSize > 1 {
		return batches.Random{Random: d, Size: s.BatchSize}, nil
	}
	return d, nil
}

func openRerank(s *Settings, r *Run) (Opener, error) {
	d := s.Random
	d.Options = r.Options
	return batches.Rerank{Random: d, Size: max(s.BatchSize, 1), Separate: s.NoReranker}, nil
}

func openRandomMM(s *Settings, r *Run) (Opener, error) {
	d := s.RandomMM
	d.Random, d.Chat = s.Random, r.MultimodalChat
	d.Options = r.Options
	return d, nil
}

func openPrefixes(s *Settings, r *Run) (Opener, error) {
	r.useNumPy()
	d := s.PrefixRepetition
	d.Options = r.ids()
	return d, nil
}

func openBurstGPT(_ *Settings, r *Run) (Opener, error) {
	return dataset.BurstGPT{Options: r.ids()}, nil
}

func openTimedTrace(s *Settings, r *Run) (Opener, error) {
	r.useNumPy()
	d := s.TimedTrace
	d.Options, d.Text, d.FileOrder = r.Options, r.Text, !r.SelfTimed
	return d, nil
}

func openFile(_ *Settings, r *Run) (Opener, error) {
	return replay.File{Options: r.Options, Text: r.Text, IgnoreEOS: r.IgnoreEOS}, nil
}

func openShareGPT(s *Settings, r *Run) (Opener, error) {
	d := dataset.ShareGPT{Options: r.Options, Attach: r.attach()}
	if n := s.ShareGPTLen; n != nil {
		d.OutputLen = *n
	}
	return d, nil
}

// attach adds what the conversations of sharegpt have apart from text.
func (r *Run) attach() func(turn *dataset.Turn, image, video string) {
	var once sync.Once
	return func(turn *dataset.Turn, image, video string) {
		var with []dataset.Medium
		switch {
		case image != "":
			with = []dataset.Medium{media.Linked(dataset.Image, media.ImageURL(image))}
		case video != "":
			with = []dataset.Medium{media.Linked(dataset.Video, media.VideoURL(video))}
		}
		if with != nil && r.Mute {
			once.Do(func() {
				r.Options.Notice("the sharegpt dataset has images or videos, and --backend %s sends none: take --backend "+
					"openai-chat", r.Backend)
			})
		}
		if with != nil {
			turn.Payload = &dataset.Payload{Media: with}
		}
		if r.MultimodalChat {
			turn.Messages = media.Message(turn.Prompt, with)
		}
	}
}

func openCustomImage(s *Settings, r *Run) (Opener, error) {
	d := s.CustomImage
	d.Options, d.Chat = r.Options, r.MultimodalChat
	return d, nil
}

// openCustomAudio opens a dataset whose prompts have sounds. A model of speech may have no chat template.
// Transcriptions have no prompt: it only counts, with its template even if prompts are to have none,
// as in vLLM's client.
func openCustomAudio(s *Settings, r *Run) (Opener, error) {
	d, o := s.CustomAudio, r.Options
	if !r.MultimodalChat {
		var err error
		if o.Template, err = r.Template(); err != nil && !r.Files && !errors.Is(err, jinja.ErrNone) {
			return nil, err
		}
	}
	d.Options, d.Chat, d.Always = o, r.MultimodalChat, r.Files
	return d, nil
}

func openCustom(s *Settings, r *Run) (_ Opener, err error) {
	d := s.Custom
	d.Options, err = r.rendered(true)
	return d, err
}

func openSpeedBench(s *Settings, r *Run) (_ Opener, err error) {
	d := s.SpeedBench
	d.Options, err = r.rendered(true)
	return d, err
}

func openSpecBench(s *Settings, r *Run) (_ Opener, err error) {
	d := s.SpecBench
	d.Options, err = r.rendered(false)
	return d, err
}

func openSonnet(s *Settings, r *Run) (_ Opener, err error) {
	d := s.Sonnet
	d.Options, err = r.rendered(false)
	d.Bare = r.Chat
	return d, err
}

// openHF opens a data set of the Hugging Face Hub.
func openHF(s *Settings, r *Run) (Opener, error) {
	d := s.HF
	d.Options, d.Chat, d.Speech.Tokenizer = r.Options, r.MultimodalChat, r.TokenizerName
	d.ChatTemplate = hf.ChatTemplate{Skip: r.SkipTemplate, Open: r.OpenTemplate}
	return d, nil
}
