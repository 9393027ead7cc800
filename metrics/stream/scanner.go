package stream

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
	"time"
)

// A scanner reads JSON in the form in which a Writer writes it: without spaces, and with fields in
// a fixed order, each at most once. Anything else fails, also JSON that is correct: it is left to
// encoding/json, which takes ten times as long. What does not fail reads as encoding/json reads it.
type scanner struct {
	text   []byte // what is left of the line
	failed bool
	bytes  []byte            // where decoded bytes go; earlier lines keep theirs
	names  map[string]string // short strings that many lines share
}

// A field is the name of a member of an object, with its quotes and its colon, and how to read its
// value.
type field[T any] struct {
	name string
	read func(*scanner, *T)
}

// object reads an object whose members are in the order of fields.
func object[T any](s *scanner, fields []field[T], v *T) {
	if s.expect("{"); !s.has("}") {
		members(s, fields, v)
	}
}

// made is a new value that is read as object reads it.
func made[T any](s *scanner, fields []field[T]) *T {
	v := new(T)
	object(s, fields, v)
	return v
}

// members reads the members of an object up to its end. There is at least one.
func members[T any](s *scanner, fields []field[T], v *T) {
	for i := range fields {
		if !s.has(fields[i].name) {
			continue
		}
		fields[i].read(s, v)
		switch {
		case s.has(","):
		case s.has("}"):
			return
		default:
			s.failed = true
		}
		if s.failed {
			return
		}
	}
	s.failed = true // a member that is not in the table, or not in its order
}

// has skips a text, if it comes next.
func (s *scanner) has(text string) bool {
	if len(s.text) < len(text) || string(s.text[:len(text)]) != text {
		return false
	}
	s.text = s.text[len(text):]
	return true
}

func (s *scanner) expect(text string) {
	if !s.has(text) {
		s.failed = true
	}
}

// int reads an integer.
func (s *scanner) int() int {
	negative := s.has("-")
	n, digits := 0, 0
	for digits < len(s.text) && '0' <= s.text[digits] && s.text[digits] <= '9' {
		n = 10*n + int(s.text[digits]-'0')
		digits++
	}
	if digits == 0 || digits > requestDigits || digits > 1 && s.text[0] == '0' {
		s.failed = true
		return 0
	}
	s.text = s.text[digits:]
	if negative {
		return -n
	}
	return n
}

func (s *scanner) number() number { return number{int64(s.int()), true} }

func (s *scanner) duration() time.Duration { return time.Duration(s.int()) }

// ints reads a list of at least one integer.
func (s *scanner) ints() []int {
	s.expect("[")
	var all []int
	for !s.failed {
		all = append(all, s.int())
		if s.has("]") {
			return all
		}
		s.expect(",")
	}
	return nil
}

// float reads a number in any form of JSON.
func (s *scanner) float() *float64 {
	end := bytes.IndexAny(s.text, ",}")
	if end < 0 || !json.Valid(s.text[:end]) {
		s.failed = true
		return nil
	}
	v, err := strconv.ParseFloat(string(s.text[:end]), 64)
	if err != nil {
		s.failed = true
	}
	s.text = s.text[end:]
	return &v
}

// true reads the only flag that is written.
func (s *scanner) true() bool {
	s.expect("true")
	return true
}

// quoted is the next string with its quotes, and whether its characters stand for themselves.
func (s *scanner) quoted() (text []byte, plain bool) {
	s.expect(`"`)
	plain = true
	for i, c := range s.text {
		switch {
		case c == '"' && (plain || !escaped(s.text[:i])):
			text, s.text = s.text[:i], s.text[i+1:]
			return text, plain
		case c == '\\' || c < ' ' || c > '~':
			plain = false
		}
	}
	s.failed = true
	return nil, false
}

// escaped reports that an odd number of backslashes is at the end.
func escaped(text []byte) bool {
	return (len(text)-len(bytes.TrimRight(text, `\`)))%2 == 1
}

// string reads a string.
func (s *scanner) string() string {
	text, plain := s.quoted()
	if plain || s.failed {
		return string(text)
	}
	var v string
	if json.Unmarshal(append(append([]byte{'"'}, text...), '"'), &v) != nil {
		s.failed = true
	}
	return v
}

// The strings of lines that are kept for the next lines.
const (
	longestName = 64
	mostNames   = 1000
)

// name reads a string that other lines probably have, too.
func (s *scanner) name() string {
	before := s.text
	text, plain := s.quoted()
	if name, known := s.names[string(text)]; known && plain {
		return name
	}
	s.text = before
	name := s.string()
	if plain && !s.failed && len(name) <= longestName && len(s.names) < mostNames {
		s.names[name] = name
	}
	return name
}

// nested reads a list or an object of anything as it is. It keeps a copy.
func (s *scanner) nested() json.RawMessage {
	depth, end, quoted := 0, 0, false
	for ; (depth > 0 || end == 0) && end < len(s.text); end++ {
		switch c := s.text[end]; {
		case c == '\\' && quoted:
			end++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		}
	}
	end = min(end, len(s.text))
	value := append(json.RawMessage(nil), s.text[:end]...)
	if s.text = s.text[end:]; depth != 0 || len(value) < 2 || !json.Valid(value) {
		s.failed = true
	}
	return value
}

// base64 reads bytes, at least one.
func (s *scanner) base64() []byte {
	s.expect(`"`)
	// Base64 may have line ends, but not within a JSON string.
	end := bytes.IndexByte(s.text, '"')
	if end <= 0 || bytes.IndexByte(s.text[:end], '\r') >= 0 {
		s.failed = true
		return nil
	}
	from := len(s.bytes)
	all, err := base64.StdEncoding.AppendDecode(s.bytes, s.text[:end])
	if err != nil {
		s.failed = true
		return nil
	}
	s.bytes, s.text = all, s.text[end+1:]
	return all[from:len(all):len(all)]
}
