package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// Marked is src with prompts that a prefix cache cannot know from prompts with another mark. A prompt
// of text or messages begins with its mark, and with a blank line: 12 hexadecimal digits, which
// depend on the seed and, with each, on the number of the session in src, from 0. So they are the
// same in every run with the seed. Blocks become other blocks of the same size, with each; they
// depend on a seed already. count, if not nil, counts the tokens of a text, to correct PromptLen.
//
// Prompts of token ids are refused.
func Marked(src Source, seed int64, each bool, count func(text string) int) Source {
	return func(yield func(*Conversation, error) bool) {
		number := -1
		for c, err := range src {
			if number++; err != nil {
				yield(nil, err)
				return
			}
			key := strconv.FormatInt(seed, 10)
			if each {
				key += ":" + strconv.Itoa(number)
			}
			m := marker{id: fnv1a([]byte("mark:" + key)), each: each}
			m.text = fmt.Sprintf("%012x\n\n", m.id>>16)
			if count != nil {
				m.tokens = count(m.text)
			}
			c, err := m.mark(c)
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// A marker marks the prompts of one session.
type marker struct {
	id     uint64
	text   string
	tokens int // of text, 0 if unknown
	each   bool
}

func (m *marker) mark(c *Conversation) (*Conversation, error) {
	marked := *c
	marked.Turns = make([]Turn, len(c.Turns))
	arrays := m.arrays(c)
	for i := range c.Turns {
		turn := c.Turns[i]
		switch {
		case turn.Blocks != nil || turn.Tail.Tokens > 0:
			if len(turn.Blocks) > 0 && m.each {
				turn.Blocks = arrays[&turn.Blocks[0]][:len(turn.Blocks):len(turn.Blocks)]
			}
			turn.Tail = m.block(turn.Tail)
		case c.continues(i, Everything):
			turn.PromptLen = m.longer(turn.PromptLen)
		case c.continues(i, AnswerOnly): // it begins with an answer
		default:
			if err := m.begin(&turn); err != nil {
				return nil, fmt.Errorf("turn %d: %w", i, err)
			}
		}
		marked.Turns[i] = turn
	}
	return &marked, nil
}

// block is the block in place of b.
func (m *marker) block(b Block) Block {
	if m.each {
		b.ID = (b.ID ^ m.id) * 0x100000001b3
	}
	return b
}

// arrays are the marked blocks of a session, as many as the longest prompt has, by the first of the
// blocks that they replace.
func (m *marker) arrays(c *Conversation) map[*Block][]Block {
	longest := map[*Block][]Block{}
	for i := range c.Turns {
		if blocks := c.Turns[i].Blocks; len(blocks) > 0 && len(blocks) > len(longest[&blocks[0]]) {
			longest[&blocks[0]] = blocks
		}
	}
	for first, blocks := range longest {
		marked := make([]Block, len(blocks))
		for i, b := range blocks {
			marked[i] = m.block(b)
		}
		longest[first] = marked
	}
	return longest
}

// begin puts the mark before a prompt.
func (m *marker) begin(turn *Turn) (err error) {
	switch {
	case turn.Messages != nil:
		turn.Messages, err = m.beginMessages(turn.Messages)
	case turn.TokenIDs != nil:
		err = errors.New("a prompt of token ids takes no mark")
	default:
		turn.Prompt = m.text + turn.Prompt
	}
	turn.PromptLen = m.longer(turn.PromptLen)
	return err
}

// longer is the length of a prompt with the mark; 0 if that is not known.
func (m *marker) longer(n int) int {
	if n == 0 || m.tokens == 0 {
		return 0
	}
	return n + m.tokens
}

// beginMessages puts the mark before the content of the first message.
func (m *marker) beginMessages(list json.RawMessage) (json.RawMessage, error) {
	content, err := firstContent(list)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(m.text)
	if err != nil {
		return nil, err
	}
	rest := list[content:]
	switch {
	case rest[0] == '"':
		text = text[:len(text)-1]
	case rest[0] == '[':
		text = append(append([]byte(`[{"type": "text", "text": `), text...), "}, "...)
	default:
		return nil, errors.New("the first message has no text to mark")
	}
	return slices.Concat(list[:content], text, rest[1:]), nil
}

// firstContent is where the content of the first message of a list begins.
func firstContent(list json.RawMessage) (int, error) {
	d := json.NewDecoder(bytes.NewReader(list))
	for _, opening := range []json.Delim{'[', '{'} {
		if token, err := d.Token(); err != nil || token != opening {
			return 0, errors.New("there is no first message to mark")
		}
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return 0, err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return 0, err
		}
		if key == "content" {
			return int(d.InputOffset()) - len(value), nil
		}
	}
	return 0, errors.New("the first message has no content to mark")
}
