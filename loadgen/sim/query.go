package sim

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/servebench/servebench/loadgen/sim/spans"
)

// defaultMaxTokens is the output length of a completion that does not set one.
const defaultMaxTokens = 16

// A query is a parsed request.
type query struct {
	number      int64     // see numbering.of
	received    time.Time // when its last byte had been read
	model       string    // as asked for
	chat        bool
	prompt      []int  // token ids, for a chat with the marks of its template
	tool        string // for a chat, the tool that it may call; empty for none
	maxTokens   int
	minTokens   int
	ignoreEOS   bool
	stream      bool
	usage       bool // a last chunk with usage is wanted
	usageAlways bool // and usage in every chunk
}

// body holds the fields that have an effect.
type body struct {
	Model               string          `json:"model"`
	Prompt              json.RawMessage `json:"prompt"`
	Messages            []message       `json:"messages"`
	Tools               json.RawMessage `json:"tools"`
	ToolChoice          json.RawMessage `json:"tool_choice"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	MinTokens           int             `json:"min_tokens"`
	IgnoreEOS           bool            `json:"ignore_eos"`
	Stream              bool            `json:"stream"`
	AddSpecialTokens    *bool           `json:"add_special_tokens"`
	StreamOptions       struct {
		IncludeUsage         bool `json:"include_usage"`
		ContinuousUsageStats bool `json:"continuous_usage_stats"`
	} `json:"stream_options"`
}

// unsimulated are the fields that would change the answer in a way that is not simulated, with the
// values that would not. Null never does. Fields that are neither here nor in body are accepted and
// have no effect: sampling cannot change a random text, and vLLM ignores unknown fields.
var unsimulated = []struct {
	field    string
	harmless []string
}{
	{"n", []string{"1"}},
	{"best_of", []string{"1"}},
	{"use_beam_search", []string{"false"}},
	{"echo", []string{"false"}},
	{"suffix", []string{`""`}},
	{"logprobs", []string{"false"}},
	{"top_logprobs", []string{"0"}},
	{"prompt_logprobs", nil},
	{"stop", []string{"[]", `""`}},
	{"stop_token_ids", []string{"[]"}},
	{"truncate_prompt_tokens", []string{"-1"}},
	{"return_token_ids", []string{"false"}},
	{"return_tokens_as_token_ids", []string{"false"}},
	{"prompt_embeds", nil},
	{"response_format", []string{`{"type":"text"}`}},
	{"structured_outputs", nil},
	{"guided_json", nil},
	{"guided_regex", nil},
	{"guided_choice", nil},
	{"guided_grammar", nil},
}

// A reader makes queries of requests, or says what is wrong with them.
type reader struct {
	cfg *Config
}

// understand reads the body of a generation request.
func (rd *reader) understand(r *http.Request, chat bool) (*query, *problem) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, badRequest("", "reading the body: %v", err)
	}
	received := cmp.Or(spans.Arrived(r.Context()), time.Now())
	var fields map[string]json.RawMessage
	var b body
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, badRequest("", "the body is not a JSON object: %v", err)
	}
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, badRequest("", "the body does not fit: %v", err)
	}
	for _, u := range unsimulated {
		var value bytes.Buffer
		if json.Compact(&value, fields[u.field]) != nil {
			continue
		}
		if v := value.String(); v != "null" && !slices.Contains(u.harmless, v) {
			return nil, badRequest(u.field, "`%s` is not simulated", u.field)
		}
	}
	if p := rd.checkModel(b.Model); p != nil {
		return nil, p
	}
	q := &query{
		received: received,
		model:    cmp.Or(b.Model, rd.cfg.ServedModelName), chat: chat, stream: b.Stream, ignoreEOS: b.IgnoreEOS,
		minTokens: b.MinTokens,
		usage:     b.StreamOptions.IncludeUsage, usageAlways: b.StreamOptions.ContinuousUsageStats,
	}
	var p *problem
	if chat {
		p = rd.readChat(q, &b)
	} else {
		p = rd.readPrompt(q, b.Prompt, b.AddSpecialTokens == nil || *b.AddSpecialTokens)
	}
	if p != nil {
		return nil, p
	}
	return q, rd.limit(q, &b)
}

// checkModel refuses an unknown model. Like vLLM, it takes a missing model for the served one.
func (rd *reader) checkModel(name string) *problem {
	if name == "" || name == rd.cfg.ServedModelName || slices.Contains(rd.cfg.Adapters, name) {
		return nil
	}
	p := newProblem(http.StatusNotFound, "The model `"+name+"` does not exist.")
	param := "model"
	p.Param = &param
	return p
}

// readPrompt reads a text, a list of token ids, or a list of one of these.
func (rd *reader) readPrompt(q *query, raw json.RawMessage, special bool) *problem {
	ids := len(raw) > 0 && raw[0] == '[' && isNumber(bytes.TrimLeft(raw[1:], " \t\r\n"))
	var list []json.RawMessage
	if !ids && json.Unmarshal(raw, &list) == nil && len(list) > 0 {
		if len(list) > 1 {
			return badRequest("prompt", "`prompt` holds %d prompts, and more than one is not simulated", len(list))
		}
		raw = list[0]
	}
	var text string
	switch {
	case !ids && json.Unmarshal(raw, &text) == nil && len(raw) > 0 && raw[0] == '"':
		q.prompt = rd.cfg.Tokenizer.Encode(text, special)
	case json.Unmarshal(raw, &q.prompt) == nil:
		if p := rd.checkIDs("prompt", q.prompt); p != nil {
			return p
		}
	default:
		return badRequest("prompt", "`prompt` must be a text or a list of token ids")
	}
	return nil
}

func (rd *reader) checkIDs(field string, ids []int) *problem {
	special := rd.cfg.Tokenizer.SpecialIDs()
	for _, id := range ids {
		if (id < 0 || id >= rd.cfg.Tokenizer.VocabSize()) && !slices.Contains(special, id) {
			return badRequest(field, "Token id %d is out of vocabulary", id)
		}
	}
	return nil
}

func isNumber(raw json.RawMessage) bool {
	return len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// limit sets how many tokens the answer may have, within the model's length.
func (rd *reader) limit(q *query, b *body) *problem {
	room := rd.cfg.Limits.ModelLen - len(q.prompt)
	if len(q.prompt) == 0 {
		return badRequest("prompt", "the prompt must hold a token")
	}
	field, asked := "max_tokens", b.MaxTokens
	if q.chat && b.MaxCompletionTokens != nil {
		field, asked = "max_completion_tokens", b.MaxCompletionTokens
	}
	if room < 1 {
		out := 1 + room // a prompt that just fits lacks room for one
		if asked != nil {
			out = *asked
		}
		return rd.tooLong(max(out, 0))
	}
	switch {
	case asked != nil:
		q.maxTokens = *asked
	case q.chat:
		q.maxTokens = room
	default:
		q.maxTokens = min(defaultMaxTokens, room)
	}
	if q.maxTokens < 1 {
		return badRequest(field, "`%s` must be at least 1, got %d.", field, q.maxTokens)
	}
	if q.maxTokens > room {
		return rd.tooLong(q.maxTokens)
	}
	if q.minTokens < 0 || q.minTokens > q.maxTokens {
		return badRequest("min_tokens", "`min_tokens` must be from 0 to %d, got %d.", q.maxTokens, q.minTokens)
	}
	return nil
}

// tooLong refuses a prompt that leaves no room for that many output tokens, in vLLM's words. Like
// vLLM, it counts the prompt no further than needed.
func (rd *reader) tooLong(out int) *problem {
	limit := rd.cfg.Limits.ModelLen
	in := limit - min(out, limit) + 1
	return badRequest("input_tokens", "This model's maximum context length is %d tokens. However, you requested %d "+
		"output tokens and your prompt contains at least %d input tokens, for a total of at least %d tokens. Please "+
		"reduce the length of the input prompt or the number of requested output tokens. (parameter=input_tokens, value=%d)",
		limit, out, in, in+out, in)
}
