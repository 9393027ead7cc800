package openai

import (
	"bytes"
	"errors"

	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics"
)

const (
	// maxEvent is the size beyond which an event is refused, in bytes. Real
	// ones hold a token; with log probabilities or a whole tool call they
	// reach some hundred kilobytes, and an echo of the longest prompts some
	// megabytes. A thousand streams may each keep one that is on its way.
	maxEvent = 8 << 20
	// readSize is what one Read asks for at least. It is the size of
	// net/http's own buffer, so that what lies there comes in one Read.
	readSize = 4 << 10
)

var errEventTooLong = errors.New("an event is longer than 8 MiB")

// An event is one server-sent event.
type event struct {
	name         []byte // of its event: line, empty when it had none
	data         []byte // its data lines, joined by line feeds
	whole        bool   // a blank line ended it, not the end of the stream
	more         bool   // bytes of what follows came with it
	wire.Arrival        // of the end of its last data line
}

// An eventReader takes a stream of server-sent events apart, as the WHATWG HTML
// standard, section 9.2, says: lines end in LF, CR or CRLF, an event ends at a
// blank line, data lines are joined, comments and unknown fields are skipped.
// It differs in one point: an event that the end of the stream cuts short of
// its blank line is delivered, because servers do end there.
//
// Nothing is copied and nothing allocated for an event of one data line that
// fits the buffer. The zero value has no source: use reset.
type eventReader struct {
	src   wire.Reader
	err   error // what ended the stream, once it has
	limit int   // longest event in bytes

	buf     []byte
	start   int // first byte still needed
	pos     int // first byte not yet taken as a line
	scanned int // no line end lies between pos and here
	end     int // end of the bytes read

	edge      int          // where the Read before the newest ended
	edgeStamp wire.Arrival // of what came up to there

	// odd says why vLLM's client fails the stream although it is sound, as one of
	// metrics.Otherwise…. It is empty where that client does not.
	odd string

	begun   bool // the first line has been taken
	afterCR bool // the last line ended in CR, so that an LF here belongs to it

	name   []byte
	hasOne bool // the event under way has a data line: buf[lo:hi], unless joined
	joined bool // it has several, and they are in data
	lo, hi int
	data   []byte

	arrival wire.Arrival // of the data line taken last
	behind  int          // end of that
	more    bool         // it came with more behind it than line ends, before the newest Read
}

// reset makes r read src from its start. Buffers are kept.
func (r *eventReader) reset(src wire.Reader) {
	*r = eventReader{src: src, limit: maxEvent, buf: r.buf, name: r.name[:0], data: r.data[:0]}
	if r.buf == nil {
		r.buf = make([]byte, readSize+readSize/8)
	}
}

// next gives the next event, whose bytes are valid until the following call.
// The error at the end of the stream is what its Read gave: io.EOF after a clean
// end.
func (r *eventReader) next() (event, error) {
	r.start, r.hasOne, r.joined, r.more, r.name = r.pos, false, false, false, r.name[:0]
	for {
		lo, hi, err := r.line()
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
	e := event{name: r.name, data: r.buf[r.lo:r.hi], whole: whole, more: r.more || !blank(r.buf[r.pos:r.end]), Arrival: r.arrival}
	if r.joined {
		e.data = r.data
	}
	return e
}

// field takes the line buf[lo:hi], which is not empty, into the event under way.
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
	case "event":
		r.name = append(r.name[:0], value...)
		r.odd = metrics.OtherwiseEvent
	case "data":
		if !spaced {
			r.odd = metrics.OtherwiseSpace
		}
		r.arrival, r.behind, r.more = r.src.Arrival(), r.pos, false
		if hi == r.edge {
			r.arrival = r.edgeStamp // all but the line's end came with the Read before
		}
		switch {
		case !r.hasOne:
			r.hasOne, r.lo, r.hi = true, hi-len(value), hi
			return
		case !r.joined:
			r.odd = metrics.OtherwiseLines
			r.joined, r.data = true, append(r.data[:0], r.buf[r.lo:r.hi]...)
		}
		r.data = append(append(r.data, '\n'), value...)
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

// line takes the next line, without its end, as buf[lo:hi]. At the end of the
// stream what is left is a line, too.
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
				r.odd = metrics.OtherwiseLineEnd
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
		r.fill()
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

// lineEnd gives where the first line of b ends and the next begins; next is 0
// when no line ends in b. A CR ends its line even though an LF may follow.
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
