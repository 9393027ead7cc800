package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
)

// These functions find values in JSON without decoding it: a long history has much of it that does
// not count. They assume that it is JSON if its brackets and quotes match.

var errNoJSON = errors.New("a message is not JSON")

// elements are the elements of a list; nil for any other value.
func elements(list json.RawMessage) (all []json.RawMessage, err error) {
	err = inside(list, '[', func(b []byte) (rest []byte) {
		n := valueEnd(b)
		if n > 0 {
			all = append(all, b[:n:n])
		}
		return b[n:]
	})
	return all, err
}

// members calls each with the members of an object; for any other value it calls nothing. It takes
// keys as they are spelled.
func members(object json.RawMessage, each func(key, value []byte)) error {
	return inside(object, '{', func(b []byte) []byte {
		n := stringEnd(b)
		if n == 0 {
			return b
		}
		key, after := b[1:n-1], bytes.TrimLeft(b[n:], space)
		if len(after) == 0 || after[0] != ':' {
			return b
		}
		after = bytes.TrimLeft(after[1:], space)
		if n = valueEnd(after); n == 0 {
			return b
		}
		each(key, after[:n:n])
		return after[n:]
	})
}

const space = " \t\r\n"

// inside calls take with what is left of a list or an object, from an element on, until its end.
// take returns what is behind the element, or b if there is none.
func inside(raw []byte, open byte, take func(b []byte) []byte) error {
	b := bytes.TrimLeft(raw, space)
	if len(b) == 0 || b[0] != open {
		return nil
	}
	closing := open + 2 // as in ASCII
	b = bytes.TrimLeft(b[1:], space)
	if len(b) > 0 && b[0] == closing {
		return nil
	}
	for {
		after := take(b)
		if len(after) == len(b) {
			return errNoJSON
		}
		b = bytes.TrimLeft(after, space)
		switch {
		case len(b) > 0 && b[0] == closing:
			return nil
		case len(b) == 0 || b[0] != ',':
			return errNoJSON
		}
		b = bytes.TrimLeft(b[1:], space)
	}
}

// member is the value of a member of an object; nil if there is none.
func member(object json.RawMessage, name string) (found json.RawMessage, err error) {
	err = members(object, func(key, value []byte) {
		if string(key) == name {
			found = value
		}
	})
	return found, err
}

// edited is an object with each value replaced by what edit returns, and without those for which that
// is nil.
func edited(object json.RawMessage, edit func(key, value []byte) []byte) (json.RawMessage, error) {
	text := append(make(json.RawMessage, 0, len(object)+16), '{')
	err := members(object, func(key, value []byte) {
		if value = edit(key, value); value == nil {
			return
		}
		if len(text) > 1 {
			text = append(text, ", "...)
		}
		text = append(append(append(text, '"'), key...), `": `...)
		text = append(text, value...)
	})
	return append(text, '}'), err
}

// valueEnd is the length of the value at the start of b, 0 if it does not end in b.
func valueEnd(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			n := stringEnd(b[i:])
			if n == 0 {
				return 0
			}
			if i += n - 1; depth == 0 {
				return i + 1
			}
		case '[', '{':
			depth++
		case ']', '}':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return 0
}

// stringEnd is the length of the string at the start of b, quotes included; 0 if there is none.
func stringEnd(b []byte) int {
	if len(b) == 0 || b[0] != '"' {
		return 0
	}
	for at := 1; ; {
		n := bytes.IndexByte(b[at:], '"')
		if n < 0 {
			return 0
		}
		text := b[at : at+n]
		at += n + 1
		if slashes := len(text) - len(bytes.TrimRight(text, `\`)); slashes%2 == 0 {
			return at
		}
	}
}
