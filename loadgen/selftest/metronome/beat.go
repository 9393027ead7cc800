package metronome

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
)

// A Truth is what a Metronome says of one event, in the event's text: the wall
// clock of the server's machine, in nanoseconds since 1970, and a delay.
type Truth struct {
	Written int64         // read immediately before the write
	Arrived int64         // when the request's last bytes came, stamped by the kernel on Linux
	Delay   time.Duration // what the stream's write before this one took, 0 for the first; its bytes left within that time
}

func (t Truth) append(b []byte) []byte {
	b = append(strconv.AppendInt(b, t.Written, 10), ' ')
	b = append(strconv.AppendInt(b, t.Arrived, 10), ' ')
	return strconv.AppendInt(b, int64(t.Delay), 10)
}

// ParseTruth reads the text of an event. It does not allocate.
func ParseTruth(text []byte) (Truth, error) {
	written, rest, _ := bytes.Cut(text, []byte(" "))
	arrived, delay, _ := bytes.Cut(rest, []byte(" "))
	var t Truth
	var err error
	for _, field := range []struct {
		text []byte
		into *int64
	}{{written, &t.Written}, {arrived, &t.Arrived}, {delay, (*int64)(&t.Delay)}} {
		if *field.into, err = strconv.ParseInt(string(field.text), 10, 64); err != nil {
			return Truth{}, fmt.Errorf("%q is no truth of a Metronome", text)
		}
	}
	return t, nil
}

// A beat is one stream that a Metronome writes to.
type beat struct {
	line  line
	truth Truth
	head  []byte        // of an event, up to its text
	due   time.Duration // since the Metronome's start
	sent  int           // events
	left  int           // events to come
	buf   []byte
}

const (
	metronomeHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
	beatTail      = `","logprobs":null,"finish_reason":null,"stop_reason":null}],"usage":null}` + "\n\n"
	lastTail      = `","logprobs":null,"finish_reason":"length","stop_reason":null}],"usage":null}` + "\n\n"
	chunkHead     = "0000\r\n" // of a chunk in HTTP's chunked coding; its length is filled in
)

func (m *Metronome) newBeat(l line, arrived time.Time, tokens int) *beat {
	return &beat{
		line:  l,
		truth: Truth{Arrived: arrived.UnixNano()},
		head: fmt.Appendf(nil, `data: {"id":"cmpl-%020x","object":"text_completion","created":%d,"model":"metronome","choices":[{"index":0,"text":"`,
			m.requests.Add(1), arrived.Unix()),
		due:  m.firstDue(arrived),
		left: tokens,
	}
}

// write writes the next n events at once, or those that are left and the end of
// the reply. It says how many there were.
func (b *beat) write(n int) (int, error) {
	n = min(n, b.left)
	before := time.Now()
	b.truth.Written = before.UnixNano()
	b.buf = b.buf[:0]
	for range n {
		b.left--
		b.event()
	}
	if b.left == 0 {
		b.end()
	}
	err := b.line.writeNow(b.buf)
	b.truth.Delay = time.Since(before)
	return n, err
}

// event adds an event to what is written next.
func (b *beat) event() {
	b.sent++
	tail := beatTail
	if b.left == 0 {
		tail = lastTail
	}
	from := b.open()
	b.buf = append(b.truth.append(append(b.buf, b.head...)), tail...)
	b.close(from)
}

// end adds what comes after the last event.
func (b *beat) end() {
	from := b.open()
	before, _, _ := bytes.Cut(b.head, []byte(`"choices":`))
	b.buf = fmt.Appendf(append(b.buf, before...), `"choices":[],"usage":{"prompt_tokens":1,"total_tokens":%d,"completion_tokens":%d}}`+"\n\n", b.sent+1, b.sent)
	b.close(from)
	from = b.open()
	b.buf = append(b.buf, "data: [DONE]\n\n"...)
	b.close(from)
	b.buf = append(b.buf, "0\r\n\r\n"...)
}

// open begins a chunk of HTTP's chunked coding and says where; close ends it.
func (b *beat) open() (from int) {
	b.buf = append(b.buf, chunkHead...)
	return len(b.buf)
}

func (b *beat) close(from int) {
	const digits = "0123456789abcdef"
	size := len(b.buf) - from
	for i := from - len("\r\n") - 1; size > 0; i-- {
		b.buf[i] = digits[size%16]
		size /= 16
	}
	b.buf = append(b.buf, "\r\n"...)
}

// An agenda is a heap of streams, the one that is due next at its root.
type agenda []*beat

func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].due < a[j].due }
func (a agenda) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }

// Push is for package heap.
func (a *agenda) Push(b any) { *a = append(*a, b.(*beat)) }

// Pop is for package heap.
func (a *agenda) Pop() any {
	last := len(*a) - 1
	b := (*a)[last]
	(*a)[last] = nil
	*a = (*a)[:last]
	return b
}
