package hf

import (
	"fmt"
	"os"
	"strings"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/media"
	"github.com/servebench/servebench/dataset/media/sound"
	"github.com/servebench/servebench/metrics/pyjson"
)

// earnings names the file of a sound in the column url, and is never read as a stream.
const earnings = "ArtificialAnalysis/Earnings22-Cleaned-AA"

// asr is speech to transcribe.
var asr = &class{
	repositories: []string{
		"openslr/librispeech_asr", "facebook/voxpopuli", "LIUM/tedlium", "edinburghcstr/ami", "speechcolab/gigaspeech",
		"kensho/spgispeech", earnings, "D4nt3/esb-datasets-earnings22-validation-tiny-filtered",
	},
	split: "train", outputLen: 1024, fitting: ": --asr-min-audio-len-sec and --asr-max-audio-len-sec bound how long a " +
		"sound lasts",
	turn: speechTurn, open: openSpeech,
	medium: &medium{columns: []string{"audio", "url"}, check: checkSpeech, attach: attachSpeech},
}

// The prompts that tell a model what to do with a sound. Transcriptions do not send them; they only
// count.
const (
	whisperPrompt = "<|startoftranscript|><|en|><|transcribe|><|notimestamps|>"
	coherePrompt  = "<|startofcontext|><|startoftranscript|><|emo:undefined|><|en|><|en|>" +
		"<|pnc|><|noitn|><|notimestamp|><|nodiarize|>"
)

// openSpeech opens the files.
func openSpeech(o *opened) (store, []int, error) {
	o.of.Rows.NoStream = o.of.Rows.NoStream || o.repository() == earnings
	return o.files()
}

// speechTurn is the request for a sound; nil if it lasts too short or too long.
func speechTurn(o *opened, row pyjson.Object) (*dataset.Turn, error) {
	s, err := speechOf(o, row)
	if err != nil {
		return nil, err
	}
	seconds, err := sound.Seconds(s.file)
	if err != nil {
		return nil, s.named(err)
	}
	if seconds < o.of.Speech.Min || o.of.Speech.Max > 0 && seconds > o.of.Speech.Max {
		return nil, nil
	}
	return o.asked(user(speechPrompt(o.of.Speech.Tokenizer)), "")
}

// speechPrompt is the prompt for the model of a tokenizer.
func speechPrompt(tokenizer string) string {
	switch {
	case strings.Contains(tokenizer, "openai"):
		return whisperPrompt
	case strings.Contains(strings.ToLower(tokenizer), "cohere"):
		return coherePrompt
	}
	return ""
}

// A speech is the file of a sound.
type speech struct {
	path string // empty if the row holds the file
	file []byte
}

// speechOf is the sound in a row: its file, or where that is.
func speechOf(o *opened, row pyjson.Object) (s speech, err error) {
	column := "audio"
	if o.repository() == earnings {
		column = "url"
	}
	value, err := within(row, column)
	if err != nil {
		return s, err
	}
	if object, ok := value.(pyjson.Object); ok {
		if file, _ := object.Get("bytes"); file != nil {
			value = file
		} else {
			value, _ = object.Get("path")
		}
	}
	switch v := value.(type) {
	case []byte:
		return speech{file: v}, nil
	case string:
		path := o.local(v)
		file, err := os.ReadFile(path)
		return speech{path, file}, err
	}
	return s, fmt.Errorf("%s is no sound: it must be bytes, a path, or an object with bytes or path", column)
}

// named is err with the path of the file, if it has one.
func (s *speech) named(err error) error {
	if s.path == "" {
		return err
	}
	return fmt.Errorf("%s: %w", s.path, err)
}

// medium is the sound as it is uploaded: a file as it is, and what the row holds as vLLM's client
// writes it again after it was read in single precision.
func (s *speech) medium() (dataset.Medium, error) {
	if s.path != "" {
		return media.RecordingFile(s.path, s.file)
	}
	read, err := sound.Read(s.file)
	if err != nil {
		return dataset.Medium{}, err
	}
	read.Single()
	return media.Recording(read), nil
}

func checkSpeech(o *opened, row pyjson.Object) error {
	s, err := speechOf(o, row)
	if err == nil {
		_, err = s.medium()
	}
	return err
}

func attachSpeech(o *opened, turn *dataset.Turn, row pyjson.Object) error {
	s, err := speechOf(o, row)
	if err != nil {
		return err
	}
	m, err := s.medium()
	turn.Payload = &dataset.Payload{Media: []dataset.Medium{m}}
	return err
}
