package chunk

import (
	"bytes"
	"unicode/utf8"

	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/scan"
)

// maxShape is the size of the longest event whose shape is kept, in bytes.
const maxShape = 4 << 10

// A shape is what an event has in common with the next event of its stream: usually everything
// except the text and the count of tokens. Equal bytes mean the same, so an event of a known shape
// need not be parsed. The zero value matches no event.
type shape struct {
	buf                    []byte // memory of the other slices
	before, between, after []byte // up to the text, from its end to the usage, and the rest
	counted                bool   // there is a usage
	index                  int    // of the choice
	output, answers        bool   // what a piece records of the event
	generated, reasoned    bool   // and of its text
}

// learn takes the shape of data, in which scan found p and the raw usage, nil if there is none. It
// does so only if the next event may have the same shape: all of the text is in one place, and
// nothing else is kept of it.
func (d *Decoder) learn(data []byte, p *exchange.Piece, usage []byte) {
	if len(data) > maxShape || d.strings != 1 || d.escaped || p.Finish != nil || p.Calls != nil {
		return
	}
	start := position(data, d.varying)
	end, from, to := start+len(d.varying), len(data), len(data)
	if usage != nil {
		from = position(data, usage)
		to = from + len(usage)
	}
	if from < end {
		return
	}
	s := &d.shape
	s.buf = append(append(append(s.buf[:0], data[:start]...), data[end:from]...), data[to:]...)
	s.before, s.between, s.after = s.buf[:start], s.buf[start:start+from-end], s.buf[start+from-end:]
	s.counted, s.index, s.output, s.generated = usage != nil, p.Index, p.Output, len(p.Text) > 0
	s.reasoned, s.answers = len(p.Thought) > 0, p.Answers
}

// match splits an event of shape s. usage is nil if there is none. An empty text does not match,
// since another member may then decide.
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
		if n = scan.ValueEnd(rest); n <= 0 {
			return nil, nil, false
		}
		usage, rest = rest[:n], rest[n:]
	}
	return text, usage, bytes.Equal(rest, s.after)
}

// position is where part, a slice of whole, begins in whole. Slicing keeps the end of the capacity.
func position(whole, part []byte) int { return cap(whole) - cap(part) }
