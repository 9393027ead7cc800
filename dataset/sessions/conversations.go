package sessions

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/rows"
)

// Conversations reads the input of vLLM's benchmarks/multi_turn: a JSON list of recorded chats,
// [{"id": "…", "messages": [{"role": "user", "content": "…"}, …]}, …]. A turn is a user's message. It
// asks for as many tokens as the recorded answer has. A last question without an answer is a turn,
// too, and leaves the length to the server. The other input of that script, an object that describes
// conversations to generate, is not read.
//
// A system message may come first; vLLM's client knows none.
type Conversations struct {
	dataset.Options      // with a Tokenizer to count; Num is a maximum, 0 and less: all
	Chat            bool // the endpoint takes messages
	MaxTurns        int  // turns of a session at most; 0: all
	OutputLen       int  // tokens to ask for; 0: as many as the recorded answer has
}

// A chat is an element of the list.
type chat struct {
	ID       *string `json:"id"`
	Messages []struct {
		Role    string  `json:"role"`
		Content *string `json:"content"`
	} `json:"messages"`
}

// Open reads the file. It returns the source and the number of its sessions.
func (d Conversations) Open() (dataset.Source, int, error) {
	f, err := open(d.Path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	if isObject(f) {
		return nil, 0, fmt.Errorf("%s: a recipe of vLLM's benchmarks/multi_turn is not read: use --dataset-name sessions, "+
			"or a list of conversations", d.Path)
	}
	after, err := d.index(f)
	if err != nil {
		return nil, 0, err
	}
	n := number(&d.Options, len(after))
	return fromFile(d.Path, n, func(file io.ReaderAt, i int) (*dataset.Conversation, error) {
		chat, err := rows.At[chat](file, after[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.Path, rows.Plain(err))
		}
		return d.session(*chat.ID, chat.messages()), nil
	}), n, nil
}

// isObject reports whether a file holds an object instead of a list.
func isObject(f io.ReaderAt) bool {
	r := bufio.NewReader(io.NewSectionReader(f, 0, 1<<62))
	for {
		c, err := r.ReadByte()
		if err != nil || !bytes.ContainsAny([]byte{c}, " \t\r\n") {
			return c == '{'
		}
	}
}

// index checks all chats, and returns where they are.
func (d Conversations) index(f io.ReadSeeker) (after []int64, err error) {
	array := rows.Array{Name: d.Path, File: f}
	seen := map[string]bool{}
	for e, err := range rows.Elements[chat](array) {
		if err != nil {
			return nil, err
		}
		err = e.Value.check()
		if err == nil && seen[*e.Value.ID] {
			err = errors.New("another conversation has the same id")
		}
		if err != nil {
			return nil, array.Fault(e.After, fmt.Errorf("conversation %d%s: %w", len(after)+1, e.Value.named(), err))
		}
		seen[*e.Value.ID] = true
		after = append(after, e.After)
	}
	if len(after) == 0 {
		return nil, fmt.Errorf("%s: it has no conversations", d.Path)
	}
	return after, nil
}

// named is the id of a chat in an error.
func (c *chat) named() string {
	if c.ID == nil {
		return ""
	}
	return fmt.Sprintf(" (%q)", *c.ID)
}

// check refuses a chat that is not questions and answers in turn.
func (c *chat) check() error {
	if c.ID == nil {
		return errors.New(`no "id"`)
	}
	questions := 0
	for i, m := range c.Messages {
		want := "user"
		if before := i - 1; before >= 0 && c.Messages[before].Role == "user" {
			want = "assistant"
		}
		switch {
		case m.Content == nil:
			return fmt.Errorf(`message %d has no "content"`, i+1)
		case i == 0 && m.Role == "system":
		case m.Role != want:
			return fmt.Errorf(`message %d has the "role" %q instead of %q`, i+1, m.Role, want)
		case want == "user":
			questions++
		}
	}
	if questions == 0 {
		return errors.New("no message of a user")
	}
	return nil
}

// messages are the messages of a checked chat.
func (c *chat) messages() []message {
	list := make([]message, len(c.Messages))
	for i, m := range c.Messages {
		list[i] = message{m.Role, *m.Content}
	}
	return list
}

// session makes the turns of checked messages.
func (d Conversations) session(id string, messages []message) *dataset.Conversation {
	c := &dataset.Conversation{ID: id}
	count := counter{o: &d.Options}
	for len(messages) > 0 && (d.MaxTurns == 0 || len(c.Turns) < d.MaxTurns) {
		n := 1
		if messages[0].Role == "system" {
			n = 2
		}
		turn := dataset.Turn{OutputLen: d.OutputLen}
		for _, m := range messages[:n] {
			count.text(m.Content)
		}
		turn.PromptLen = count.prompt()
		if d.Chat {
			turn.Messages = written(messages[:n]...)
		} else {
			turn.Prompt = asText(len(c.Turns), messages[:n]...)
		}
		if messages = messages[n:]; len(messages) > 0 {
			said := messages[0].Content
			turn.Answer = answer(said)
			tokens := count.text(said)
			if turn.OutputLen == 0 && d.Tokenizer != nil {
				turn.OutputLen = max(1, tokens)
			}
			messages = messages[1:]
		}
		c.Turns = append(c.Turns, turn)
	}
	return c
}
