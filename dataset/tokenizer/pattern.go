package tokenizer

import (
	"math"
	"unicode/utf8"
)

// A pattern is a compiled regular expression, of the kind that tokenizers split text
// with: runs of rune classes, alternatives, of which the first match counts, and the
// look-ahead (?!x). It matches as a backtracking engine does.
//
// An expression is a graph of steps. Runs are greedy, and only shorter runs are tried
// again, so a word takes time linear in its length for the expressions of real
// tokenizers.
type pattern struct {
	// first has the alternatives that can match at each ASCII byte. Its last entry
	// has all of them, for any other byte.
	first [utf8.RuneSelf + 1][]*step
}

// A step is one element of a pattern and what follows it. The nil step is the
// end: it always matches.
type step struct {
	kind     stepKind
	class    class
	min, max int     // of a run
	either   []*step // of a choice, each linked to what follows the choice
	next     *step
}

type stepKind int

const (
	runStep    stepKind = iota // min to max runes of class, as many as possible
	choiceStep                 // the first of either that matches
	notStep                    // no rune of class comes next
)

const unlimited = math.MaxInt

// find is where the first match in text is. Without one, start and end are the
// length of text.
func (p *pattern) find(text string) (start, end int) {
	for start < len(text) {
		for _, s := range p.first[min(text[start], utf8.RuneSelf)] {
			if end := s.match(text, start); end > start {
				return start, end
			}
		}
		_, width := runeAt(text, start)
		start += width
	}
	return len(text), len(text)
}

// match is the end of a match at pos of s and the steps after it, or -1.
func (s *step) match(text string, pos int) int {
	for ; s != nil; s = s.next {
		switch s.kind {
		case runStep:
			return s.matchRun(text, pos)
		case choiceStep:
			for _, way := range s.either {
				if end := way.match(text, pos); end >= 0 {
					return end
				}
			}
			return -1
		case notStep:
			if r, width := runeAt(text, pos); width > 0 && s.class.has(r) {
				return -1
			}
		}
	}
	return pos
}

// matchRun takes as many runes as it can, and then fewer until the rest matches.
func (s *step) matchRun(text string, pos int) int {
	count := 0
	for count < s.max {
		r, width := runeAt(text, pos)
		if width == 0 || !s.class.has(r) {
			break
		}
		pos += width
		count++
	}
	for ; count >= s.min; count-- {
		if end := s.next.match(text, pos); end >= 0 {
			return end
		}
		_, width := utf8.DecodeLastRuneInString(text[:pos])
		pos -= width
	}
	return -1
}

// begins reports whether a match of s can begin with r.
func (s *step) begins(r rune) bool {
	if s == nil {
		return true
	}
	switch s.kind {
	case runStep:
		return s.class.has(r) || s.min == 0 && s.next.begins(r)
	case choiceStep:
		for _, way := range s.either {
			if way.begins(r) {
				return true
			}
		}
		return false
	default:
		return s.next.begins(r)
	}
}

// runeAt is the rune of text at pos. At the end its width is 0.
func runeAt(text string, pos int) (r rune, width int) {
	if pos >= len(text) {
		return 0, 0
	}
	if b := text[pos]; b < utf8.RuneSelf {
		return rune(b), 1
	}
	return utf8.DecodeRuneInString(text[pos:])
}
