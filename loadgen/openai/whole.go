package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"time"

	"github.com/servebench/servebench/loadgen/api/scan"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics/record"
)

// A wireAnswer is the JSON of an answer that is not streamed: of completions and chats with Choices,
// of the Responses API with Output, of the Messages API with Content, of a transcription with Text.
type wireAnswer struct {
	ID         string                    `json:"id"`
	Status     string                    `json:"status"`
	Incomplete struct{ Reason string }   `json:"incomplete_details"`
	Text       json.RawMessage           `json:"text"`
	Choices    scan.Few[wireWhole]       `json:"choices"`
	Output     scan.Few[json.RawMessage] `json:"output"`
	Content    scan.Few[json.RawMessage] `json:"content"`
	StopReason finishReason              `json:"stop_reason"`
	Usage      json.RawMessage           `json:"usage"`
	Metrics    json.RawMessage           `json:"metrics"`
}

// A wireWhole is a choice of an answer that is not streamed.
type wireWhole struct {
	Text         json.RawMessage `json:"text"`
	Message      wireDelta       `json:"message"`
	FinishReason finishReason    `json:"finish_reason"`
}

// A wireItem is an item of the output of the Responses API.
type wireItem struct {
	Type    string          `json:"type"`
	Content json.RawMessage `json:"content"`
}

// readWhole sends req and reads an answer that is not streamed.
func (o *Endpoint) readWhole(ctx context.Context, epoch time.Time, req *engine.Request, rec *record.Record) error {
	return o.Whole(ctx, epoch, req, rec, func(header http.Header, body []byte) error {
		if kind, _, _ := mime.ParseMediaType(header.Get("Content-Type")); kind == "text/event-stream" {
			return record.Failf(record.Malformed, "the server streams the answer, although the request asks for one that "+
				"is not streamed")
		}
		return o.answered(req, rec, body)
	})
}

// answered records what an answer that is not streamed has.
func (o *Endpoint) answered(req *engine.Request, rec *record.Record, body []byte) error {
	var a wireAnswer
	var odd *json.UnmarshalTypeError
	if err := json.Unmarshal(body, &a); err != nil && !errors.As(err, &odd) {
		return record.Failf(record.Malformed, "the answer is not JSON: %q", record.Shorten(string(body)))
	}
	p, kept := &piece{api: o.protocol()}, &answerParts{reasoning: o.Reasoning}
	p.api.whole(p, &a, kept)
	rec.Server = serverTimes(a.Metrics)
	p.usage.into(&rec.Tokens.In, &rec.Tokens.Out)
	rec.Tokens.Cached, rec.Tokens.Uncached = p.usage.cached, p.usage.hasCached && p.usage.cached == 0
	rec.Tokens.OutReasoned = p.usage.reasoned
	rec.Answer.Finish = record.Clip(string(p.finish), maxFinish)
	if p.content {
		rec.Times.FirstContent = rec.Times.Last
	}
	if req.KeepText || req.KeepAnswer || !req.NoText && rec.Tokens.Out == 0 {
		rec.Answer.Text = string(p.text)
	}
	if req.KeepAnswer {
		kept.add(p)
		kept.into(rec)
		rec.Answer.Reply = p.reply
	}
	switch said := errorOf(body); {
	case p.choices && unfinished(rec.Answer.Finish):
		return record.Failf(record.Unfinished, "the server did not finish the answer: its finish reason is %s",
			rec.Answer.Finish)
	case p.choices:
		return nil
	case said != nil:
		return failed(record.InStream, said.Message, said)
	case p.failed:
		return record.Failf(record.InStream, "the server failed the answer: its status is %s", a.Status)
	}
	return record.Failf(record.Empty, "the answer has no output: %q", record.Shorten(string(body)))
}

// completion reads an answer of completions or of a chat.
func (p *piece) completion(a *wireAnswer, _ *answerParts) {
	p.usage = usageOf(a.Usage)
	if len(a.Choices) == 0 {
		return
	}
	first := &a.Choices[0]
	p.choice(&first.Message, scan.Truthy(first.Text))
	p.choices, p.finish = true, []byte(first.FinishReason)
	p.text = []byte(cmp.Or(asText(first.Text), asText(first.Message.Content)))
	p.thought = []byte(cmp.Or(asText(first.Message.Reasoning), asText(first.Message.ReasoningContent)))
}

// response reads an answer of the Responses API, and its calls into kept.
func (p *piece) response(a *wireAnswer, kept *answerParts) {
	p.usage, p.reply = responseUsage(a.Usage), a.ID
	p.finish = []byte(cmp.Or(a.Incomplete.Reason, a.Status))
	p.choices = a.Status == "completed" || a.Status == "incomplete"
	p.failed = !p.choices && a.Status != ""
	for _, raw := range a.Output {
		var item wireItem
		_ = json.Unmarshal(raw, &item) // what is no item has no type
		switch text := asText(item.Content); item.Type {
		case "message":
			p.text = append(p.text, text...)
		case "reasoning":
			p.thought = append(p.thought, text...)
		case "function_call":
			kept.add(&piece{calls: raw})
		}
	}
	p.content = len(p.text)+len(p.thought) > 0 || kept.parts != nil
}
