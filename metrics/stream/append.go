package stream

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/servebench/servebench/metrics"
)

// appendReq appends the line of a record: a reqLine as encoding/json would write it, without
// members that have their usual value. It allocates nothing, apart from room in b, unless a text
// needs escapes or the record has counts and times from unusual places.
func appendReq(b []byte, head lineHead, r *metrics.Record) []byte {
	l := appender{b: append(b, `{"v":`...)}
	l.b = strconv.AppendInt(l.b, int64(head.V), 10)
	l.text(`"k":`, head.Kind)
	l.b = appendString(append(l.b, `,"run":`...), head.Run)
	l.number(`"s":`, int64(head.Shard), 0)
	l.b = strconv.AppendInt(append(l.b, `,"i":`...), int64(r.Index), 10)
	l.number(`"turn":`, int64(r.Turn), 0)
	l.text(`"id":`, r.ID)
	l.text(`"target":`, r.Target)
	l.text(`"phase":`, string(r.Phase))
	l.number(`"attempts":`, int64(r.Attempts), 1)
	l.number(`"anew":`, int64(r.Reconnects), 0)
	l.text(`"adapter":`, r.Adapter)
	if r.Payload != nil {
		l.value(`"payload":`, r.Payload)
	}
	l.step(r)
	l.times(r)
	l.bytes(`"late":`, r.Late)
	l.conn(r.Conn)
	l.number(`"max_age":`, int64(r.MaxAge), 0)
	l.number(`"shared_reads":`, int64(r.SharedReads), 0)
	l.counts(r)
	l.text(`"finish":`, r.Finish)
	l.number(`"status":`, int64(r.Status), http.StatusOK)
	l.text(`"class":`, string(r.Class))
	l.text(`"error":`, r.Error)
	l.text(`"text":`, r.Text)
	l.raw(`"calls":`, r.Calls)
	l.text(`"reasoning":`, r.Reasoning)
	l.raw(`"asked":`, r.Asked)
	return append(l.b, '}', '\n')
}

// step appends where the request stands in its session. Its times count from Sent.
func (l *appender) step(r *metrics.Record) {
	s := r.Session
	if s == nil {
		return
	}
	l.key(`"step":{`)
	start := len(l.b)
	l.text(`"session":`, s.ID)
	l.number(`"turns":`, int64(s.Turns), 0)
	l.text(`"agent":`, s.Agent)
	if len(s.Waits) > 0 {
		l.ints(`"waits":`, s.Waits)
	}
	l.flag(`"early":`, s.Early)
	l.flag(`"tool":`, s.Tool)
	if s.Ready != r.Due-s.Gap {
		l.offset(`"ready":`, s.Ready-r.Sent)
	}
	l.number(`"gap":`, int64(s.Gap), 0)
	if s.At != nil {
		l.offset(`"at":`, *s.At-r.Sent)
	}
	l.number(`"took":`, int64(s.Took), 0)
	l.after(`"place":`, s.SessionSlot, r.Sent)
	l.number(`"history":`, int64(s.History), 0)
	l.number(`"reusable":`, int64(s.Reusable), 0)
	l.number(`"answered":`, int64(s.Answered), 0)
	l.end(start)
}

// times appends when things happened. After Sent, all times count from it.
func (l *appender) times(r *metrics.Record) {
	l.number(`"sent":`, int64(r.Sent), 0)
	l.number(`"lag":`, int64(r.Lag()), 0)
	l.number(`"queue":`, int64(r.Queue()), 0)
	l.after(`"wrote":`, r.Wrote, r.Sent)
	l.number(`"waited":`, int64(r.Waited), 0)
	l.after(`"first_byte":`, r.FirstByte, r.Sent)
	if n := r.Chunks.Len(); n > 0 {
		l.number(`"chunks":`, int64(n), 0)
		l.stamps(r.Chunks, r.Sent)
	}
	switch {
	case r.Chunks.Len() == 0:
		l.after(`"first_content":`, r.FirstContent, r.Sent)
	case r.FirstContent == 0:
		l.flag(`"no_content":`, true)
	case r.FirstContent != r.Chunks.First():
		l.after(`"first_content":`, r.FirstContent, r.Sent)
	}
	l.flag(`"reasoned":`, r.Reasoned)
	l.after(`"first_output":`, r.FirstOutput, r.Sent)
	if n := r.Blank.Len(); n > 0 {
		l.b = strconv.AppendInt(append(l.b, `,"blank":{"n":`...), int64(n), 10)
		l.stamps(r.Blank, r.Sent)
		l.b = append(l.b, '}')
	}
	l.after(`"trailer":`, r.Trailer, r.Sent)
	l.after(`"end":`, r.End, r.Sent)
}

// stamps appends the ends of s, and the gaps between.
func (l *appender) stamps(s metrics.Stamps, sent time.Duration) {
	l.number(`"first":`, int64(s.First()-sent), 0)
	if s.Last() != s.First() {
		l.offset(`"last":`, s.Last()-sent)
	}
	l.bytes(`"gaps":`, s.Packed())
}

func (l *appender) conn(c metrics.Conn) {
	if c == (metrics.Conn{}) {
		return
	}
	l.key(`"conn":{`)
	start := len(l.b)
	l.flag(`"new":`, c.New)
	l.number(`"dns":`, int64(c.DNS), 0)
	l.number(`"connect":`, int64(c.Connect), 0)
	l.number(`"proxy":`, int64(c.Proxy), 0)
	l.number(`"tls":`, int64(c.TLS), 0)
	l.end(start)
}

// counts appends the tokens.
func (l *appender) counts(r *metrics.Record) {
	l.number(`"in":`, int64(r.In), 0)
	l.number(`"in_asked":`, int64(r.InAsked), int64(r.In))
	l.number(`"cached":`, int64(r.Cached), 0)
	l.flag(`"uncached":`, r.Uncached)
	l.flag(`"whole":`, r.Unstreamed)
	l.number(`"out":`, int64(r.Out), 0)
	l.number(`"out_reasoned":`, int64(r.OutReasoned), 0)
	l.number(`"out_asked":`, int64(r.OutAsked), int64(r.Out))
	l.flag(`"uncounted":`, r.Uncounted)
	if r.WithOutput != nil {
		l.value(`"beside":`, r.WithOutput)
	}
	if r.Until032 != nil {
		l.value(`"until_0_32":`, r.Until032)
	}
	l.text(`"otherwise":`, r.Differs)
	if len(r.TokensPerChunk) > 0 {
		l.value(`"tokens_per_chunk":`, r.TokensPerChunk)
	}
	if r.Server != nil {
		l.value(`"server":`, r.Server)
	}
}

// An appender appends members of an object, each after a comma.
type appender struct{ b []byte }

// key begins a member; it has quotes and a colon.
func (l *appender) key(key string) { l.b = append(append(l.b, ','), key...) }

// end ends an object whose members begin at start. It drops the comma before the first.
func (l *appender) end(start int) {
	if len(l.b) > start {
		l.b = append(l.b[:start], l.b[start+1:]...)
	}
	l.b = append(l.b, '}')
}

// number appends a number, unless it is the usual one.
func (l *appender) number(key string, n, usual int64) {
	if n != usual {
		l.key(key)
		l.b = strconv.AppendInt(l.b, n, 10)
	}
}

// after appends a time that counts from sent, unless it is 0: never.
func (l *appender) after(key string, at, sent time.Duration) {
	if at != 0 {
		l.offset(key, at-sent)
	}
}

func (l *appender) offset(key string, d time.Duration) {
	l.key(key)
	l.b = strconv.AppendInt(l.b, int64(d), 10)
}

// bytes appends bytes in base64, unless there are none.
func (l *appender) bytes(key string, data []byte) {
	if len(data) > 0 {
		l.key(key)
		l.b = append(base64.StdEncoding.AppendEncode(append(l.b, '"'), data), '"')
	}
}

func (l *appender) ints(key string, all []int) {
	l.key(key)
	for i, n := range all {
		l.b = strconv.AppendInt(append(l.b, "[,"[min(i, 1)]), int64(n), 10)
	}
	l.b = append(l.b, ']')
}

func (l *appender) flag(key string, on bool) {
	if on {
		l.key(key)
		l.b = append(l.b, "true"...)
	}
}

// raw appends JSON, unless there is none. JSON of several lines becomes one line, and what is no JSON
// is left out.
func (l *appender) raw(key string, text json.RawMessage) {
	switch {
	case len(text) == 0 || !json.Valid(text):
	case bytes.IndexByte(text, '\n') >= 0 || bytes.IndexByte(text, '\r') >= 0:
		l.value(key, text)
	default:
		l.key(key)
		l.b = append(l.b, text...)
	}
}

// text appends a text, unless it is empty.
func (l *appender) text(key, text string) {
	if text != "" {
		l.key(key)
		l.b = appendString(l.b, text)
	}
}

// value appends something rare.
func (l *appender) value(key string, v any) {
	l.key(key)
	text, _ := json.Marshal(v) // numbers and times, which have no errors
	l.b = append(l.b, text...)
}

// appendString appends a text as encoding/json writes it without escapes for HTML.
func appendString(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= 0x7f {
			var escaped bytes.Buffer
			e := json.NewEncoder(&escaped)
			e.SetEscapeHTML(false)
			_ = e.Encode(text) // a text has no errors
			return append(b, bytes.TrimSuffix(escaped.Bytes(), []byte("\n"))...)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}
