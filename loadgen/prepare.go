package loadgen

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/backend"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics"
)

// prepare finds the model, the tokenizer and the dataset. It sends nothing that counts.
func (t *target) prepare(ctx context.Context) error {
	sized, err := t.Sized()
	if err != nil {
		return err
	}
	t.Plan = sized
	t.config = t.Config()
	if err := t.connect(); err != nil {
		return err
	}
	if err := t.findModel(ctx); err != nil {
		return err
	}
	if err := t.findAdapters(ctx); err != nil {
		return err
	}
	if err := t.unlessStopped(ctx, t.openWorkload); err != nil {
		return err
	}
	if t.Server.Handler == nil {
		if err := t.transport.CheckSockets(t.atOnce()); err != nil {
			return err // before what may take long
		}
	}
	t.aim()
	if err := t.unlessStopped(ctx, t.align); err != nil {
		return err
	}
	t.step(Step{Kind: Prepared})
	return nil
}

func (t *target) openWorkload(ctx context.Context) error {
	from := tokenizerSource{t.config.Model, t.served, t.server, t.say}
	w, err := openWorkload(ctx, t.Plan, from)
	if err != nil {
		return err
	}
	t.take(w)
	if t.n < t.Shard.Of {
		return fmt.Errorf("argument --num-prompts: there are %s for %d shards: each needs one", count(t.n, t.Workload.noun()), t.Shard.Of)
	}
	t.config.Tokenizer = t.tokenizerName
	if err := t.fitting(); err != nil {
		return err
	}
	t.openWarmUp(from)
	return nil
}

// fitting looks for a turn of a file that the API cannot take. Prompts that are made are alike, so the
// first of them, which is encoded before the load, speaks for all.
func (t *target) fitting() error {
	api := t.Server.backend()
	if !api.Picky() || t.Workload.Source != nil || t.Workload.Has(Fileless) || t.Endless() {
		return nil
	}
	seen := 0
	for c, err := range t.source {
		if err != nil {
			return fmt.Errorf("dataset %s: %w", t.Workload.Dataset, err)
		}
		for i := range c.Turns {
			if err := api.Fits(&c.Turns[i]); err != nil {
				return fmt.Errorf("dataset %s: %s %d: %w", t.Workload.Dataset, t.Workload.noun(), seen+1, err)
			}
		}
		seen++
	}
	return nil
}

// take takes the plan of an opened workload.
func (t *target) take(w *workload) {
	t.workload = w
	if w.plan != t.Plan {
		model := t.config.Model
		t.Plan = w.plan
		t.config = t.Config()
		t.config.Model = model
	}
}

// unlessStopped runs a part of the preparation that may be long and cannot be canceled, such as
// counting the tokens of a dataset. If ctx ends, it returns; the goroutine ends later and its
// result is dropped.
func (t *target) unlessStopped(ctx context.Context, prepare func(context.Context) error) error {
	gate := &gate{Observer: t.observer}
	t.observer = gate
	done := make(chan error, 1)
	go func() { done <- prepare(ctx) }()
	slow := time.NewTimer(2 * time.Second)
	defer slow.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			gate.shut()
			return ctx.Err()
		case <-slow.C:
			t.say("preparing the %s dataset...", t.Workload.Dataset)
		}
	}
}

// A connection is everything that sends requests to a target.
type connection struct {
	transport *wire.Transport
	names     *wire.Names    // of all transports
	tally     *wire.Tally    // counts what goes through transport
	server    *openai.Server // for its small calls
	sendProbe engine.Sender  // over a separate connection; nil without probes
	beside    []*wire.Transport
}

// close closes the connections that are still open.
func (c *connection) close() {
	if c == nil {
		return
	}
	for _, transport := range append(c.beside, c.transport) {
		transport.CloseIdleConnections()
	}
	c.names.Close()
}

// connect prepares to send requests. It opens no connection.
func (t *target) connect() error {
	credentials, err := t.Server.TLS.Load()
	if err != nil {
		return err
	}
	header := openai.Headers(t.Server.APIKey, t.Server.Headers)
	t.connection = &connection{tally: new(wire.Tally), names: new(wire.Names)}
	t.transport = t.opens(t.concurrency(), t.tally, credentials)
	t.server = &openai.Server{
		URL: t.Server.BaseURL, Query: t.Server.Query, Header: header, Transport: t.transport, Limit: t.Limits.Call,
	}
	t.to.Send = t.sends(header, t.transport, t.tally)
	if t.probing() {
		alone := new(wire.Tally) // keeps the load's counts separate
		transport := t.opens(1, alone, credentials)
		t.beside = append(t.beside, transport)
		t.sendProbe = t.sends(header, transport, alone)
	}
	return nil
}

// opens returns a transport that opens up to limit connections; 0 is no limit.
func (t *target) opens(limit int, tally *wire.Tally, credentials wire.Credentials) *wire.Transport {
	return wire.Connections{
		Limit: limit, Timeout: t.Limits.Connect, Insecure: t.Server.Insecure, TLS: credentials, Names: t.names,
		HTTP2: t.Server.HTTP2, NetHTTP: t.Server.NetHTTP, Socket: t.Server.Socket, Dial: t.Server.Dial, Tally: tally,
	}.Transport()
}

// sends returns a sender for the endpoint.
func (p *Plan) sends(header http.Header, over *wire.Transport, tally *wire.Tally) engine.Sender {
	return p.Server.backend().Sender(&openai.Endpoint{
		URL: p.Server.URL(), Header: header, OneJSON: p.Whole(), Transport: over, Tally: tally,
		SessionHeader: p.Server.SessionHeader, Traced: p.Server.Trace, Reasoning: p.Workload.Sessions.Reasoning,
		Timeouts: wire.Timeouts{FirstByte: p.Limits.FirstByte, Stall: p.Limits.Stall, Total: p.Limits.Total},
	})
}

// findModel checks that the server answers, and finds the model's name. It does not check a name
// that --model gives; neither does vLLM's client, which makes the same call. With a ready check it
// waits until the server is up.
func (t *target) findModel(ctx context.Context) error {
	if t.Server.Model != "" {
		t.served = cmp.Or(t.Server.ServedName, t.Server.Model)
		err := t.reach(ctx, func() error {
			if _, err := t.server.Metrics(ctx); IsDown(err) {
				return err
			}
			return nil // an error of /metrics says nothing about requests
		})
		if err != nil {
			return &FailedError{&UnreachableError{t.Target, err}}
		}
		return ctx.Err()
	}
	t.step(Step{Kind: FindingModel})
	var models []openai.Model
	err := t.reach(ctx, func() (err error) { models, err = t.server.Models(ctx); return err })
	switch {
	case IsDown(err):
		return &FailedError{&UnreachableError{t.Target, err}}
	case err != nil:
		return &FailedError{fmt.Errorf("no --model was given and the server does not say which it has: %w", &UnreachableError{t.Target, err})}
	case len(models) == 0:
		return &FailedError{fmt.Errorf("no --model was given and %s/v1/models lists none", t.Server.BaseURL)}
	}
	first := models[0]
	t.config.Model = cmp.Or(first.Root, first.ID)
	t.served = cmp.Or(t.Server.ServedName, first.ID)
	t.step(Step{Kind: FoundModel, Model: t.config.Model, ID: first.ID})
	return nil
}

// reach makes a call. With a ready check it repeats the call until the server is up.
func (t *target) reach(ctx context.Context, call func() error) error {
	err := call()
	for until := time.Now().Add(t.Traffic.ReadyCheck); isComing(err) && time.Now().Before(until); {
		if engine.Sleep(ctx, time.Now().Add(time.Second)) != nil {
			return ctx.Err()
		}
		err = call()
	}
	return err
}

// IsDown reports whether err means that no server is there, or that it cannot be trusted. The port
// of a container or proxy accepts connections and drops them while the server behind it starts.
func IsDown(err error) bool {
	return failed(err, metrics.DNS, metrics.Refused, metrics.TLS, metrics.Connect, metrics.ConnectTimeout,
		metrics.Timeout, metrics.Reset, metrics.Truncated)
}

// isComing reports whether err comes from a server that may soon be up: a proxy, or a server that
// loads its model, says so with a status.
func isComing(err error) bool {
	f, ok := errors.AsType[*metrics.Failure](err)
	switch {
	case !ok:
		return false
	case f.Class == metrics.Status:
		return f.Status == http.StatusBadGateway || f.Status == http.StatusServiceUnavailable || f.Status == http.StatusGatewayTimeout
	}
	return IsDown(err) && f.Class != metrics.TLS
}

// failed reports whether err is a failure of one of the classes.
func failed(err error, classes ...metrics.Class) bool {
	f, ok := errors.AsType[*metrics.Failure](err)
	return ok && slices.Contains(classes, f.Class)
}

// unlisted says that the server does not list the model, if so: that may be why it refuses
// requests. It asks only after a refusal, since some servers answer to names that they do not list.
func (t *target) unlisted(ctx context.Context) string {
	models, err := t.server.Models(ctx)
	if err != nil || len(models) == 0 || slices.ContainsFunc(models, func(m openai.Model) bool { return m.ID == t.served }) {
		return ""
	}
	return fmt.Sprintf(" (%s lists %s, not %s)", t.Server.BaseURL, someOf(models), t.served)
}

// someOf names models, but only the first few of many.
func someOf(models []openai.Model) string {
	const most = 8
	var names []string
	for i, m := range models {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(models)-most))
			break
		}
		names = append(names, m.ID)
	}
	return strings.Join(names, ", ")
}

// body returns what makes the bodies of requests to a model.
func (p *Plan) body(model string) openai.Body {
	return openai.Body{
		Model: model, Chat: p.Server.chat(), Responses: p.Server.responses(), Store: p.Workload.Sessions.Answers == Stored,
		IgnoreEOS: p.Sampling.IgnoreEOS, Logprobs: p.Sampling.Logprobs, Extra: p.Sampling.ExtraBody,
		UsageAlways: p.Sampling.UsageAlways, PlainText: p.Sampling.PlainText, Drop: p.Sampling.Drop,
	}
}

// An asker makes the bodies of requests to a model or an adapter.
type asker struct {
	body   openai.Body
	encode backend.Encoder
}

// asker is the asker of the model or the adapter of that name.
func (p *Plan) asker(name string) *asker {
	body := p.body(name)
	return &asker{body, p.Server.backend().Encoder(body)}
}

// aim sets how the target makes bodies and counts tokens.
func (t *target) aim() {
	api := t.Server.backend()
	t.to.Pooling = api.Pooling
	model := t.asker(t.served)
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
				known, _ = adapters.LoadOrStore(c.Adapter, t.asker(c.Adapter))
			}
			to = known.(*asker)
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
				return nil, fmt.Errorf("dataset %s: its prompts go on from the answers, and the answers of --backend %s are numbers", t.Workload.Dataset, api.Name)
			}
			if turn > 0 && c.ID != "" {
				req.ID += "-t" + strconv.Itoa(turn)
			}
		}
		var err error
		if before != nil {
			req.Body, err = to.body.EncodeAfter(asked, before)
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
func carried(turn *dataset.Turn, size, inputs int) *metrics.Payload {
	if turn.Payload == nil && inputs == 0 {
		return nil
	}
	carried := &metrics.Payload{Bytes: size, Inputs: inputs}
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
func (t *target) answer(rec *metrics.Record) json.RawMessage {
	message := openai.Answer(rec)
	rec.Calls, rec.Reasoning, rec.Reply = nil, "", ""
	if !t.Keep.Texts {
		rec.Text = ""
	}
	return message
}

func newRunID() string { return randomHex(8) }

// randomHex returns n random bytes in hexadecimal.
func randomHex(n int) string {
	t := make([]byte, n)
	rand.Read(t)
	return hex.EncodeToString(t)
}
