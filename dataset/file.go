package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/servebench/servebench/dataset/rows"
)

// File sends what WriteLine wrote, in its order and at its times, if it has any. It reads the file
// once when it is opened, to check all of it, and again as conversations are pulled, so the file
// may be larger than the memory.
type File struct {
	Path string
	Num  int // conversations to send, at most; 0 and less: all
}

// Open reads the file. It returns the source and the number of its conversations.
func (d File) Open() (Source, int, error) {
	if stat, err := os.Stat(d.Path); err != nil {
		return nil, 0, err
	} else if !stat.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s: is read twice, so it must be a regular file", d.Path)
	}
	n := 0
	for _, err := range d.source {
		if err != nil {
			return nil, 0, err
		}
		n++
	}
	if n == 0 {
		return nil, 0, fmt.Errorf("%s: the file is empty", d.Path)
	}
	return d.source, n, nil
}

func (d File) source(yield func(*Conversation, error) bool) {
	f, err := os.Open(d.Path)
	if err != nil {
		yield(nil, err)
		return
	}
	defer f.Close()
	d.read(f)(yield)
}

// read returns the conversations of r.
func (d File) read(r io.Reader) Source {
	return func(yield func(*Conversation, error) bool) {
		n, timed := 0, false
		for l, err := range rows.Lines[line](d.Path, r) {
			if err != nil {
				yield(nil, err)
				return
			}
			c, err := l.Value.conversation()
			if n == 0 && err == nil {
				timed = c.Due != nil
			}
			if err == nil && timed != (c.Due != nil) {
				err = errors.New(`some lines have a time "due" and some have none`)
			}
			if err != nil {
				yield(nil, fmt.Errorf("%s:%d: %w", d.Path, l.Number, err))
				return
			}
			if n++; !yield(c, nil) || n == d.Num {
				return
			}
		}
	}
}

// A line is a conversation of one turn as a line of JSON.
type line struct {
	ID        string          `json:"id"`
	Prompt    string          `json:"prompt"`
	PromptLen int             `json:"prompt_len"`
	OutputLen int             `json:"output_len"`
	TokenIDs  []int           `json:"token_ids,omitempty"`
	Messages  json.RawMessage `json:"messages,omitempty"`
	Due       *float64        `json:"due"`
}

// WriteLine writes a conversation of one turn as a line of JSON: its prompt, its lengths, and when
// it is due, in seconds from the start of the run.
func WriteLine(w io.Writer, c *Conversation, due float64) error {
	if len(c.Turns) != 1 {
		return fmt.Errorf("conversation %s has %d turns: only one can be written", c.ID, len(c.Turns))
	}
	turn := c.Turns[0]
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(line{c.ID, turn.Prompt, turn.PromptLen, turn.OutputLen, turn.TokenIDs, turn.Messages, &due})
}

// conversation is the conversation that was written as l.
func (l *line) conversation() (*Conversation, error) {
	switch {
	case l.Prompt == "" && len(l.TokenIDs) == 0 && !rows.Present(l.Messages):
		return nil, errors.New(`no "prompt", "token_ids" or "messages"`)
	case l.PromptLen < 0:
		return nil, fmt.Errorf(`"prompt_len" is %d: must not be negative`, l.PromptLen)
	case l.OutputLen < 1:
		return nil, fmt.Errorf(`"output_len" is %d: must be at least 1`, l.OutputLen)
	case l.Due != nil && !(*l.Due >= 0 && *l.Due < maxDue):
		return nil, fmt.Errorf(`"due" is %v: must be at least 0 and below %v seconds`, *l.Due, float64(maxDue))
	}
	turn := Turn{Prompt: l.Prompt, TokenIDs: l.TokenIDs, PromptLen: l.PromptLen, OutputLen: l.OutputLen}
	if rows.Present(l.Messages) {
		turn.Messages = l.Messages
	}
	return &Conversation{ID: l.ID, Turns: []Turn{turn}, Due: l.Due}, nil
}

// maxDue is the first whole second that a time.Duration does not reach.
const maxDue = math.MaxInt64/1_000_000_000 + 1
