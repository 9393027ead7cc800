package loadgen

import (
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics/record"
)

// body returns what makes the bodies of requests to a model.
func (p *Plan) body(model string) request.Body {
	return request.Body{
		Model: model, Path: p.Server.Endpoint, Store: p.Workload.Sessions.Answers == Stored,
		IgnoreEOS: p.Sampling.IgnoreEOS, Logprobs: p.Sampling.Logprobs, Extra: p.Sampling.ExtraBody,
		UsageAlways: p.Sampling.UsageAlways, PlainText: p.Sampling.PlainText, Drop: p.Sampling.Drop,
	}
}

// A bodyEncoder makes the bodies of requests to a model or an adapter.
type bodyEncoder struct {
	body   request.Body
	encode request.Encoder
}

// bodyEncoder is the encoder for the model or the adapter of that name.
func (p *Plan) bodyEncoder(name string) *bodyEncoder {
	body := p.body(name)
	return &bodyEncoder{body, p.Server.API().Encoder(body)}
}

// setEncoder sets how the target makes bodies and counts tokens.
func (t *target) setEncoder() {
	api := t.Server.API()
	t.to.Pooling = api.Pooling
	model := t.bodyEncoder(t.served)
	var adapters sync.Map // of their askers, by their names
	counts := t.workload != nil && t.tokenizer != nil && !api.Pooling
	live := t.Workload.Live()
	if live {
		t.to.Answer = t.answer
	}
	t.to.Encode = func(c *dataset.Conversation, turn int, said []json.RawMessage) (*engine.Request, error) {
		to, asked, before := model, &c.Turns[turn], json.RawMessage(nil)
		if c.Adapter != "" {
			known, ok := adapters.Load(c.Adapter)
			if !ok {
				known, _ = adapters.LoadOrStore(c.Adapter, t.bodyEncoder(c.Adapter))
			}
			to = known.(*bodyEncoder)
		}
		req := &engine.Request{ID: c.ID, Adapter: c.Adapter, KeepText: t.Keep.Texts, NoText: !t.Keep.Texts && !counts}
		if len(c.Turns) > 1 || c.Mint != nil {
			var whole dataset.Turn
			var err error
			if to.body.Store {
				whole, before, err = c.Added(turn, said)
			} else {
				whole, err = c.Prompted(turn, said)
			}
			if err != nil {
				return nil, err
			}
			asked, req.Session = &whole, c.ID
			if req.KeepAnswer = live && c.Remembers(); req.KeepAnswer && api.Pooling {
				return nil, fmt.Errorf("dataset %s: its prompts go on from the answers, and the answers of --backend %s are "+
					"numbers", t.Workload.Dataset, api.Name)
			}
			if turn > 0 && c.ID != "" {
				req.ID += "-t" + strconv.Itoa(turn)
			}
		}
		var err error
		if before != nil {
			req.Body, err = api.After(&to.body, asked, before)
		} else {
			req.Body, err = to.encode(asked, req.ID)
		}
		if err != nil {
			return nil, fmt.Errorf("dataset %s: %w", t.Workload.Dataset, err)
		}
		req.Payload = carried(asked, len(req.Body), api.Inputs(asked))
		if t.Keep.Detail == Prompts {
			req.Asked, err = dataset.AskedLine(c, turn, asked)
		}
		return req, err
	}
	if counts {
		counter := t.tokenizer
		t.to.Count = func(text string) int { return counter.Count(text, false) }
		t.to.CountAsks = t.remote != nil
	}
}

// carried is what a request carries apart from one prompt of text; nil for nothing. size is its
// body's in bytes; inputs are the sequences for a pooling endpoint.
func carried(turn *dataset.Turn, size, inputs int) *record.Payload {
	if turn.Payload == nil && inputs == 0 {
		return nil
	}
	carried := &record.Payload{Bytes: size, Inputs: inputs}
	if turn.Payload == nil {
		return carried
	}
	for i := range turn.Payload.Media {
		switch m := &turn.Payload.Media[i]; m.Kind {
		case dataset.Image:
			carried.Images++
		case dataset.Video:
			carried.Videos++
		case dataset.Sound:
			carried.Audio += m.Seconds
		}
	}
	return carried
}

// answer is the answer of a record for later prompts.
func (t *target) answer(rec *record.Record) json.RawMessage {
	message := exchange.Answer(rec)
	rec.Answer.Calls, rec.Answer.Reasoning, rec.Answer.Reply = nil, "", ""
	if !t.Keep.Texts {
		rec.Answer.Text = ""
	}
	return message
}
