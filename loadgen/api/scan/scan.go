// Package scan finds values in JSON without decoding it, for the hot loop of a stream.
//
// A raw value is the bytes of one JSON value. False means unsure: let encoding/json decide. It assumes that its
// input is JSON if brackets and quotes match.
package scan

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Members stores the raw values of the named members of the object raw in values. It is unsure
// about a name that occurs twice, and about a name that encoding/json might match with another.
func Members(raw []byte, names []string, values [][]byte) bool {
	b, ok := take(raw, '{')
	if !ok {
		return false
	}
	if rest, ok := take(b, '}'); ok {
		return len(skipSpace(rest)) == 0
	}
	for {
		if b = skipSpace(b); len(b) == 0 || b[0] != '"' {
			return false
		}
		n := stringEnd(b)
		if n < 0 {
			return false
		}
		name := b[1 : n-1]
		if b, ok = take(b[n:], ':'); !ok {
			return false
		}
		b = skipSpace(b)
		if n = ValueEnd(b); n <= 0 || !note(name, b[:n], names, values) {
			return false
		}
		b = b[n:]
		if rest, ok := take(b, '}'); ok {
			return len(skipSpace(rest)) == 0
		}
		if b, ok = take(b, ','); !ok {
			return false
		}
	}
}

// note stores value under its name, if names has it.
func note(name, value []byte, names []string, values [][]byte) bool {
	for i := range names {
		if string(name) == names[i] {
			known := values[i] != nil
			values[i] = value
			return !known
		}
	}
	for _, c := range name {
		if c >= utf8.RuneSelf || c == '\\' || 'A' <= c && c <= 'Z' {
			return false
		}
	}
	return true
}

// Elements calls each with the raw elements of the array raw, until one is unsure.
func Elements(raw []byte, each func(raw []byte) bool) bool {
	b, ok := take(raw, '[')
	if !ok {
		return false
	}
	if _, ok := take(b, ']'); ok {
		return true
	}
	for {
		b = skipSpace(b)
		n := ValueEnd(b)
		if n <= 0 || !each(b[:n]) {
			return false
		}
		b = b[n:]
		if _, ok := take(b, ']'); ok {
			return true
		}
		if b, ok = take(b, ','); !ok {
			return false
		}
	}
}

// take removes c, and white space before it, from b.
func take(b []byte, c byte) ([]byte, bool) {
	if b = skipSpace(b); len(b) == 0 || b[0] != c {
		return b, false
	}
	return b[1:], true
}

func skipSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\r' || b[0] == '\n') {
		b = b[1:]
	}
	return b
}

// kinds classifies bytes outside strings.
var kinds = [256]byte{
	'"': quote, '{': opening, '[': opening, '}': closing, ']': closing,
	',': between, ' ': between, '\t': between, '\r': between, '\n': between,
}

const (
	quote = iota + 1
	opening
	closing
	between
)

// ValueEnd is the length of the value at the start of b, which something must follow; 0 or less if
// there is no value.
func ValueEnd(b []byte) int {
	if len(b) > 0 && b[0] == '"' {
		return stringEnd(b)
	}
	depth := 0
	for i := 0; i < len(b); i++ {
		switch kinds[b[i]] {
		case quote:
			n := stringEnd(b[i:])
			if n < 0 {
				return -1
			}
			i += n - 1
		case opening:
			depth++
		case closing:
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case between:
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

// stringEnd is the length of the string at the start of b, quotes included; -1 if it does not end
// in b. Most strings are names and single words, where this is faster than bytes.IndexByte.
func stringEnd(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return -1
}

// IsNull reports whether the raw value is missing, or null.
func IsNull(raw []byte) bool { return raw == nil || string(raw) == "null" }

// Truthy reports whether Python would call the raw value true: it is there and not empty.
func Truthy(raw []byte) bool {
	switch {
	case IsNull(raw) || string(raw) == `""` || string(raw) == "false" || string(raw) == "0":
		return false
	case raw[0] == '{' || raw[0] == '[':
		inside := skipSpace(raw[1:])
		return len(inside) > 1
	}
	return true
}

// Plain is the inside of a string without escapes; nil for any other value.
func Plain(raw []byte) []byte {
	if raw[0] != '"' || bytes.IndexByte(raw, '\\') >= 0 || !utf8.Valid(raw) {
		return nil
	}
	return raw[1 : len(raw)-1]
}

// Count reads a number of digits only into n. If the number is missing, n stays as it is.
func Count(raw []byte, n *int) bool {
	if IsNull(raw) {
		return true
	}
	if len(raw) > 9 { // it may exceed MaxCount
		return false
	}
	sum := 0
	for _, c := range raw {
		if c < '0' || c > '9' {
			return false
		}
		sum = 10*sum + int(c-'0')
	}
	*n = sum
	return true
}

// AppendUnquoted appends the decoded string. It is unsure about a surrogate without a partner.
func AppendUnquoted(dst, raw []byte) ([]byte, bool) {
	if raw[0] != '"' || !utf8.Valid(raw) {
		return dst, false
	}
	for s := raw[1 : len(raw)-1]; ; {
		slash := bytes.IndexByte(s, '\\')
		if slash < 0 {
			return append(dst, s...), true
		}
		dst, s = append(dst, s[:slash]...), s[slash+1:]
		if short := strings.IndexByte(`"\/bfnrt`, s[0]); short >= 0 {
			dst, s = append(dst, "\"\\/\b\f\n\r\t"[short]), s[1:]
			continue
		}
		r, n := hexRune(s)
		if n > 0 && utf16.IsSurrogate(r) && len(s) > n && s[n] == '\\' {
			low, more := hexRune(s[n+1:])
			r, n = utf16.DecodeRune(r, low), n+1+more
		}
		if n == 0 || utf16.IsSurrogate(r) || r == utf8.RuneError {
			return dst, false
		}
		dst, s = utf8.AppendRune(dst, r), s[n:]
	}
}

// hexRune reads uHHHH at the start of s and returns its length, 0 if it is not there.
func hexRune(s []byte) (r rune, n int) {
	if len(s) < 5 || s[0] != 'u' {
		return 0, 0
	}
	v, err := strconv.ParseUint(string(s[1:5]), 16, 16)
	if err != nil {
		return 0, 0
	}
	return rune(v), 5
}

// maxListed is how many elements of a list are decoded. Real lists have a few, lists of models some
// hundreds. A decoded empty element takes many times its bytes.
const maxListed = 4096

// A Few is the start of a list in JSON. Anything but a list counts as an empty list, and an element
// of the wrong type as its zero value.
type Few[T any] []T

// UnmarshalJSON decodes raw JSON.
func (f *Few[T]) UnmarshalJSON(raw []byte) error {
	*f = nil
	Elements(raw, func(element []byte) bool {
		var v T
		_ = json.Unmarshal(element, &v) // ignore elements of the wrong type
		*f = append(*f, v)
		return len(*f) < maxListed
	})
	return nil
}
