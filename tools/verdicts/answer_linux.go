package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"runtime"
	"strings"
	"time"
)

// A form says by which of two APIs an answer is.
type form int

const (
	completion form = iota
	chat
)

// streamHead opens an answer, and lastChunk ends it.
var (
	streamHead = []byte("HTTP/1.1 200 OK\r\nserver: truth\r\ncontent-type: text/event-stream; charset=utf-8\r\n" +
		"transfer-encoding: chunked\r\n\r\n")
	lastChunk = []byte("0\r\n\r\n")
)

// models is the answer to /v1/models.
const models = `{"object":"list","data":[{"id":"m","object":"model","created":1763796123,"owned_by":"truth",` +
	`"root":"m","max_model_len":1000000}]}`

// heads open each event of a form.
var heads = [...]string{
	completion: `data: {"id":"cmpl-4f1c2f0a9b3e","object":"text_completion","created":1763796123,"model":"m",`,
	chat: `data: {"id":"chatcmpl-4f1c2f0a9b3e","object":"chat.completion.chunk","created":1763796123,` +
		`"model":"m",`,
}

// choices are the events with a token, without and with the reason of the end.
var choices = [...]string{
	completion: `"choices":[{"index":0,"text":" tok","logprobs":null,"finish_reason":%s}],"usage":null}`,
	chat:       `"choices":[{"index":0,"delta":{"content":" tok"},"logprobs":null,"finish_reason":%s}],"usage":null}`,
}

// event is the event of a token, as text of SSE.
func (f form) event(last bool) []byte {
	reason := "null"
	if last {
		reason = `"length"`
	}
	return fmt.Appendf(nil, heads[f]+choices[f]+"\n\n", reason)
}

// tokenText has for each form the event of a token and the event of the last one, as chunks of HTTP.
var tokenText = [...][2][]byte{
	completion: {chunked(completion.event(false)), chunked(completion.event(true))},
	chat:       {chunked(chat.event(false)), chunked(chat.event(true))},
}

// chunked is text as one chunk of HTTP/1.1.
func chunked(text []byte) []byte { return fmt.Appendf(nil, "%x\r\n%s\r\n", len(text), text) }

// end is the events that end an answer: the usage, and the mark of the end.
func (r *request) end() []byte {
	return fmt.Appendf(nil, `%s"choices":[],"usage":{"prompt_tokens":%d,"total_tokens":%d,"completion_tokens":%d}}`+
		"\n\ndata: [DONE]\n\n", heads[r.form], r.prompt, r.prompt+r.tokens, r.tokens)
}

// other answers what is not a completion. /set?ttft=50&itl=10 sets the pace in milliseconds and
// forgets all notes, and /truth has the notes as lines of JSON.
func (s *server) other(r request) []byte {
	path, query, _ := strings.Cut(r.path, "?")
	switch path {
	case "/v1/models":
		return page("200 OK", []byte(models))
	case "/set":
		p, err := parsePace(query)
		if err != nil {
			return page("400 Bad Request", []byte(err.Error()))
		}
		s.pace, s.notes = p, nil
		runtime.GC() // nothing is in flight
		return page("200 OK", []byte("{}"))
	case "/truth":
		var text bytes.Buffer
		for i := range s.notes {
			line, _ := json.Marshal(&s.notes[i]) // numbers and a string
			text.Write(append(line, '\n'))
		}
		return page("200 OK", text.Bytes())
	}
	return page("404 Not Found", []byte("{}"))
}

// page is a whole answer.
func page(status string, text []byte) []byte {
	const head = "HTTP/1.1 %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
	return append(fmt.Appendf(nil, head, status, len(text)), text...)
}

func parsePace(query string) (p pace, err error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return p, err
	}
	for key, to := range map[string]*time.Duration{"ttft": &p.ttft, "itl": &p.itl} {
		if *to, err = time.ParseDuration(values.Get(key) + "ms"); err != nil {
			return p, fmt.Errorf("%s: %w", key, err)
		}
	}
	return p, nil
}
