package openai

import (
	"bytes"
	"unicode/utf8"
)

// maxShape is the longest event whose shape is kept, in bytes.
const maxShape = 4 << 10

// A shape is what an event has in common with the next one of its stream: as a
// rule all but the text and the count of tokens. Bytes that are the same mean the
// same, so that an event of a known shape need not be read. The zero value is
// nobody's shape.
type shape struct {
	buf                    []byte // holds the others
	before, between, after []byte // up to the text, from its end to the usage, and the rest
	counted                bool   // there is a usage
	index                  int    // of the choice
	output, generated      bool   // what a piece says of the event, and of its text
}

// learn takes the shape of data, in which scan found what p has, and the raw
// usage, nil for none. It does so only where the next event may be alike: all
// of the text stands in one place.
func (s *shape) learn(data []byte, p *piece, usage []byte) {
	if len(data) > maxShape || p.strings != 1 || len(p.scratch) > 0 || p.finish != nil {
		return
	}
	start := position(data, p.varying)
	end, from, to := start+len(p.varying), len(data), len(data)
	if usage != nil {
		from = position(data, usage)
		to = from + len(usage)
	}
	if from < end {
		return
	}
	s.buf = append(append(append(s.buf[:0], data[:start]...), data[end:from]...), data[to:]...)
	s.before, s.between, s.after = s.buf[:start], s.buf[start:start+from-end], s.buf[start+from-end:]
	s.counted, s.index, s.output, s.generated = usage != nil, p.index, p.output, len(p.text) > 0
}

// match takes an event of shape s apart. The usage is nil where there is none. An
// empty text is no match: another member may speak in its place.
func (s *shape) match(data []byte) (text, usage []byte, ok bool) {
	rest, ok := bytes.CutPrefix(data, s.before)
	if !ok || len(s.before) == 0 {
		return nil, nil, false
	}
	n := bytes.IndexByte(rest, '"')
	if n <= 0 {
		return nil, nil, false
	}
	text = rest[:n]
	if rest, ok = bytes.CutPrefix(rest[n:], s.between); !ok || bytes.IndexByte(text, '\\') >= 0 || !utf8.Valid(text) {
		return nil, nil, false
	}
	if s.counted {
		if n = valueEnd(rest); n <= 0 {
			return nil, nil, false
		}
		usage, rest = rest[:n], rest[n:]
	}
	return text, usage, bytes.Equal(rest, s.after)
}

// position is where part begins in whole, a slice of which it is. Slicing keeps
// the end of the room.
func position(whole, part []byte) int { return cap(whole) - cap(part) }
