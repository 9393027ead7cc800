package openai

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

// An event is one server-sent event.
type event struct {
	name         []byte // from its event: line, empty without one
	data         []byte // its data lines, joined by line feeds
	whole        bool   // ended by a blank line, not by the end of the stream
	more         bool   // the same read brought bytes of what follows
	wire.Arrival        // of the end of its last data line
}

// An eventReader splits a stream of server-sent events, as the WHATWG HTML standard, section 9.2,
// says: lines end in LF, CR or CRLF, an event ends at a blank line, data lines are joined, comments
// and unknown fields are skipped. It differs in one point: it also delivers an event that the end
// of the stream cuts short of its blank line, because servers do end there.
//
// It copies and allocates nothing for an event of one data line that fits the buffer. The zero
// value has no source: call reset first.
type eventReader struct {
	src   wire.Reader
	pool  *sync.Pool // of *[bufferSize]byte
	err   error      // what ended the stream, if it has ended
	limit int        // longest event in bytes

	buf     []byte
	start   int // first byte still needed
	pos     int // first byte not yet split into lines
	scanned int // no line ends between pos and here
	end     int // end of the bytes read

	edge      int          // where the previous Read ended
	edgeStamp wire.Arrival // arrival of what came up to there

	// odd says why vLLM's client fails the stream although it is sound, as one of
	// record.Differs…; empty if that client does not fail it.
	odd string
	// joins says that vLLM's client takes the events of the stream as the standard has them, apart
	// from their line ends: so for the Responses API.
	joins bool
	// bare says that vLLM's client fails streams with comments: so for transcriptions.
	bare bool

	begun   bool // the first line has been taken
	afterCR bool // the last line ended in CR, so an LF here belongs to it

	name   []byte
	paused bool // the last call of next returned wire.ErrAgain
	hasOne bool // the current event has a data line: buf[lo:hi], unless joined
	joined bool // it has several, joined in data
	lo, hi int
	data   []byte

	arrival wire.Arrival // of the newest data line
	behind  int          // end of that arrival's read
	more    bool         // an earlier Read brought it, with more than line ends behind it
}

// reset makes r read src from its start. It keeps the buffers.
func (r *eventReader) reset(src wire.Reader, pool *sync.Pool) {
	*r = eventReader{src: src, pool: pool, limit: maxEvent, buf: r.buf, name: r.name[:0], data: r.data[:0]}
}

// pause gives the buffer back if no event has begun. Streams that wait between events then share few
// buffers, whose memory is warm.
func (r *eventReader) pause() {
	if r.start == r.end && r.buf != nil {
		r.shift(r.start)
		r.release()
	}
}

// release returns the buffer to the pool, unless it has grown.
func (r *eventReader) release() {
	if len(r.buf) == bufferSize {
		r.pool.Put((*[bufferSize]byte)(r.buf))
	}
	r.buf = nil
}

// next returns the next event, whose bytes are valid until the following call. At the end of the
// stream, it returns the error of the stream's Read: io.EOF after a clean end. After wire.ErrAgain,
// the following call goes on with the same event.
func (r *eventReader) next() (event, error) {
	if !r.paused {
		r.start, r.hasOne, r.joined, r.more, r.name = r.pos, false, false, false, r.name[:0]
	}
	for {
		lo, hi, err := r.line()
		if r.paused = err == wire.ErrAgain; r.paused {
			r.pause()
			return event{}, err
		}
		if err != nil {
			if r.hasOne {
				return r.event(false), nil
			}
			return event{}, err
		}
		if lo < hi {
			r.field(lo, hi)
		} else if r.hasOne {
			return r.event(true), nil
		} else {
			r.name = r.name[:0]
		}
		if !r.hasOne {
			r.start = r.pos
		}
	}
}

func (r *eventReader) event(whole bool) event {
	e := event{name: r.name, data: r.buf[r.lo:r.hi], whole: whole, more: r.more || !blank(r.buf[r.pos:r.end]),
		Arrival: r.arrival}
	if r.joined {
		e.data = r.data
	}
	return e
}

// field adds the line buf[lo:hi], which is not empty, to the current event.
func (r *eventReader) field(lo, hi int) {
	line := r.buf[lo:hi]
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
		if r.bare {
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
func (r *eventReader) datum(value []byte, hi int) {
	r.arrival, r.behind, r.more = r.src.Arrival(), r.pos, false
	if hi == r.edge {
		r.arrival = r.edgeStamp // all but the line's end came with the previous Read
	}
	switch {
	case !r.hasOne:
		r.hasOne, r.lo, r.hi = true, hi-len(value), hi
		return
	case !r.joined:
		r.differs(record.DiffersLines)
		r.joined, r.data = true, append(r.data[:0], r.buf[r.lo:r.hi]...)
	}
	r.data = append(append(r.data, '\n'), value...)
}

// differs notes why vLLM's client fails the stream, unless it joins the lines of its events.
func (r *eventReader) differs(why string) {
	if !r.joins {
		r.odd = why
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
func (r *eventReader) line() (lo, hi int, err error) {
	for {
		if r.afterCR && r.pos < r.end {
			if r.buf[r.pos] == '\n' {
				r.pos++
				r.scanned = r.pos
			}
			r.afterCR = false
		}
		if end, next := lineEnd(r.buf[r.scanned:r.end]); next > 0 {
			lo, hi = r.pos, r.scanned+end
			r.pos = r.scanned + next
			if r.afterCR = r.buf[r.pos-1] == '\r'; r.afterCR {
				r.odd = record.DiffersLineEnd
			}
			break
		}
		r.scanned = r.end
		if r.err != nil {
			if r.pos == r.end {
				return 0, 0, r.err
			}
			lo, hi, r.pos = r.pos, r.end, r.end
			break
		}
		if r.fill(); r.err == wire.ErrAgain {
			r.err = nil
			return 0, 0, wire.ErrAgain
		}
	}
	r.scanned = r.pos
	if !r.begun {
		r.begun = true
		if bytes.HasPrefix(r.buf[lo:hi], byteOrderMark) {
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
func (r *eventReader) fill() {
	if r.end-r.start >= r.limit {
		r.err = errEventTooLong
		r.pos, r.hasOne = r.end, false
		return
	}
	if r.buf == nil {
		r.buf = r.pool.Get().(*[bufferSize]byte)[:]
	}
	// An empty buffer is filled from its start, whose memory is warm.
	if r.start == r.end || len(r.buf)-r.end < readSize {
		r.shift(r.start)
	}
	if len(r.buf)-r.end < readSize {
		grown := make([]byte, 2*len(r.buf))
		copy(grown, r.buf[:r.end])
		r.buf = grown
	}
	r.more = r.more || r.hasOne && !blank(r.buf[r.behind:r.end])
	r.edge, r.edgeStamp = r.end, r.src.Arrival()
	var n int
	n, r.err = r.src.Read(r.buf[r.end:])
	r.end += n
}

// shift drops the first n bytes of the buffer.
func (r *eventReader) shift(n int) {
	copy(r.buf, r.buf[n:r.end])
	r.start, r.pos, r.scanned, r.end = r.start-n, r.pos-n, r.scanned-n, r.end-n
	r.lo, r.hi, r.behind, r.edge = r.lo-n, r.hi-n, r.behind-n, r.edge-n
}
