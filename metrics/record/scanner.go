package record

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strconv"
)

// A Scanner reads lines in the form in which Append writes them: without spaces, and with fields in
// the order of the table, each at most once. Anything else fails, also JSON that is correct: Parse reads it, which
// takes thirty times as long. What does not fail reads as Parse reads it. A Scanner must not be shared by goroutines.
type Scanner struct {
	text   []byte // what is left of the line
	failed bool
	bytes  []byte            // where decoded bytes go; earlier lines keep theirs
	names  map[string]string // short strings that many lines share
}

// Begin begins to read a line.
func (s *Scanner) Begin(line []byte) { s.text, s.failed = line, false }

// Reuse says that nobody reads what earlier lines had, unless they keep it.
func (s *Scanner) Reuse(keep bool) {
	if keep {
		s.bytes = nil
	}
	s.bytes = s.bytes[:0]
}

// Failed reports that the line has another form.
func (s *Scanner) Failed() bool { return s.failed }

// Record reads the fields of the line up to its end into r, which is empty. It reports whether they have the form, and
// are possible.
func (s *Scanner) Record(r *Record) bool {
	s.members(table, r)
	return !s.failed && len(s.text) == 0 && r.settle() == nil
}

// members reads the members of an object up to its end. There is at least one.
func (s *Scanner) members(fields []Field, r *Record) {
	over := false
	for i := range fields {
		f := &fields[i]
		if f.Key == "" {
			continue
		}
		if over || !s.key(f.Key) {
			f.lack(r)
			continue
		}
		s.value(f, r)
		if over = s.Has("}"); !over && !s.Has(",") {
			s.failed = true
		}
		if s.failed {
			return
		}
	}
	if !over {
		s.failed = true // a member that is not in the table, or not in its order
	}
}

// value reads the value of a field.
func (s *Scanner) value(f *Field, r *Record) {
	switch f.kind {
	case kindCount:
		n := s.Int()
		if max(n, -n) > MaxTokens {
			s.failed = true
		}
		*f.count(r) = n
	case kindFlag:
		s.Expect("true")
		*f.flag(r) = true
	case kindSign:
		s.Expect("true")
		f.make(r)
	case kindText:
		if f.shared {
			*f.text(r) = s.Name()
		} else {
			*f.text(r) = s.string()
		}
	case kindName:
		*f.text(r) = s.Name()
	case kindBytes:
		*f.bytes(r) = s.base64()
	case kindJSON:
		*f.bytes(r) = s.nested()
	case kindList:
		list := s.ints()
		s.failed = s.failed || hugeAmong(list)
		*f.list(r) = list
	case kindNumber:
		*f.number(r) = new(s.float())
	case kindAmount:
		*f.amount(r) = s.float()
	case kindObject:
		s.Expect("{")
		f.make(r)
		if !s.Has("}") {
			s.members(f.fields, r)
		} else {
			lackAll(f.fields, r)
		}
	default:
		f.setInteger(r, int64(s.Int()))
	}
}

// lackAll is what an object without members says.
func lackAll(fields []Field, r *Record) {
	for i := range fields {
		fields[i].lack(r)
	}
}

// key skips the key of a member, if it comes next.
func (s *Scanner) key(key string) bool {
	n := len(key) + 3
	if len(s.text) < n || s.text[0] != '"' || string(s.text[1:n-2]) != key || s.text[n-2] != '"' || s.text[n-1] != ':' {
		return false
	}
	s.text = s.text[n:]
	return true
}

// Has skips a text, if it comes next.
func (s *Scanner) Has(text string) bool {
	if len(s.text) < len(text) || string(s.text[:len(text)]) != text {
		return false
	}
	s.text = s.text[len(text):]
	return true
}

func (s *Scanner) Expect(text string) {
	if !s.Has(text) {
		s.failed = true
	}
}

// MostDigits is how many digits a whole number in a line may have: 115 days are 16 digits of nanoseconds.
const MostDigits = 16

// Int reads an integer.
func (s *Scanner) Int() int {
	negative := s.Has("-")
	n, digits := 0, 0
	for digits < len(s.text) && '0' <= s.text[digits] && s.text[digits] <= '9' {
		n = 10*n + int(s.text[digits]-'0')
		digits++
	}
	if digits == 0 || digits > MostDigits || digits > 1 && s.text[0] == '0' {
		s.failed = true
		return 0
	}
	s.text = s.text[digits:]
	if negative {
		return -n
	}
	return n
}

// ints reads a list of at least one integer.
func (s *Scanner) ints() []int {
	s.Expect("[")
	var all []int
	for !s.failed {
		all = append(all, s.Int())
		if s.Has("]") {
			return all
		}
		s.Expect(",")
	}
	return nil
}

// float reads a number in any form of JSON.
func (s *Scanner) float() float64 {
	end := bytes.IndexAny(s.text, ",}")
	if end < 0 || !json.Valid(s.text[:end]) {
		s.failed = true
		return 0
	}
	v, err := strconv.ParseFloat(string(s.text[:end]), 64)
	if err != nil {
		s.failed = true
	}
	s.text = s.text[end:]
	return v
}

// quoted is the next string with its quotes, and whether its characters stand for themselves.
func (s *Scanner) quoted() (text []byte, plain bool) {
	s.Expect(`"`)
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
func (s *Scanner) string() string {
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

// Name reads a string that other lines probably have, too.
func (s *Scanner) Name() string {
	if s.names == nil {
		s.names = map[string]string{}
	}
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
func (s *Scanner) nested() json.RawMessage {
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
func (s *Scanner) base64() []byte {
	s.Expect(`"`)
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
