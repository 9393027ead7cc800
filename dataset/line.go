package dataset

import (
	"encoding/json"
	"fmt"
	"io"
)

// WriteLine writes a conversation of one turn as a line of JSON: what is sent, how
// long it is, and when it is due, in seconds from the start of the run.
func WriteLine(w io.Writer, c *Conversation, due float64) error {
	if len(c.Turns) != 1 {
		return fmt.Errorf("conversation %s has %d turns: only one can be written", c.ID, len(c.Turns))
	}
	turn := c.Turns[0]
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(struct {
		ID        string  `json:"id"`
		Prompt    string  `json:"prompt"`
		PromptLen int     `json:"prompt_len"`
		OutputLen int     `json:"output_len"`
		TokenIDs  []int   `json:"token_ids,omitempty"`
		Due       float64 `json:"due"`
	}{c.ID, turn.Prompt, turn.PromptLen, turn.OutputLen, turn.TokenIDs, due})
}
