package sessions

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"

	"github.com/servebench/servebench/dataset"
)

// A message is one message of a recorded chat.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// written is the JSON of messages.
func written(messages ...message) json.RawMessage { return asJSON(messages) }

// parts is the JSON of a user's message whose content is a list of one text, as the Rust client
// sends it.
func parts(text string) json.RawMessage {
	type part struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	type user struct {
		Role    string `json:"role"`
		Content []part `json:"content"`
	}
	return asJSON([]user{{"user", []part{{"text", text}}}})
}

// asJSON is the JSON of what can always be written as JSON.
func asJSON(v any) json.RawMessage {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}

// answer is a recorded answer of that text.
func answer(text string) json.RawMessage { return asJSON(message{"assistant", text}) }

// asText is what messages add to a prompt of text: each begins a line. An endpoint of
// completions goes on where the prompt ends, so the answer follows on the same line.
func asText(turn int, messages ...message) string {
	var text strings.Builder
	for i, m := range messages {
		if turn > 0 || i > 0 {
			text.WriteByte('\n')
		}
		text.WriteString(m.Content)
	}
	return text.String()
}

// A counter counts the tokens of a prompt that grows, without what a chat template adds.
type counter struct {
	o       *dataset.Options
	total   int
	unknown bool // without a tokenizer, or after an answer of unknown length
}

// text adds a text, and is its number of tokens.
func (c *counter) text(text string) int {
	if c.o.Tokenizer == nil {
		c.unknown = true
		return 0
	}
	if c.total == 0 {
		c.total = c.o.Tokenizer.NumSpecial()
	}
	n := c.o.Tokenizer.Count(text, false)
	c.total += n
	return n
}

// answer adds an answer; 0 is one of unknown length.
func (c *counter) answer(tokens int) {
	c.total += tokens
	c.unknown = c.unknown || tokens == 0
}

// prompt is the tokens of the whole prompt; 0 if they are not known.
func (c *counter) prompt() int {
	if c.unknown {
		return 0
	}
	return c.total
}

// fromFile is a Source of n sessions that work makes of an open file, as dataset.Numbered does. Each
// iteration opens the file again.
func fromFile(path string, n int, work func(file io.ReaderAt, i int) (*dataset.Conversation, error)) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		f, err := open(path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		dataset.Numbered(n, func(i int) (*dataset.Conversation, error) { return work(f, i) })(yield)
	}
}
