package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
)

// A Conversation is a session: one or more turns, each sent once what it waits for has been
// answered. A chain of turns is a chat. A tree has sub-agents, and a join waits for several turns.
// Most conversations have one turn. Nobody changes a conversation that a Source has yielded.
type Conversation struct {
	ID    string // request id; empty if the dataset has no ids
	Turns []Turn // a turn comes after those that it waits for

	// Adapter is the LoRA adapter that all its requests ask for in place of the model; empty for none.
	Adapter string

	// Due is when the conversation starts, in seconds from the start of the run. It is nil if the
	// dataset has no times; a dataset has times for all of its conversations or for none. The times
	// At in its turns count from there, too, or from the start of the conversation if Due is nil.
	Due *float64

	// Mint makes the prompt of a turn with Blocks, in the turn. It is nil if no turn has Blocks. It
	// is safe for concurrent use, and gives equal Blocks equal tokens.
	Mint func(t *Turn) error
}

// A Turn is one request. It sends Messages if set, else TokenIDs if set, else Prompt. If it has
// the history of another turn, these are only what it adds.
type Turn struct {
	Prompt    string
	TokenIDs  []int           // the prompt as token ids, for endpoints that take them
	Messages  json.RawMessage // a ready list of chat messages
	Blocks    []Block         // the prompt as blocks, in place of all of these until it is minted
	Tail      Block           // the last block of the prompt, if it has tokens; see AllBlocks
	Payload   *Payload        // what else the request has; nil for most
	PromptLen int             // tokens in the whole prompt by this dataset's count; 0 if unknown
	OutputLen int             // tokens to ask for; 0 if the server decides

	// Waits are the turns that must have been answered. Nil means the turn before this one, with
	// its whole history; for the first turn nothing. Empty but not nil means nothing.
	Waits []Wait
	Gap   float64  // seconds from the end of the last of the Waits, or from the start, to this turn
	At    *float64 // when the recording had it sent, in seconds, see Due; nil if unknown
	Took  float64  // how many seconds the recorded answer took; 0 if unknown
	Agent string   // who sends it; empty if the conversation has one agent
	Tool  bool     // its gap is a tool's, not a person's

	// Answer is the recorded answer as an assistant's message; nil if it is not known.
	Answer json.RawMessage
}

// A Wait is one turn that another turn waits for.
type Wait struct {
	Turn    int // its position in the conversation
	History History
}

// A History is what a prompt has of a turn that it waits for.
type History int8

const (
	Nothing    History = iota // only the order matters: a spawn, a join, a prompt that is complete
	Everything                // all that led to that turn, the turn and its answer; at most one Wait has it
	AnswerOnly                // the answer alone
)

// A Block is a part of a prompt. Blocks with equal ID and Tokens have equal tokens.
type Block struct {
	ID     uint64
	Tokens int32 // how many tokens it has
}

// AllBlocks yields the blocks of the prompt: Blocks, and the Tail if it has tokens. Prompts often end
// in a part of a block. It is apart so that one array can have the Blocks of all prompts that begin
// with the same ones.
func (t *Turn) AllBlocks() iter.Seq[Block] {
	return func(yield func(Block) bool) {
		for _, b := range t.Blocks {
			if !yield(b) {
				return
			}
		}
		if t.Tail.Tokens > 0 {
			yield(t.Tail)
		}
	}
}

// WaitsOf is what turn number i waits for.
func (c *Conversation) WaitsOf(i int) []Wait {
	if waits := c.Turns[i].Waits; waits != nil || i == 0 {
		return waits
	}
	return []Wait{{i - 1, Everything}}
}

// Remembers reports whether a prompt has the answer to an earlier turn. A prompt of blocks has none:
// what it has of answers is among the blocks.
func (c *Conversation) Remembers() bool {
	for i := range c.Turns {
		if t := &c.Turns[i]; t.Blocks == nil && t.Tail.Tokens == 0 &&
			(c.continues(i, Everything) || c.continues(i, AnswerOnly)) {
			return true
		}
	}
	return false
}

// continues reports whether turn number i has a history of that kind.
func (c *Conversation) continues(i int, h History) bool {
	return slices.ContainsFunc(c.WaitsOf(i), func(w Wait) bool { return w.History == h })
}

// Prompted is turn number i with its whole prompt: minted if it has Blocks, and with its history.
// said has the live answers by turn, as assistants' messages. A nil said means the recorded
// answers. The recorded results of tools, in order, answer the live calls: calls without a result are
// left out, and results without a call are a user's messages, since servers refuse others.
func (c *Conversation) Prompted(i int, said []json.RawMessage) (Turn, error) {
	turn := c.Turns[i]
	if turn.Blocks != nil || turn.Tail.Tokens > 0 {
		if c.Mint == nil {
			return turn, errors.New("a prompt of blocks, and nothing to make it of")
		}
		err := c.Mint(&turn)
		return turn, err
	}
	parts, err := c.history(i, said)
	switch {
	case err != nil || len(parts) == 0:
		return turn, err
	case turn.Messages != nil:
		lists := make([]json.RawMessage, 0, len(parts)+1)
		for _, p := range parts {
			lists = append(lists, p.message())
		}
		if lists = append(lists, turn.Messages); said != nil {
			err = paired(lists)
		}
		turn.Messages = joinLists(lists)
	default:
		turn.Prompt, err = joinTexts(parts, turn.Prompt)
	}
	return turn, err
}

// A historyPart is what one turn or its answer adds to a prompt: messages as JSON, or a text.
type historyPart struct {
	messages json.RawMessage
	text     string
}

// history is what comes before the own part of turn number i: all that led to it, and then the
// answers that it has alone.
func (c *Conversation) history(i int, said []json.RawMessage) (parts []historyPart, err error) {
	waits := c.WaitsOf(i)
	for _, wait := range waits {
		if wait.History == Everything {
			if parts, err = c.history(wait.Turn, said); err != nil {
				return nil, err
			}
			before := &c.Turns[wait.Turn]
			parts = append(parts, historyPart{before.Messages, before.Prompt})
			if parts, err = c.answered(i, wait.Turn, said, parts); err != nil {
				return nil, err
			}
		}
	}
	for _, wait := range waits {
		if wait.History == AnswerOnly {
			if parts, err = c.answered(i, wait.Turn, said, parts); err != nil {
				return nil, err
			}
		}
	}
	return parts, nil
}

// answered is parts and the answer to a turn, for which turn number i waits.
func (c *Conversation) answered(i, turn int, said []json.RawMessage, parts []historyPart) ([]historyPart, error) {
	answer := c.Turns[turn].Answer
	if said != nil {
		answer = said[turn]
	}
	if answer == nil {
		return nil, fmt.Errorf("turn %d waits for the answer to turn %d, which is not recorded", i, turn)
	}
	return append(parts, historyPart{messages: answer}), nil
}

// message is p as JSON.
func (p historyPart) message() json.RawMessage {
	if p.messages != nil {
		return p.messages
	}
	quoted, _ := json.Marshal(p.text) // a string always can
	return quoted
}

// joinLists is one list of the messages in parts, each a list or one message.
func joinLists(parts []json.RawMessage) json.RawMessage {
	size := 2
	for _, part := range parts {
		size += len(part) + 2
	}
	list := append(make(json.RawMessage, 0, size), '[')
	for _, part := range parts {
		part = bytes.TrimSpace(part)
		if inner, ok := bytes.CutPrefix(part, []byte("[")); ok {
			part = bytes.TrimSpace(bytes.TrimSuffix(inner, []byte("]")))
		}
		if len(part) == 0 {
			continue
		}
		if len(list) > 1 {
			list = append(list, ", "...)
		}
		list = append(list, part...)
	}
	return append(list, ']')
}

// joinTexts is the text of parts, and then last.
func joinTexts(parts []historyPart, last string) (string, error) {
	size := len(last)
	for _, p := range parts {
		size += len(p.text) + len(p.messages)
	}
	text := make([]byte, 0, size)
	for _, p := range parts {
		said := p.text
		if p.messages != nil {
			var err error
			if said, err = contentOf(p.messages); err != nil {
				return "", err
			}
		}
		text = append(text, said...)
	}
	return string(append(text, last...)), nil
}

// contentOf is the content of a message, which must be a text.
func contentOf(message json.RawMessage) (text string, err error) {
	content, err := member(message, "content")
	if err != nil || len(content) == 0 || content[0] != '"' || json.Unmarshal(content, &text) != nil {
		return "", errors.New("an answer without text cannot be part of a prompt of text")
	}
	return text, nil
}
