package tokenizer

import (
	"bytes"
	"encoding/json"
)

// A scanner reads JSON as tokenizer.json files usually have it. Its methods report false for
// anything else, whether or not it is JSON.
type scanner struct {
	data []byte
	pos  int
}

// next skips white space, and returns the byte after it, or 0 at the end.
func (s *scanner) next() byte {
	for ; s.pos < len(s.data); s.pos++ {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// take skips white space and then c.
func (s *scanner) take(c byte) bool {
	if s.next() != c {
		return false
	}
	s.pos++
	return true
}

// text reads a string. It is valid as long as the data; its UTF-8 may be broken.
func (s *scanner) text() (text []byte, ok bool) {
	if !s.take('"') {
		return nil, false
	}
	start, escaped := s.pos, false
	for ; s.pos < len(s.data); s.pos++ {
		switch c := s.data[s.pos]; {
		case c == '"':
			s.pos++
			if escaped {
				return unescape(s.data[start-1 : s.pos])
			}
			return s.data[start : s.pos-1], true
		case c == '\\':
			escaped = true
			s.pos++
		case c < ' ':
			return nil, false
		}
	}
	return nil, false
}

// unescape is the text of a string in quotes.
func unescape(quoted []byte) ([]byte, bool) {
	var text string
	err := json.Unmarshal(quoted, &text)
	return []byte(text), err == nil
}

// value is the text up to the end of a value that is neither a text, a list nor an object.
func (s *scanner) value() []byte {
	s.next()
	start := s.pos
	if n := bytes.IndexAny(s.data[start:], ",:]} \t\r\n"); n > 0 {
		s.pos += n
	}
	return s.data[start:s.pos]
}

// number reads an integer from 0 to maxID.
func (s *scanner) number() (n int32, ok bool) {
	s.next()
	start := s.pos
	for ; s.pos < len(s.data) && '0' <= s.data[s.pos] && s.data[s.pos] <= '9'; s.pos++ {
		if n = n*10 + int32(s.data[s.pos]-'0'); n > maxID {
			return 0, false
		}
	}
	return n, s.pos > start && (s.data[start] != '0' || s.pos == start+1)
}

// object reads an object. member reads the value of each key.
func (s *scanner) object(member func(key []byte) bool) bool {
	return s.take('{') && s.items('}', func() bool {
		key, ok := s.text()
		return ok && s.take(':') && member(key)
	})
}

// items reads what item reads, with commas between, up to the closing byte.
func (s *scanner) items(closing byte, item func() bool) bool {
	if s.take(closing) {
		return true
	}
	for item() {
		if !s.take(',') {
			return s.take(closing)
		}
	}
	return false
}

// skip passes over a value. It looks for its end only, so a value that is no JSON may pass.
func (s *scanner) skip() bool {
	for depth := 0; ; {
		switch s.next() {
		case 0:
			return false
		case '"':
			if _, ok := s.text(); !ok {
				return false
			}
		case '{', '[':
			depth++
			s.pos++
			continue
		case '}', ']':
			depth--
			s.pos++
		case ',', ':':
			s.pos++
			continue
		default:
			if len(s.value()) == 0 {
				return false
			}
		}
		if depth <= 0 {
			return depth == 0
		}
	}
}
