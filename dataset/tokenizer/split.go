package tokenizer

import "strings"

// A splitter cuts a text into the words that a model tokenizes one by one, and passes them to emit
// in order. The first head bytes of the text come from the first character of what was encoded, so
// a word with a head above 0 is at its start. No word is empty.
type splitter func(text string, head int, emit emitter)

type emitter func(word string, head int)

// whole leaves a text in one piece.
func whole(text string, head int, emit emitter) {
	if text != "" {
		emit(text, head)
	}
}

// then cuts with s and the words with next.
func (s splitter) then(next splitter) splitter {
	return func(text string, head int, emit emitter) {
		s(text, head, func(word string, head int) { next(word, head, emit) })
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
	contiguous behavior = "Contiguous"         // matches in a row are one word
)

// splitter cuts text at the matches of find or, inverted, at everything else.
func (b behavior) splitter(s section, find finder, invert bool) (splitter, error) {
	switch b {
	case isolated, removed, mergedLeft, mergedNext, contiguous:
		return b.cutting(find, invert), nil
	}
	return nil, s.errorf("behavior %q is not supported yet", b)
}

// at cuts text at the matches of find.
func (b behavior) at(find finder) splitter { return b.cutting(find, false) }

func (b behavior) cutting(find finder, invert bool) splitter {
	switch b {
	case removed:
		return func(text string, head int, emit emitter) {
			find.matches(text, func(part string, match bool) {
				if match == invert {
					emit(part, head)
				}
				head -= len(part)
			})
		}
	case mergedLeft, mergedNext, contiguous:
		return func(text string, head int, emit emitter) {
			b.joined(text, func(yield func(string, bool)) {
				find.matches(text, func(part string, match bool) { yield(part, match != invert) })
			}, func(word string) { emit(word, head); head -= len(word) })
		}
	}
	return func(text string, head int, emit emitter) {
		find.matches(text, func(part string, _ bool) { emit(part, head); head -= len(part) })
	}
}

// joined puts together parts, which make up text. A match goes to the next part that is none, or to
// the previous one; then, of several matches, the one farther away stays alone. Or contiguous parts
// of the same sort go together.
func (b behavior) joined(text string, parts func(func(string, bool)), emit func(string)) {
	start, end, last := 0, 0, false // text[start:end] waits for what comes next; last is its last part
	parts(func(part string, match bool) {
		var goes bool // with what waits
		switch b {
		case mergedLeft:
			goes = match && !last
		case mergedNext:
			goes = last && !match
		default:
			goes = match == last
		}
		if !goes && start < end {
			emit(text[start:end])
			start = end
		}
		end += len(part)
		last = match
	})
	if start < end {
		emit(text[start:end])
	}
}

// newSplit reads a pre-tokenizer of type Split.
func newSplit(s section) (splitter, error) {
	var split struct {
		Type     string   `json:"type"`
		Pattern  needle   `json:"pattern"`
		Behavior behavior `json:"behavior"`
		Invert   bool     `json:"invert"`
	}
	if err := s.read(&split); err != nil {
		return nil, err
	}
	find, err := split.Pattern.finder(s)
	if err != nil {
		return nil, err
	}
	return split.Behavior.splitter(s, find, split.Invert)
}

// A needle is what Split and Replace look for: one of the two.
type needle struct {
	String *string
	Regex  *string
}

func (n needle) finder(s section) (finder, error) {
	switch {
	case n.String != nil && n.Regex == nil && *n.String != "":
		return literal(*n.String), nil
	case n.Regex != nil && n.String == nil:
		p, err := compile(*n.Regex)
		if err != nil {
			return nil, s.errorf("%w", err)
		}
		return p.find, nil
	}
	return nil, s.errorf("the pattern is neither a String that is not empty nor a Regex")
}

// literal finds a string.
func literal(wanted string) finder {
	return func(text string) (start, end int) {
		if i := strings.Index(text, wanted); i >= 0 {
			return i, i + len(wanted)
		}
		return len(text), len(text)
	}
}
