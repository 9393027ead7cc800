package metronome

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// A Truth is what the text of an event reports. Written and Arrived are the wall clock of the
// server's machine, in nanoseconds since 1970.
type Truth struct {
	// Written was read immediately before the write.
	Written int64
	// Arrived is when the last bytes of the request came, stamped by the kernel on Linux.
	Arrived int64
	// Delay is how long the stream's previous write took; 0 for the first. The bytes of that write
	// left within Delay after its Written.
	Delay time.Duration
}

// ParseTruth reads the text of an event. It does not allocate unless it fails.
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
			return Truth{}, fmt.Errorf("%q is not the text of a metronome's event", text)
		}
	}
	return t, nil
}

// ReplyHead precedes the events of an answer.
const ReplyHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: " +
	"chunked\r\n\r\n"

const (
	eventHead = `data: {"id":"cmpl-9b2c7a0e6d0f4f1e8a3f","object":"text_completion","created":1795176277,"model":"meta-llama/Llama-3.1-8B-Instruct","choices":[`
	textHead  = `{"index":0,"text":"`
	textTail  = `","logprobs":null,"finish_reason":null,"stop_reason":null}],"usage":null}` + "\n\n"
	lastTail  = `","logprobs":null,"finish_reason":"length","stop_reason":null}],"usage":null}` + "\n\n"
)

// AppendEvent appends an event of vLLM's size and shape to b, with t as its text, as
// one chunk of HTTP's chunked coding.
func AppendEvent(b []byte, t Truth) []byte { return appendEvent(b, t, textTail) }

func appendEvent(b []byte, t Truth, tail string) []byte {
	text := make([]byte, 0, 64)
	text = append(strconv.AppendInt(text, t.Written, 10), ' ')
	text = append(strconv.AppendInt(text, t.Arrived, 10), ' ')
	text = strconv.AppendInt(text, int64(t.Delay), 10)

	b = strconv.AppendInt(b, int64(len(eventHead+textHead)+len(text)+len(tail)), 16)
	b = append(b, "\r\n"+eventHead+textHead...)
	b = append(append(b, text...), tail...)
	return append(b, "\r\n"...)
}

// appendEnd appends what follows the last of n events.
func appendEnd(b []byte, n int) []byte {
	usage := fmt.Sprintf(`%s],"usage":{"prompt_tokens":1,"total_tokens":%d,"completion_tokens":%d}}`, eventHead, n+1, n)
	for _, text := range []string{usage + "\n\n", "data: [DONE]\n\n", ""} {
		b = fmt.Appendf(b, "%x\r\n%s\r\n", len(text), text)
	}
	return b
}

// A stream is one answer that a Server writes.
type stream struct {
	conn   conn
	truth  Truth
	due    time.Duration // of the next event, since the Server's start
	sent   int           // events
	tokens int           // events in the whole answer
	buf    []byte
}

// write writes the next event, and after the last one the end of the answer.
func (s *stream) write() error {
	before := time.Now()
	s.truth.Written = before.UnixNano()
	if s.sent++; s.sent < s.tokens {
		s.buf = AppendEvent(s.buf[:0], s.truth)
	} else {
		s.buf = appendEnd(appendEvent(s.buf[:0], s.truth, lastTail), s.sent)
	}
	err := s.conn.writeNow(s.buf)
	s.truth.Delay = time.Since(before)
	return err
}

// An agenda is a heap of streams. Its root is due next.
type agenda []*stream

func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].due < a[j].due }
func (a agenda) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }

// Push and Pop are for package heap.
func (a *agenda) Push(s any) { *a = append(*a, s.(*stream)) }

func (a *agenda) Pop() any {
	last := len(*a) - 1
	s := (*a)[last]
	*a = slices.Delete(*a, last, last+1)
	return s
}
