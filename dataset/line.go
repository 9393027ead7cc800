package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

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

// WriteLine writes a conversation of one turn as a line of JSON: what is sent, how
// long it is, and when it is due, in seconds from the start of the run.
func WriteLine(w io.Writer, c *Conversation, due float64) error {
	if len(c.Turns) != 1 {
		return fmt.Errorf("conversation %s has %d turns: only one can be written", c.ID, len(c.Turns))
	}
	turn := c.Turns[0]
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(line{c.ID, turn.Prompt, turn.PromptLen, turn.OutputLen, turn.TokenIDs, turn.Messages, &due})
}

// conversation is the one that was written as l.
func (l *line) conversation() (*Conversation, error) {
	switch {
	case l.Prompt == "" && len(l.TokenIDs) == 0 && !present(l.Messages):
		return nil, errors.New(`no "prompt", "token_ids" or "messages"`)
	case l.PromptLen < 0:
		return nil, fmt.Errorf(`"prompt_len" is %d: must not be negative`, l.PromptLen)
	case l.OutputLen < 1:
		return nil, fmt.Errorf(`"output_len" is %d: must be at least 1`, l.OutputLen)
	case l.Due != nil && !(*l.Due >= 0 && *l.Due < maxDue):
		return nil, fmt.Errorf(`"due" is %v: must be at least 0 and below %v seconds`, *l.Due, float64(maxDue))
	}
	turn := Turn{Prompt: l.Prompt, TokenIDs: l.TokenIDs, PromptLen: l.PromptLen, OutputLen: l.OutputLen}
	if present(l.Messages) {
		turn.Messages = l.Messages
	}
	return &Conversation{ID: l.ID, Turns: []Turn{turn}, Due: l.Due}, nil
}

// maxDue is the first whole second that a time.Duration does not reach.
const maxDue = math.MaxInt64/1_000_000_000 + 1
