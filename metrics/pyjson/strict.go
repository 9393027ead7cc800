package pyjson

import (
	"bufio"
	"bytes"
	"io"
)

// What Strict puts in place of the words that Python's json module writes for floats. Each has the
// length of its word.
const (
	strictNaN      = `{ }`
	strictInfinity = `9e999999`
)

const byteOrderMark = "\ufeff"

// words are the names of floats in Python's JSON, and the byte order mark of Windows, and what Strict
// makes of them.
var words = []struct{ written, strict string }{
	{"-Infinity", "-" + strictInfinity}, {"Infinity", strictInfinity}, {"NaN", strictNaN}, {byteOrderMark, "   "},
}

// Strict makes the JSON that Python's json module writes readable for encoding/json, byte by byte:
// each byte stays at its offset. Infinity becomes a number beyond the range of a float64, so
// strconv.ParseFloat returns an infinity for it. NaN becomes an empty object, so it is an error
// where a number or a text belongs, and none where nobody looks. A byte order mark, which each file
// of several may begin with, becomes white space. r may hold several values, and may begin before any
// of them, but not within a string.
func Strict(r io.Reader) io.Reader {
	return &strict{src: bufio.NewReaderSize(r, strictBuffer)}
}

const strictBuffer = 64 << 10

// StrictText is a text as Strict reads it. It returns text itself if there is nothing to change.
func StrictText(text []byte) []byte {
	if !bytes.Contains(text, []byte(byteOrderMark)) && !bytes.Contains(text, []byte("NaN")) &&
		!bytes.Contains(text, []byte("Infinity")) {
		return text
	}
	strict, _ := io.ReadAll(Strict(bytes.NewReader(text))) // memory gives no errors
	return strict
}

// A strict is the reader of Strict.
type strict struct {
	src     *bufio.Reader
	inside  bool   // a string
	escaped bool   // the last byte was a backslash in a string
	rest    string // of what stands for bytes that are read already
}

func (s *strict) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if s.rest == "" {
		if _, err := s.src.Peek(1); err != nil {
			return 0, err
		}
		ready, _ := s.src.Peek(s.src.Buffered())
		if n := s.take(p, ready); n > 0 {
			_, _ = s.src.Discard(n)
			return n, nil
		}
		s.odd()
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// odd takes the word at the start of what is to come, or else one byte.
func (s *strict) odd() {
	text, _ := s.src.Peek(len(words[0].written))
	for _, w := range words {
		if bytes.HasPrefix(text, []byte(w.written)) {
			s.put([]byte(w.written), w.strict)
			return
		}
	}
	s.put(text[:1], string(text[:1]))
}

// put has strict read in place of the bytes that come next.
func (s *strict) put(read []byte, strict string) {
	s.rest = strict
	_, _ = s.src.Discard(len(read))
}

// take copies from text to p until one of them ends, or a word may begin.
func (s *strict) take(p, text []byte) (n int) {
	for n < len(p) && n < len(text) {
		if s.inside {
			n += s.quoted(p[n:], text[n:])
			continue
		}
		switch c := text[n]; c {
		case 'N', 'I', '-', byteOrderMark[0]:
			return n
		case '"':
			s.inside = true
		}
		p[n] = text[n]
		n++
	}
	return n
}

// quoted copies what belongs to a string, at least one byte.
func (s *strict) quoted(p, text []byte) int {
	text = text[:min(len(p), len(text))]
	if s.escaped {
		s.escaped = false
		return copy(p, text[:1])
	}
	end := bytes.IndexAny(text, `"\`)
	if end < 0 {
		return copy(p, text)
	}
	s.inside, s.escaped = text[end] != '"', text[end] == '\\'
	return copy(p, text[:end+1])
}
