package loadgen

import (
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/replay"
	"github.com/servebench/servebench/loadgen/api"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/naming"
	"github.com/servebench/servebench/loadgen/workload"
	"github.com/servebench/servebench/metrics/record"
)

// A bodyEncoder makes the bodies of requests to a model or an adapter.
type bodyEncoder struct {
	body   request.Body
	encode request.Encoder
}

// newBodyEncoder is the encoder for the model or the adapter of that name.
func newBodyEncoder(p *Plan, name string) *bodyEncoder {
	body := p.Sampling.Body(&p.Server, &p.Workload, name)
	return &bodyEncoder{body, p.Server.API().Encoder(body)}
}

// An encoder makes the requests of a target.
type encoder struct {
	plan     *Plan
	api      *api.API
	model    *bodyEncoder
	adapters sync.Map // a *bodyEncoder by the name of each adapter
	counts   bool     // answers are counted with a tokenizer
}

// engineTarget is the server as the engine sends to it.
func engineTarget(p *Plan, server *contact, w *workload.Opened) engine.Target {
	e := &encoder{plan: p, api: p.Server.API(), model: newBodyEncoder(p, server.served)}
	e.counts = w.Tokenizer != nil && !e.api.Pooling
	to := engine.Target{Name: p.Target, Pooling: e.api.Pooling, Send: server.send, Encode: e.encode}
	if p.Workload.Live() {
		to.Answer = e.answer
	}
	if e.counts {
		to.Count = func(text string) int { return w.Tokenizer.Count(text, false) }
		to.CountAsks = w.Remote != nil
	}
	return to
}

// body is the encoder for the model, or for an adapter.
func (e *encoder) body(adapter string) *bodyEncoder {
	if adapter == "" {
		return e.model
	}
	known, ok := e.adapters.Load(adapter)
	if !ok {
		known, _ = e.adapters.LoadOrStore(adapter, newBodyEncoder(e.plan, adapter))
	}
	return known.(*bodyEncoder)
}

// encode makes the request of a turn. said has the answers to earlier turns.
func (e *encoder) encode(c *dataset.Conversation, turn int, said []json.RawMessage) (*engine.Request, error) {
	keep, to := &e.plan.Keep, e.body(c.Adapter)
	req := &engine.Request{ID: c.ID, Adapter: c.Adapter, KeepText: keep.Texts, NoText: !keep.Texts && !e.counts}
	asked, before := &c.Turns[turn], json.RawMessage(nil)
	if len(c.Turns) > 1 || c.Mint != nil {
		var err error
		if asked, before, err = e.ofSession(req, c, turn, said); err != nil {
			return nil, err
		}
	}
	var err error
	if before != nil {
		req.Body, err = e.api.After(&to.body, asked, before)
	} else {
		req.Body, err = to.encode(asked, req.ID)
	}
	if err != nil {
		return nil, fmt.Errorf("dataset %s: %w", e.plan.Workload.Dataset, e.plan.Program.SpellError(err))
	}
	req.Payload = carried(asked, len(req.Body), e.api.Inputs(asked))
	if keep.Detail == Prompts {
		req.Asked, err = replay.AskedLine(c, turn, asked)
	}
	return req, err
}

// ofSession marks the request of a session's turn, and returns what the turn asks: with its history, or, if the
// server stores answers, only what it adds to the answer before.
func (e *encoder) ofSession(req *engine.Request, c *dataset.Conversation, turn int, said []json.RawMessage) (
	asked *dataset.Turn, before json.RawMessage, err error) {
	var whole dataset.Turn
	if e.model.body.Store {
		whole, before, err = c.Added(turn, said)
	} else {
		whole, err = c.Prompted(turn, said)
	}
	if err != nil {
		return nil, nil, err
	}
	req.Session = c.ID
	if req.KeepAnswer = e.plan.Workload.Live() && c.Remembers(); req.KeepAnswer && e.api.Pooling {
		return nil, nil, fmt.Errorf("dataset %s: its prompts go on from the answers, and the answers of %s %s are numbers",
			e.plan.Workload.Dataset, e.plan.Program.Spell(naming.Backend), e.api.Name)
	}
	if turn > 0 && c.ID != "" {
		req.ID += "-t" + strconv.Itoa(turn)
	}
	return &whole, before, nil
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
func (e *encoder) answer(rec *record.Record) json.RawMessage {
	message := exchange.Answer(rec)
	rec.Answer.Calls, rec.Answer.Reasoning, rec.Answer.Reply = nil, "", ""
	if !e.plan.Keep.Texts {
		rec.Answer.Text = ""
	}
	return message
}
