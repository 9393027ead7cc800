package truth

import (
	"bytes"
	"fmt"
	"net/textproto"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A conn is a connection of the server, with the answer that it carries.
type conn struct {
	fd         int // -1 once it is closed
	in         []byte
	arrived    int64         // when the last bytes of a request did, in nanoseconds since 1970
	due, wrote time.Duration // the next chunk and the last one, by the server's clock
	answer
}

// An answer is what is left to write.
type answer struct {
	left, chunks int
	tokens       int  // asked for, and what usage says
	usage        bool // the request asks for usage at the end
	chat         bool
	id           string // of the request
	kept         int    // its number among the requests kept, from 1; 0 if it is not kept
}

func (a *answer) begun() bool { return a.left < a.chunks }

// head begins each answer, in the same write as the first chunk.
const head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"

// event is a chunk as vLLM writes one, of 270 bytes.
const event = `data: {"id":"cmpl-5e1f0c2b7a9d4836b1d2c3e4f5a60718","object":"text_completion","created":1763856000,"model":"truth",` +
	`"choices":[{"index":0,"text":" words","logprobs":null,"finish_reason":%s,"stop_reason":null,"token_ids":null,"prompt_logprobs":null}],"usage":null}` + "\n\n"

// Said is the text of a chunk of an answer to a chat: a token by itself, in all tokenizers.
const Said = " a"

// chatEvent is such a chunk.
const chatEvent = `data: {"id":"chatcmpl-5e1f0c2b7a9d4836b1d2c3e4f5a60718","object":"chat.completion.chunk","created":1763856000,"model":"truth",` +
	`"choices":[{"index":0,"delta":{"content":"` + Said + `"},"logprobs":null,"finish_reason":%s,"token_ids":null}]}` +
	"\n\n"

// usage is the event after the last chunk.
const usage = `data: {"id":"cmpl-5e1f0c2b7a9d4836b1d2c3e4f5a60718","object":%q,"created":1763856000,"model":"truth",` +
	`"choices":[],"usage":{"prompt_tokens":16,"total_tokens":%d,"completion_tokens":%d}}` + "\n\n"

// A form is how the chunks of an answer are written.
type form struct {
	started, more, last []byte
	object              string
}

func formOf(event, object string) form {
	more := frame(fmt.Sprintf(event, "null"))
	return form{append([]byte(head), more...), more, frame(fmt.Sprintf(event, `"length"`)), object}
}

var (
	completionForm = formOf(event, "text_completion")
	chatForm       = formOf(chatEvent, "chat.completion.chunk")
	done           = frame("data: [DONE]\n\n")
)

func (a *answer) form() *form {
	if a.chat {
		return &chatForm
	}
	return &completionForm
}

// frame is text as one chunk of chunked transfer coding.
func frame(text string) []byte { return fmt.Appendf(nil, "%x\r\n%s\r\n", len(text), text) }

// next is the text of the next chunk.
func (a *answer) next() []byte {
	begun := a.begun()
	a.left--
	switch {
	case a.left > 0 && begun:
		return a.form().more
	case a.left > 0:
		return a.form().started
	}
	var text []byte
	if !begun {
		text = append(text, head...)
	}
	return append(text, a.form().last...)
}

// end is the text that ends an answer.
func (a *answer) end() (text []byte) {
	if a.usage {
		text = append(text, frame(fmt.Sprintf(usage, a.form().object, 16+a.tokens, a.tokens))...)
	}
	return append(append(text, done...), "0\r\n\r\n"...)
}

// A request is what the server needs to know of one.
type request struct {
	completion bool // not of the model list or of something else
	chat       bool
	models     bool
	tokens     int
	usage      bool
	id         string
}

// parse reads a request. It says whether the request is whole.
func parse(in []byte) (r request, whole bool, err error) {
	end := bytes.Index(in, []byte("\r\n\r\n"))
	if end < 0 {
		return r, false, nil
	}
	line, fields, _ := strings.Cut(string(in[:end]), "\r\n")
	length := 0
	for field := range strings.SplitSeq(fields, "\r\n") {
		name, value, _ := strings.Cut(field, ":")
		switch textproto.CanonicalMIMEHeaderKey(name) {
		case "Content-Length":
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return r, false, fmt.Errorf("reading a request: %w", err)
			}
		case "X-Request-Id":
			r.id = strings.TrimSpace(value)
		case "Transfer-Encoding":
			return r, false, fmt.Errorf("reading a request: transfer encoding %s", value)
		}
	}
	body := in[end+4:]
	if len(body) < length {
		return r, false, nil
	}
	r.chat = strings.HasPrefix(line, "POST /v1/chat/completions")
	r.completion = r.chat || strings.HasPrefix(line, "POST /v1/completions")
	r.models = strings.HasPrefix(line, "GET /v1/models")
	r.tokens = tokensIn(body)
	r.usage = usageAsked.Match(body)
	return r, true, nil
}

var usageAsked = regexp.MustCompile(`"include_usage":\s*true`)

// tokensIn is how many tokens a body asks for.
func tokensIn(body []byte) int {
	return max(number(body, `"max_tokens":`), number(body, `"max_completion_tokens":`))
}

// number is the integer after key in a JSON text; 0 if there is none.
func number(text []byte, key string) (n int) {
	_, text, _ = bytes.Cut(text, []byte(key))
	for _, b := range bytes.TrimLeft(text, " ") {
		if b < '0' || b > '9' {
			break
		}
		n = 10*n + int(b-'0')
	}
	return n
}

// other answers a request that is not for a completion.
func (r request) other() []byte {
	status, body := "404 Not Found", `{"error":{"message":"not found"}}`
	if r.models {
		status, body = "200 OK", `{"object":"list","data":[{"id":"truth","object":"model","created":1763856000,"owned_by":"peers","max_model_len":1000000}]}`
	}
	return fmt.Appendf(nil, "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", status,
		len(body), body)
}

// A queue is first in, first out.
type queue struct {
	conns []*conn
	taken int
}

func (q *queue) push(c *conn) { q.conns = append(q.conns, c) }

func (q *queue) empty() bool { return q.taken == len(q.conns) }

func (q *queue) head() *conn { return q.conns[q.taken] }

func (q *queue) pop() *conn {
	c := q.head()
	q.taken++
	if q.taken > 1<<12 && 2*q.taken > len(q.conns) {
		q.conns = q.conns[:copy(q.conns, q.conns[q.taken:])]
		q.taken = 0
	}
	return c
}
