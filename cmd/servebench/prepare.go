package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/metrics"
)

// prepare finds the model, the tokenizer and the dataset, and sends nothing that
// counts.
func (b *bench) prepare(ctx context.Context) error {
	sized, err := b.sized()
	if err != nil {
		return err
	}
	b.options = sized
	b.config = b.options.config()
	if err := b.connect(); err != nil {
		return err
	}
	if err := b.findModel(ctx); err != nil {
		return err
	}
	if err := b.unlessStopped(ctx, b.openWorkload); err != nil {
		return err
	}
	b.aim()
	if err := b.unlessStopped(ctx, b.align); err != nil {
		return err
	}
	if b.Sampling.Temperature == nil {
		b.print(15, 0, temperatureWarning)
	}
	return b.transport.CheckSockets(b.atOnce())
}

func (b *bench) openWorkload(ctx context.Context) (err error) {
	from := tokenizerSource{b.config.Model, b.served, b.server, b.say}
	if b.workload, err = openWorkload(ctx, b.options, from); err != nil {
		return err
	}
	if b.n < b.Shard.Of {
		return fmt.Errorf("argument --num-prompts: there are %s for %d shards: each needs one", count(b.n, "prompt"), b.Shard.Of)
	}
	b.config.Tokenizer = b.tokenizerName
	if b.Traffic.WarmUp > 0 {
		from.say = func(string, ...any) {} // it is the workload's dataset, of which all is said
		b.warmUp.source = b.again(b.options, from, b.Workload.Seed+warmUpSeeds)
	}
	return nil
}

// unlessStopped does a part of the preparation that may be long and looks at no
// context, such as counting the tokens of a dataset. Stopped, it is left to end
// with the program.
func (b *bench) unlessStopped(ctx context.Context, prepare func(context.Context) error) error {
	done := make(chan error, 1)
	go func() { done <- prepare(ctx) }()
	slow := time.NewTimer(2 * time.Second)
	defer slow.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-slow.C:
			b.say("preparing the %s dataset...", b.Workload.Dataset)
		}
	}
}

// temperatureWarning is vLLM's, since it no longer asks for greedy decoding.
const temperatureWarning = "WARNING: vllm bench serve no longer sets temperature==0 (greedy) in requests by default. " +
	"The default will be determined on the server side and can be model/API specific. " +
	"For the old behavior, include --temperature=0."

// connect makes what requests are sent with. No connection is opened.
func (b *bench) connect() error {
	credentials, err := b.Server.TLS.Load()
	if err != nil {
		return err
	}
	b.tally = new(loadgen.Tally)
	header := loadgen.Headers(b.Server.APIKey, b.Server.Headers)
	b.transport = b.opens(b.concurrency(), b.tally, credentials)
	b.server = &loadgen.Server{URL: b.Server.BaseURL, Query: b.Server.Query, Header: header, Transport: b.transport, Limit: b.patience}
	b.target.Send = b.sends(header, b.transport, b.tally)
	if b.probing() {
		alone := new(loadgen.Tally) // so that what the load did stays apart
		b.sendProbe = b.sends(header, b.opens(1, alone, credentials), alone)
	}
	return nil
}

// opens makes what opens up to limit connections; 0 is no limit.
func (b *bench) opens(limit int, tally *loadgen.Tally, credentials loadgen.Credentials) *loadgen.Transport {
	return loadgen.Connections{
		Limit: limit, Timeout: b.Limits.Connect, Insecure: b.Server.Insecure, TLS: credentials,
		HTTP2: b.Server.HTTP2, Socket: b.Server.Socket, Tally: tally,
	}.Transport()
}

// sends makes what sends to the endpoint.
func (b *bench) sends(header http.Header, over *loadgen.Transport, tally *loadgen.Tally) engine.Sender {
	return (&loadgen.OpenAI{
		URL: b.Server.url(), Header: header, Transport: over,
		Chat: b.Server.Backend == "openai-chat", Tally: tally,
		Timeouts: loadgen.Timeouts{
			FirstByte: b.Limits.FirstByte, Stall: b.Limits.Stall, Total: b.Limits.Total,
		},
	}).Send
}

// findModel finds out whether the server is there, and which model to ask it for.
// One that --model names is taken at its word, as vLLM's client does: the call is
// then one that the client makes, too. With a ready check the server may take its
// time to come up.
func (b *bench) findModel(ctx context.Context) error {
	if b.Server.Model != "" {
		b.served = cmp.Or(b.Server.ServedName, b.Server.Model)
		err := b.reach(ctx, func() error {
			if _, err := b.server.Metrics(ctx); isDown(err) {
				return err
			}
			return nil // what it says of /metrics means nothing for requests
		})
		if err != nil {
			return exitError{b.advised(err), exitNo}
		}
		return ctx.Err()
	}
	fmt.Fprintln(b.out, "Model not specified, fetching first model from server...")
	var models []loadgen.Model
	err := b.reach(ctx, func() (err error) { models, err = b.server.Models(ctx); return err })
	switch {
	case isDown(err):
		return exitError{b.advised(err), exitNo}
	case err != nil:
		return exitError{fmt.Errorf("no --model was given and the server does not say which it has: %w", b.advised(err)), exitNo}
	case len(models) == 0:
		return exitError{fmt.Errorf("no --model was given and %s/v1/models lists none", b.Server.BaseURL), exitNo}
	}
	first := models[0]
	b.config.Model = cmp.Or(first.Root, first.ID)
	b.served = cmp.Or(b.Server.ServedName, first.ID)
	fmt.Fprintf(b.out, "First model name: %s, first model id: %s\n", first.ID, b.config.Model)
	return nil
}

// reach makes a call, with a ready check again and again until the server is up.
func (b *bench) reach(ctx context.Context, call func() error) error {
	err := call()
	for until := time.Now().Add(b.Traffic.ReadyCheck); isComing(err) && time.Now().Before(until); {
		if engine.Sleep(ctx, time.Now().Add(time.Second)) != nil {
			return ctx.Err()
		}
		err = call()
	}
	return err
}

// isDown says whether err means that there is no server, or none to be trusted.
// Behind a container's or a proxy's port one that is not up yet takes connections
// and drops them.
func isDown(err error) bool {
	return failed(err, metrics.DNS, metrics.Refused, metrics.TLS, metrics.Connect, metrics.ConnectTimeout,
		metrics.Timeout, metrics.Reset, metrics.Truncated)
}

// isComing says whether err is that of a server which may be there in a while. A proxy
// before it, or the server itself while it loads its model, says so with a status.
func isComing(err error) bool {
	f, ok := errors.AsType[*metrics.Failure](err)
	switch {
	case !ok:
		return false
	case f.Class == metrics.Status:
		return f.Status == http.StatusBadGateway || f.Status == http.StatusServiceUnavailable || f.Status == http.StatusGatewayTimeout
	}
	return isDown(err) && f.Class != metrics.TLS
}

// failed says whether err is a failure of one of the classes.
func failed(err error, classes ...metrics.Class) bool {
	f, ok := errors.AsType[*metrics.Failure](err)
	return ok && slices.Contains(classes, f.Class)
}

// unlisted says that the server does not list the model, if it does not: that may be
// why it refuses requests. It is asked only after it did, since some servers list
// other names than those they answer to.
func (b *bench) unlisted(ctx context.Context) string {
	models, err := b.server.Models(ctx)
	if err != nil || len(models) == 0 || slices.ContainsFunc(models, func(m loadgen.Model) bool { return m.ID == b.served }) {
		return ""
	}
	return fmt.Sprintf(" (%s lists %s, not %s)", b.Server.BaseURL, someOf(models), b.served)
}

// someOf names models, of many the first few.
func someOf(models []loadgen.Model) string {
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

// body makes the bodies of requests to a model.
func (o *options) body(model string) loadgen.Body {
	return loadgen.Body{
		Model: model, Chat: o.Server.Backend == "openai-chat",
		IgnoreEOS: o.Sampling.IgnoreEOS, Logprobs: o.Sampling.Logprobs, Extra: o.Sampling.ExtraBody,
		UsageAlways: o.Sampling.UsageAlways, PlainText: o.Sampling.PlainText, Drop: o.Sampling.Drop,
	}
}

// aim makes the target's bodies and its way to count tokens.
func (b *bench) aim() {
	body := b.body(b.served)
	b.target.Encode = func(c *dataset.Conversation, turn int) (*engine.Request, error) {
		text, err := body.Encode(&c.Turns[turn])
		return &engine.Request{ID: c.ID, Body: text, KeepText: b.Results.SaveDetailed}, err
	}
	if b.workload != nil && b.tokenizer != nil {
		t := b.tokenizer
		b.target.Count = func(text string) int { return t.Count(text, false) }
		b.target.CountAsks = b.remote != nil
	}
}

// say is where the dataset's remarks go.
func (b *bench) say(format string, args ...any) { fmt.Fprintf(b.talk, format+"\n", args...) }

func newRunID() string { return randomHex(8) }

// randomHex is n random bytes in hexadecimal.
func randomHex(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return hex.EncodeToString(b)
}
