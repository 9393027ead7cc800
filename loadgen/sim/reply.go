package sim

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/servebench/servebench/loadgen/sim/faults"
	"github.com/servebench/servebench/loadgen/sim/words"
)

// toolName is the tool that an answer calls if the request lists none.
const toolName = "simulate"

// A reply renders the answer to one query. What its chunks have in common is built once.
type reply struct {
	query   *query
	text    *words.Text
	lead    Lead
	faults  faults.Choice
	id      string
	callID  string // of its tool call
	created int64
	model   string
	details bool // usage says how many prompt tokens were found in the cache
	found   int  // that many

	head  []byte // of every chunk, up to its choices
	words []byte // text of the current chunk
	out   int    // tokens rendered
	chunk []byte // the current chunk
}

func newReply(cfg *Config, w *words.Vocabulary, r *http.Request, q *query, c faults.Choice) *reply {
	a := &reply{
		query: q, text: cfg.text(w, q), faults: c,
		created: time.Now().Unix(), model: q.model, details: cfg.Answers.CachedTokens,
	}
	kind := "text_completion"
	if n, chosen := c.With("answer"); chosen {
		a.text.EndAfter(n)
	}
	id := requestID(r)
	a.id, a.callID = "cmpl-"+id, "call_"+id
	if q.chat {
		kind, a.id = "chat.completion.chunk", "chat"+a.id
		if cfg.Answers.Lead.Field != "tool_calls" || q.tool != "" {
			a.lead = cfg.Answers.Lead
		}
	}
	a.head = append(a.head, `{"id":`...)
	a.head = appendString(a.head, a.id)
	a.head = append(a.head, `,"object":"`+kind+`","created":`...)
	a.head = strconv.AppendInt(a.head, a.created, 10)
	a.head = append(a.head, `,"model":`...)
	a.head = appendString(a.head, a.model)
	a.head = append(a.head, `,"choices":[`...)
	return a
}

// role is the chunk with which a chat begins.
func (a *reply) role() []byte {
	b := append(a.chunk[:0], a.head...)
	b = append(b, `{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]`...)
	a.chunk = append(a.appendUsage(b, false), '}')
	return a.chunk
}

// tokens is the chunk with the next n tokens.
func (a *reply) tokens(n int) []byte {
	field := a.field()
	first := a.out == 0
	a.words = a.text.Append(a.words[:0], n)
	a.out += n
	last := a.text.Left() == 0

	b := append(a.chunk[:0], a.head...)
	if a.query.chat {
		b = append(b, `{"index":0,"delta":`...)
		b = a.appendDelta(b, field, first)
	} else {
		b = append(b, `{"index":0,"text":`...)
		b = appendString(b, a.words)
	}
	b = append(b, `,"logprobs":null,"finish_reason":`...)
	if last {
		b = append(b, `"`+a.finish()+`"`...)
	} else {
		b = append(b, "null"...)
	}
	if last || !a.query.chat {
		b = append(b, `,"stop_reason":null`...)
	}
	b = append(b, "}]"...)
	a.chunk = append(a.appendUsage(b, last), '}')
	return a.chunk
}

// field is the member for the next token in a chat.
func (a *reply) field() string {
	if a.out < a.lead.Tokens {
		return a.lead.Field
	}
	return "content"
}

func (a *reply) finish() string {
	if a.lead.Field == "tool_calls" && a.text.Stops() {
		return "tool_calls"
	}
	return reason(a.text)
}

// appendDelta adds the words of a chunk as that member, which the answer may begin with.
func (a *reply) appendDelta(b []byte, field string, first bool) []byte {
	if field != "tool_calls" {
		b = append(b, `{"`+field+`":`...)
		return append(appendString(b, a.words), '}')
	}
	b = append(b, `{"tool_calls":[{`...)
	if first {
		b = append(b, `"id":`...)
		b = appendString(b, a.callID)
		b = append(b, `,"type":"function","index":0,"function":{"name":`...)
		b = appendString(b, a.query.tool)
		b = append(b, `,"arguments":`...)
	} else {
		b = append(b, `"index":0,"function":{"arguments":`...)
	}
	quoted := appendString(nil, a.words)
	part := quoted[1 : len(quoted)-1]
	if first {
		part = append([]byte(callBegins), quoted[:len(quoted)-1]...)
	}
	if a.text.Left() == 0 || a.out >= a.lead.Tokens {
		part = append(part, '"')
		part = append(part, callEnds...)
	}
	return append(appendString(b, part), "}}]}"...)
}

// appendUsage adds the usage of a chunk with choices: unless asked for more, vLLM writes null on
// completions and nothing on chats.
func (a *reply) appendUsage(b []byte, last bool) []byte {
	switch {
	case last && a.faults.Has("usage-in-finish"):
		return a.appendCounts(b, true)
	case a.faults.Has("usage-zero"):
		return append(b, `,"usage":{"prompt_tokens":0,"total_tokens":0,"completion_tokens":0}`...)
	case a.faults.Has("usage-null"):
		return append(b, `,"usage":null`...)
	case a.query.usageAlways:
		return a.appendCounts(b, false)
	case !a.query.chat:
		return append(b, `,"usage":null`...)
	}
	return b
}

// appendCounts adds the usage so far. Like vLLM's, only the last one has details, and only if
// tokens were found.
func (a *reply) appendCounts(b []byte, last bool) []byte {
	b = append(b, `,"usage":{"prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(len(a.query.prompt)), 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, int64(len(a.query.prompt)+a.out), 10)
	b = append(b, `,"completion_tokens":`...)
	b = strconv.AppendInt(b, int64(a.out), 10)
	if last && a.details && a.found > 0 {
		b = append(b, `,"prompt_tokens_details":{"cached_tokens":`...)
		b = append(strconv.AppendInt(b, int64(a.found), 10), '}')
	}
	return append(b, '}')
}

// usage is the chunk without choices that ends a stream, with the engine's times unless they are nil.
func (a *reply) usage(t *timings) []byte {
	b := append(a.chunk[:0], a.head...)
	b = append(b, ']')
	b = a.appendCounts(b, true)
	if t != nil {
		b = append(append(b, `,"metrics":`...), mustJSON(t)...)
	}
	a.chunk = append(b, '}')
	return a.chunk
}

// requestID is the request's id, or a generated one.
func requestID(r *http.Request) string {
	if id := r.Header.Get("X-Request-Id"); id != "" {
		return id
	}
	return fmt.Sprintf("%016x", rand.Uint64())
}

// appendString adds text as a JSON string. Most words need no escapes.
func appendString[T string | []byte](b []byte, text T) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, err := json.Marshal(string(text))
			if err != nil {
				panic(err)
			}
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, text...)
	return append(b, '"')
}
