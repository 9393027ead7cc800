package pyjson

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf16"
)

const (
	mostKeys  = 16   // of an object that Spelled looks at
	mostDepth = 1000 // of nested values
)

// Spelled reports whether text is one JSON value as Append writes it, so that it can be copied where
// Append would write what Parse reads. It is unsure of, and so false for, objects of more than 16
// members and values nested 1000 deep. It does not allocate, unless a number has a fraction.
func Spelled(text []byte) bool {
	n := spelledValue(text, 0)
	return n > 0 && n == len(text)
}

// spelledValue is the length of the value at the start of b, 0 if it is not spelled so.
func spelledValue(b []byte, depth int) int {
	switch {
	case len(b) == 0 || depth > mostDepth:
		return 0
	case b[0] == '"':
		return spelledString(b)
	case b[0] == '{':
		return spelledObject(b, depth)
	case b[0] == '[':
		return spelledArray(b, depth)
	}
	for _, word := range [...]string{"null", "true", "false"} {
		if bytes.HasPrefix(b, []byte(word)) {
			return len(word)
		}
	}
	return spelledNumber(b)
}

func spelledObject(b []byte, depth int) int {
	if len(b) > 1 && b[1] == '}' {
		return 2
	}
	var keys [mostKeys][]byte
	for n, at := 0, 1; n < mostKeys; n++ {
		size := spelledKey(b[at:])
		if size == 0 {
			return 0
		}
		keys[n] = b[at : at+size]
		for _, earlier := range keys[:n] {
			if bytes.Equal(earlier, keys[n]) {
				return 0
			}
		}
		at += size
		if size = spelledValue(b[at:], depth+1); size == 0 {
			return 0
		}
		at += size
		if at < len(b) && b[at] == '}' {
			return at + 1
		}
		if !bytes.HasPrefix(b[at:], []byte(", ")) {
			return 0
		}
		at += len(", ")
	}
	return 0
}

// spelledKey is the length of a key with its colon and space.
func spelledKey(b []byte) int {
	n := 0
	if len(b) > 0 && b[0] == '"' {
		n = spelledString(b)
	}
	if n == 0 || !bytes.HasPrefix(b[n:], []byte(": ")) {
		return 0
	}
	return n + len(": ")
}

func spelledArray(b []byte, depth int) int {
	if len(b) > 1 && b[1] == ']' {
		return 2
	}
	for at := 1; ; at += len(", ") {
		size := spelledValue(b[at:], depth+1)
		if size == 0 {
			return 0
		}
		at += size
		if at < len(b) && b[at] == ']' {
			return at + 1
		}
		if !bytes.HasPrefix(b[at:], []byte(", ")) {
			return 0
		}
	}
}

func spelledString(b []byte) int {
	for at := 1; at < len(b); {
		if at += plainPrefix(b[at:]); at == len(b) {
			return 0
		}
		switch c := b[at]; {
		case c == '"':
			return at + 1
		case c == '\\':
			size := spelledEscape(b[at:])
			if size == 0 {
				return 0
			}
			at += size
		case c >= ' ' && c <= '~':
			at++
		default:
			return 0
		}
	}
	return 0
}

// plainPrefix is how many bytes at the start of b stand for themselves, less up to seven at the end
// of b. The tests for a byte in a word are from Anderson, Bit Twiddling Hacks: the lowest that they
// find is one.
func plainPrefix(b []byte) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	at := 0
	for ; at+8 <= len(b); at += 8 {
		w := binary.LittleEndian.Uint64(b[at:])
		quotes, slashes, deletes := w^'"'*ones, w^'\\'*ones, w^0x7f*ones
		special := w | (w-' '*ones)&^w | (quotes-ones)&^quotes | (slashes-ones)&^slashes | (deletes-ones)&^deletes
		if special &= high; special != 0 {
			return at + bits.TrailingZeros64(special)/8
		}
	}
	return at
}

// spelledEscape is the length of the escape at the start of b, 0 if Append writes it in another way.
func spelledEscape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	if bytes.IndexByte([]byte(`"\nrtfb`), b[1]) >= 0 {
		return 2
	}
	r, ok := spelledUnit(b)
	switch {
	case !ok || r >= ' ' && r <= '~' || shortEscape(r) != 0:
		return 0
	case !utf16.IsSurrogate(r):
		return 6
	}
	low, ok := spelledUnit(b[6:])
	if !ok || utf16.DecodeRune(r, low) == '\ufffd' {
		return 0
	}
	return 12
}

// spelledUnit is the UTF-16 unit of an escape with four lower-case digits.
func spelledUnit(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

func spelledNumber(b []byte) int {
	n, whole := 0, true
	for n < len(b) && bytes.IndexByte([]byte("0123456789-+.eE"), b[n]) >= 0 {
		whole = whole && '0' <= b[n] && b[n] <= '9' || n == 0 && b[0] == '-'
		n++
	}
	digits := bytes.TrimPrefix(b[:n], []byte("-"))
	if whole {
		if len(digits) == 0 || digits[0] == '0' && n > 1 {
			return 0
		}
		return n
	}
	f, err := strconv.ParseFloat(string(b[:n]), 64)
	if err != nil || string(appendFloat(nil, f)) != string(b[:n]) {
		return 0
	}
	return n
}
