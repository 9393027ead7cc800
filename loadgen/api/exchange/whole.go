package exchange

import (
	"cmp"
	"context"
	"mime"
	"net/http"
	"time"

	"github.com/servebench/servebench/loadgen/api/refusal"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics/record"
)

// readWhole sends req and reads an answer that is not streamed.
func (o *Endpoint) readWhole(ctx context.Context, epoch time.Time, req *engine.Request, rec *record.Record) error {
	stream := cmp.Or(o.Protocol.Type, "text/event-stream")
	return o.Whole(ctx, epoch, req, rec, func(header http.Header, body []byte) error {
		if kind, _, _ := mime.ParseMediaType(header.Get("Content-Type")); kind == stream {
			return record.Failf(record.Malformed, "the server streams the answer, although the request asks for one that "+
				"is not streamed")
		}
		return o.answered(req, rec, body)
	})
}

// answered records what an answer that is not streamed has.
func (o *Endpoint) answered(req *engine.Request, rec *record.Record, body []byte) error {
	api, p, kept := o.Protocol, new(Piece), &Kept{reasoning: o.Reasoning}
	if err := api.Whole(body, p, kept); err != nil {
		return record.Failf(record.Malformed, "the answer is not JSON: %q", record.Shorten(string(body)))
	}
	rec.Server = p.Server
	p.Usage.into(&rec.Tokens.In, &rec.Tokens.Out)
	rec.Tokens.Cached, rec.Tokens.Uncached = p.Usage.Cached, p.Usage.HasCached && p.Usage.Cached == 0
	rec.Tokens.OutReasoned = p.Usage.Reasoned
	rec.Answer.Finish = record.Clip(string(p.Finish), maxFinish)
	if p.Content {
		rec.Times.FirstContent = rec.Times.Last
	}
	if req.KeepText || req.KeepAnswer || !req.NoText && rec.Tokens.Out == 0 {
		rec.Answer.Text = string(p.Text)
	}
	if req.KeepAnswer {
		kept.add(p)
		kept.into(rec, api)
		rec.Answer.Reply = p.Reply
	}
	switch said := refusal.Said(body); {
	case p.Chunk && unfinished(rec.Answer.Finish):
		return record.Failf(record.Unfinished, "the server did not finish the answer: its finish reason is %s",
			rec.Answer.Finish)
	case p.Chunk:
		return nil
	case said != nil:
		return refusal.Failed(record.InStream, said.Message, said)
	case p.Failed:
		return record.Failf(record.InStream, "the server failed the answer: its status is %s", p.Finish)
	}
	return record.Failf(record.Empty, "the answer has no output: %q", record.Shorten(string(body)))
}
