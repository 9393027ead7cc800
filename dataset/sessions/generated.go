package sessions

import (
	"fmt"
	"slices"
)

// The words that vLLM's script puts around the texts that it cuts. Requests equal to its own need
// the same.
const (
	generatedTask   = "Please rewrite the following text and add more content: "
	generatedNumber = "%d is a nice number... "
)

// A writer writes the messages of planned chats.
type writer struct {
	Conversations
	tokens []int // of the text files
	task   int   // tokens of generatedTask
	common int   // tokens of the prefix of all chats
	plans  []plan
}

// place decides where in the text each chat begins, and makes sure that the text is long enough.
func (w *writer) place() error {
	offset := max(0, w.common)
	for i := range w.plans {
		p := &w.plans[i]
		p.offset = offset
		offset += max(0, p.prefix)
		need := max(offset, slices.Max(p.output))
		for turn := 0; turn < len(p.input); turn += 2 {
			if n := w.cut(i, turn); n > 0 {
				need = max(need, w.start(i, turn)+n)
			}
		}
		if need >= len(w.tokens) {
			return fmt.Errorf("the text files have %d tokens, and conversation %d needs more than %d: give more text, or smaller lengths", len(w.tokens), i, need)
		}
		offset += len(p.input)
	}
	return nil
}

// start is where in the text the message of a turn begins.
func (w *writer) start(i, turn int) int {
	p := &w.plans[i]
	return p.offset + max(0, p.prefix) + turn*slices.Max(p.input)
}

// cut is how many tokens of the text the message of a turn has, after its other words and without
// the prefix of the chat.
func (w *writer) cut(i, turn int) int {
	return w.plans[i].input[turn] - w.Tokenizer.Count(w.opening(i, turn), false) - w.task
}

// opening is how the message of a turn begins.
func (w *writer) opening(i, turn int) string {
	text := fmt.Sprintf(generatedNumber, i)
	if turn == 0 && w.common > 0 {
		// Python counts a negative end of a slice from behind.
		end := w.common - 2
		if end < 0 {
			end += len(w.tokens)
		}
		text = w.Tokenizer.Decode(w.tokens[:max(0, min(end, len(w.tokens)))]) + "." + text
	}
	return text
}

// messages are the messages of chat number i.
func (w *writer) messages(i int) []message {
	p := &w.plans[i]
	list := make([]message, len(p.input))
	for turn := range list {
		if turn%2 == 1 {
			list[turn] = message{"assistant", w.Tokenizer.Decode(w.tokens[:p.output[turn]])}
			continue
		}
		text := w.opening(i, turn)
		if turn == 0 && p.prefix > 0 {
			text += fmt.Sprintf("%d, ", i) + w.Tokenizer.Decode(w.tokens[p.offset:p.offset+p.prefix])
		}
		text += generatedTask
		if n := w.cut(i, turn); n > 0 {
			start := w.start(i, turn)
			text += w.Tokenizer.Decode(w.tokens[start : start+n])
		}
		list[turn] = message{"user", text}
	}
	return list
}
