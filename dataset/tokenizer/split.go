package tokenizer

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A splitter cuts a text into the words that a model tokenizes one by one, and passes them to emit
// in order. first says that the text is at the start of what was encoded. No word is empty.
type splitter func(text string, first bool, emit emitter)

type emitter func(word string, first bool)

// whole leaves a text in one piece.
func whole(text string, first bool, emit emitter) {
	if text != "" {
		emit(text, first)
	}
}

// then cuts with s and the words with next.
func (s splitter) then(next splitter) splitter {
	return func(text string, first bool, emit emitter) {
		s(text, first, func(word string, first bool) { next(word, first, emit) })
	}
}

// A finder returns where the first match in text is; without a match, start is the length of text.
type finder func(text string) (start, end int)

// matches yields the parts of text that find matches and those between them.
func (find finder) matches(text string, yield func(part string, match bool)) {
	for text != "" {
		start, end := find(text)
		if start > 0 {
			yield(text[:start], false)
		}
		if end > start {
			yield(text[start:end], true)
		}
		text = text[end:]
	}
}

// A behavior says what to do with the matches at which text is split.
type behavior string

const (
	isolated   behavior = "Isolated" // a match is a separate word
	removed    behavior = "Removed"
	mergedLeft behavior = "MergedWithPrevious" // a match ends the previous word
	mergedNext behavior = "MergedWithNext"     // a match begins the next word
)

// splitter cuts text at the matches of find or, inverted, at everything else.
func (b behavior) splitter(find finder, invert bool) (splitter, error) {
	switch b {
	case isolated:
		return func(text string, first bool, emit emitter) {
			find.matches(text, func(part string, _ bool) { emit(part, first); first = false })
		}, nil
	case removed:
		return func(text string, first bool, emit emitter) {
			find.matches(text, func(part string, match bool) {
				if match == invert {
					emit(part, first)
				}
				first = false
			})
		}, nil
	case mergedLeft, mergedNext:
		return func(text string, first bool, emit emitter) {
			joined(text, b == mergedNext, func(yield func(string, bool)) {
				find.matches(text, func(part string, match bool) { yield(part, match != invert) })
			}, func(word string) { emit(word, first); first = false })
		}, nil
	}
	return nil, fmt.Errorf("behavior %q is not supported yet", b)
}

// joined puts each match of parts, which make up text, to the next part that is not a match, or to
// the previous one. Of consecutive matches, the one farther away stays alone.
func joined(text string, toNext bool, parts func(func(string, bool)), emit func(string)) {
	start, end, open := 0, 0, false // text[start:end] waits for what comes next
	parts(func(part string, match bool) {
		if !open || match == toNext {
			if start < end {
				emit(text[start:end])
			}
			start = end
		}
		end += len(part)
		open = match == toNext
	})
	if start < end {
		emit(text[start:end])
	}
}

// newSplit reads a pre-tokenizer of type Split.
func newSplit(raw json.RawMessage) (splitter, error) {
	var split struct {
		Type     string   `json:"type"`
		Pattern  needle   `json:"pattern"`
		Behavior behavior `json:"behavior"`
		Invert   bool     `json:"invert"`
	}
	if err := decode(raw, &split); err != nil {
		return nil, err
	}
	if split.Pattern.String != "" {
		return split.Behavior.splitter(literal(split.Pattern.String), split.Invert)
	}
	p, err := compile(split.Pattern.Regex)
	if err != nil {
		return nil, err
	}
	return split.Behavior.splitter(p.find, split.Invert)
}

// A needle is what Split and Replace look for: one of the two.
type needle struct{ String, Regex string }

// literal finds a string.
func literal(wanted string) finder {
	return func(text string) (start, end int) {
		if i := strings.Index(text, wanted); i >= 0 {
			return i, i + len(wanted)
		}
		return len(text), len(text)
	}
}
