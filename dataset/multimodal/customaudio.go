package multimodal

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/media"
	"github.com/servebench/servebench/dataset/media/sound"
	"github.com/servebench/servebench/dataset/rows"
)

// CustomAudio takes prompts with sounds from a file of JSON lines, as vLLM's custom_audio dataset
// does: {"prompt": "…", "audio": "a.wav", "output_tokens": 128}. The path of a sound is relative to
// the working directory. It sets Python. The seed decides the order, and which rows repeat.
type CustomAudio struct {
	dataset.Options // Path must end in .jsonl

	// OutputLen is the tokens to ask for. −1 is each row's output_tokens, and 256 without a Tokenizer.
	OutputLen int

	Chat bool // make the sounds content parts of a chat; otherwise files

	// Always adds the sounds without a Tokenizer, too. vLLM's client then leaves them out.
	Always bool
}

// untokenizedLen is what vLLM's client asks for without a tokenizer, unless a length is given.
const untokenizedLen = 256

// Open reads the file, and decodes the sounds that will be sent. It returns the source and the number
// of its conversations.
func (d CustomAudio) Open() (dataset.Source, int, error) {
	switch {
	case d.OutputLen < 1 && d.OutputLen != -1:
		return nil, 0, fmt.Errorf("output length %d: must be at least 1, or -1 for the length in each row", d.OutputLen)
	case !strings.HasSuffix(d.Path, ".jsonl"):
		return nil, 0, fmt.Errorf("%s: the name of a custom_audio dataset must end in .jsonl", d.Path)
	}
	list, err := d.read()
	if err != nil {
		return nil, 0, err
	}
	sent := order(&d.Options, len(list))
	if !d.heard() {
		d.Notice("%s: without a tokenizer, prompts are sent without their sounds, as by vLLM's client", d.Path)
	} else if err := d.check(list, sent); err != nil {
		return nil, 0, err
	}
	return dataset.Parallel(numbered(sent), runtime.GOMAXPROCS(0), func(n number) (*dataset.Conversation, error) {
		turn, err := d.turn(&list[n.row])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", d.Path, list[n.row].line, err)
		}
		return d.Conversation(n.conversation, turn), nil
	}), len(sent), nil
}

// heard reports whether requests have their sounds.
func (d CustomAudio) heard() bool { return d.Tokenizer != nil || d.Always }

// An audioRow is a line of the file.
type audioRow struct {
	line          int
	prompt, sound string
	outputLen     int
}

// read reads all rows.
func (d CustomAudio) read() ([]audioRow, error) {
	type fields struct {
		Prompt       *string         `json:"prompt"`
		Audio        *string         `json:"audio"`
		OutputTokens json.RawMessage `json:"output_tokens"`
	}
	return readRows(d.Path, func(line *rows.Line[fields]) (audioRow, error) {
		var err error
		row, v := audioRow{line: line.Number, outputLen: d.OutputLen}, line.Value
		switch {
		case v.Prompt == nil:
			return row, errors.New(`no "prompt"`)
		case v.Audio == nil:
			return row, errors.New(`no "audio", the path of a sound`)
		}
		row.prompt, row.sound = *v.Prompt, *v.Audio
		switch {
		case d.OutputLen != -1:
		case d.Tokenizer == nil:
			row.outputLen = untokenizedLen
		default:
			row.outputLen, err = dataset.OutputTokens(v.OutputTokens)
		}
		return row, err
	})
}

// check decodes each sound that is sent, so that one that cannot be read is known before the load.
func (d CustomAudio) check(list []audioRow, sent []int) error {
	var decoding errgroup.Group
	decoding.SetLimit(runtime.GOMAXPROCS(0))
	known := map[string]bool{}
	for _, i := range sent {
		row := &list[i]
		if known[row.sound] {
			continue
		}
		known[row.sound] = true
		decoding.Go(func() error {
			if _, err := read(row.sound); err != nil {
				return fmt.Errorf("%s:%d: %w", d.Path, row.line, err)
			}
			return nil
		})
	}
	return decoding.Wait()
}

// read decodes a file.
func read(path string) (*sound.Sound, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := sound.Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// turn is the request that a row makes.
func (d CustomAudio) turn(row *audioRow) (dataset.Turn, error) {
	turn := dataset.Turn{Prompt: row.prompt, PromptLen: 1, OutputLen: row.outputLen}
	if d.Template != nil && !d.Chat {
		var err error
		if turn.Prompt, err = d.Template(row.prompt); err != nil {
			return turn, fmt.Errorf("chat template: %w", err)
		}
	}
	if d.Tokenizer != nil {
		turn.PromptLen = d.Tokenizer.Count(turn.Prompt, true)
	}
	if !d.heard() {
		return turn, nil
	}
	s, err := read(row.sound)
	if err != nil {
		return turn, err
	}
	medium := media.Recording
	if d.Chat {
		medium = media.Speech
	}
	turn.Payload = &dataset.Payload{Media: []dataset.Medium{medium(s)}}
	return turn, nil
}
