// Package sse splits a stream of server-sent events, or of lines of JSON. It knows no API.
package sse

import (
	"bytes"
	"errors"
	"sync"

	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics/record"
)

const (
	// maxEvent is the largest accepted event, in bytes. Real events hold a token. With log
	// probabilities or a whole tool call they reach some hundred kilobytes; an echo of the longest
	// prompts has some megabytes. A thousand streams may each hold a partial one.
	maxEvent = 8 << 20
	// readSize is the least that one Read asks for. It is the size of net/http's own buffer, so one
	// Read empties that.
	readSize = 4 << 10
	// bufferSize leaves room for the start of an event before the next Read.
	bufferSize = readSize + readSize/8
)

var errEventTooLong = errors.New("an event is longer than 8 MiB")

// An Event is one server-sent event.
type Event struct {
	Name         []byte // from its event: line, empty without one
	Data         []byte // its data lines, joined by line feeds
	Whole        bool   // ended by a blank line, or its line's end; not by the end of the stream
	More         bool   // the same read brought bytes of what follows
	wire.Arrival        // of the end of its last data line
}

// Rules say how vLLM's client reads the lines of a stream.
type Rules struct {
	Joins bool // as the standard has them, apart from their ends
	Bare  bool // it fails streams with comments
	// Lines says that each line is an event, as in newline-delimited JSON (application/x-ndjson). That client
	// reads none of these.
	Lines bool
}

// A Reader splits a stream of server-sent events, as the WHATWG HTML standard, section 9.2,
// says: lines end in LF, CR or CRLF, an event ends at a blank line, data lines are joined, comments
// and unknown fields are skipped. It differs in one point: it also delivers an event that the end
// of the stream cuts short of its blank line, because servers do end there.
//
// It copies and allocates nothing for an event of one data line that fits the buffer. The zero
// value has no source: call Reset first.
type Reader struct {
	text text // what of the stream is in memory

	// Odd says why vLLM's client fails the stream although it is sound, as one of
	// record.Differs…; empty if that client does not fail it.
	Odd   string
	rules Rules

	name   []byte
	paused bool // the last call of Next returned wire.ErrAgain
	hasOne bool // the current event has a data line: text.buf[lo:hi], unless joined
	joined bool // it has several, joined in data
	lo, hi int
	data   []byte

	arrival wire.Arrival // of the newest data line
	behind  int          // end of that arrival's read
	more    bool         // an earlier Read brought it, with more than line ends behind it
}

// A text is the part of a stream that is in memory, and how far it is split into lines.
type text struct {
	src   wire.Reader
	pool  *Buffers
	err   error // what ended the stream, if it has ended
	limit int   // longest event in bytes

	buf     []byte
	start   int // first byte still needed
	pos     int // first byte not yet split into lines
	scanned int // no line ends between pos and here
	end     int // end of the bytes read

	edge      int          // where the previous Read ended
	edgeStamp wire.Arrival // arrival of what came up to there

	begun   bool // the first line has been taken
	afterCR bool // the last line ended in CR, so an LF here belongs to it
}

// Buffers are what Readers share. The zero value is ready, and safe for concurrent use.
type Buffers struct{ free sync.Pool } // of *[bufferSize]byte

func (b *Buffers) get() []byte {
	if buf, ok := b.free.Get().(*[bufferSize]byte); ok {
		return buf[:]
	}
	return make([]byte, bufferSize)
}

// Reset makes r read src from its start, by rules. It keeps its own buffers.
func (r *Reader) Reset(src wire.Reader, pool *Buffers, rules Rules) {
	kept := text{src: src, pool: pool, limit: maxEvent, buf: r.text.buf}
	*r = Reader{text: kept, rules: rules, name: r.name[:0], data: r.data[:0]}
}

// Kept is how many bytes r keeps for the next stream, apart from shared buffers.
func (r *Reader) Kept() int { return cap(r.data) }

// pause gives the buffer back if no event has begun. Streams that wait between events then share few
// buffers, whose memory is warm.
func (r *Reader) pause() {
	if r.text.start == r.text.end && r.text.buf != nil {
		r.shift(r.text.start)
		r.Release()
	}
}

// Release returns the buffer to the pool, unless it has grown.
func (r *Reader) Release() {
	if len(r.text.buf) == bufferSize {
		r.text.pool.free.Put((*[bufferSize]byte)(r.text.buf))
	}
	r.text.buf = nil
}

// Next returns the next event, whose bytes are valid until the following call. At the end of the
// stream, it returns the error of the stream's Read: io.EOF after a clean end. After wire.ErrAgain,
// the following call goes on with the same event.
func (r *Reader) Next() (Event, error) {
	if !r.paused {
		r.text.start, r.hasOne, r.joined, r.more, r.name = r.text.pos, false, false, false, r.name[:0]
	}
	for {
		lo, hi, err := r.line()
		if r.paused = err == wire.ErrAgain; r.paused {
			r.pause()
			return Event{}, err
		}
		if err != nil {
			if r.hasOne {
				return r.event(false), nil
			}
			return Event{}, err
		}
		if lo < hi && r.rules.Lines {
			r.datum(r.text.buf[lo:hi], hi)
			return r.event(hi < r.text.pos), nil
		}
		if lo < hi {
			r.field(lo, hi)
		} else if r.hasOne {
			return r.event(true), nil
		} else {
			r.name = r.name[:0]
		}
		if !r.hasOne {
			r.text.start = r.text.pos
		}
	}
}

func (r *Reader) event(whole bool) Event {
	e := Event{Name: r.name, Data: r.text.buf[r.lo:r.hi], Whole: whole,
		More:    r.more || !blank(r.text.buf[r.text.pos:r.text.end]),
		Arrival: r.arrival}
	if r.joined {
		e.Data = r.data
	}
	return e
}

// field adds the line buf[lo:hi], which is not empty, to the current event.
func (r *Reader) field(lo, hi int) {
	line := r.text.buf[lo:hi]
	name, value := line, line[len(line):]
	spaced := false
	if colon := bytes.IndexByte(line, ':'); colon >= 0 {
		name, value = line[:colon], line[colon+1:]
		if spaced = len(value) > 0 && value[0] == ' '; spaced {
			value = value[1:]
		}
	}
	switch string(name) {
	case "":
		if r.rules.Bare {
			r.differs(record.DiffersComment)
		}
	case "event":
		r.name = append(r.name[:0], value...)
		r.differs(record.DiffersEvent)
	case "error":
		if !bytes.HasPrefix(value, []byte("{")) {
			return
		}
		// Servers of llama.cpp up to 2025 send their errors in a field of this name, without data.
		r.name = append(r.name[:0], name...)
		r.datum(value, hi)
	case "data":
		if !spaced {
			r.differs(record.DiffersSpace)
		}
		r.datum(value, hi)
	}
}

// datum adds the value of a line that ends at hi to the data of the current event.
func (r *Reader) datum(value []byte, hi int) {
	r.arrival, r.behind, r.more = r.text.src.Arrival(), r.text.pos, false
	if hi == r.text.edge {
		r.arrival = r.text.edgeStamp // all but the line's end came with the previous Read
	}
	switch {
	case !r.hasOne:
		r.hasOne, r.lo, r.hi = true, hi-len(value), hi
		return
	case !r.joined:
		r.differs(record.DiffersLines)
		r.joined, r.data = true, append(r.data[:0], r.text.buf[r.lo:r.hi]...)
	}
	r.data = append(append(r.data, '\n'), value...)
}

// differs notes why vLLM's client fails the stream, unless it joins the lines of its events.
func (r *Reader) differs(why string) {
	if !r.rules.Joins {
		r.Odd = why
	}
}

// blank reports whether b holds line ends and nothing else.
func blank(b []byte) bool {
	for _, c := range b {
		if c != '\n' && c != '\r' {
			return false
		}
	}
	return true
}

var byteOrderMark = []byte("\ufeff")

// line finds the next line, without its end, as buf[lo:hi]. At the end of the stream, the rest
// counts as a line.
func (r *Reader) line() (lo, hi int, err error) {
	for {
		if r.text.afterCR && r.text.pos < r.text.end {
			if r.text.buf[r.text.pos] == '\n' {
				r.text.pos++
				r.text.scanned = r.text.pos
			}
			r.text.afterCR = false
		}
		if end, next := lineEnd(r.text.buf[r.text.scanned:r.text.end]); next > 0 {
			lo, hi = r.text.pos, r.text.scanned+end
			r.text.pos = r.text.scanned + next
			if r.text.afterCR = r.text.buf[r.text.pos-1] == '\r'; r.text.afterCR {
				r.Odd = record.DiffersLineEnd
			}
			break
		}
		r.text.scanned = r.text.end
		if r.text.err != nil {
			if r.text.pos == r.text.end {
				return 0, 0, r.text.err
			}
			lo, hi, r.text.pos = r.text.pos, r.text.end, r.text.end
			break
		}
		if r.fill(); r.text.err == wire.ErrAgain {
			r.text.err = nil
			return 0, 0, wire.ErrAgain
		}
	}
	r.text.scanned = r.text.pos
	if !r.text.begun {
		r.text.begun = true
		if bytes.HasPrefix(r.text.buf[lo:hi], byteOrderMark) {
			lo += len(byteOrderMark)
		}
	}
	return lo, hi, nil
}

// lineEnd returns where the first line of b ends and where the next begins; next is 0 if no line
// ends in b. A CR ends its line even if an LF may follow.
func lineEnd(b []byte) (end, next int) {
	lf := bytes.IndexByte(b, '\n')
	if lf < 0 {
		lf = len(b)
	}
	if cr := bytes.IndexByte(b[:lf], '\r'); cr >= 0 {
		return cr, cr + 1
	}
	if lf == len(b) {
		return 0, 0
	}
	return lf, lf + 1
}

// fill reads once, after making room for readSize bytes.
func (r *Reader) fill() {
	if r.text.end-r.text.start >= r.text.limit {
		r.text.err = errEventTooLong
		r.text.pos, r.hasOne = r.text.end, false
		return
	}
	if r.text.buf == nil {
		r.text.buf = r.text.pool.get()
	}
	// An empty buffer is filled from its start, whose memory is warm.
	if r.text.start == r.text.end || len(r.text.buf)-r.text.end < readSize {
		r.shift(r.text.start)
	}
	if len(r.text.buf)-r.text.end < readSize {
		grown := make([]byte, 2*len(r.text.buf))
		copy(grown, r.text.buf[:r.text.end])
		r.text.buf = grown
	}
	r.more = r.more || r.hasOne && !blank(r.text.buf[r.behind:r.text.end])
	r.text.edge, r.text.edgeStamp = r.text.end, r.text.src.Arrival()
	var n int
	n, r.text.err = r.text.src.Read(r.text.buf[r.text.end:])
	r.text.end += n
}

// shift drops the first n bytes of the buffer.
func (r *Reader) shift(n int) {
	copy(r.text.buf, r.text.buf[n:r.text.end])
	r.text.start, r.text.pos, r.text.scanned, r.text.end = r.text.start-n, r.text.pos-n, r.text.scanned-n, r.text.end-n
	r.lo, r.hi, r.behind, r.text.edge = r.lo-n, r.hi-n, r.behind-n, r.text.edge-n
}
