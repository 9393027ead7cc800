package loadgen

import (
	"net/http"

	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/loadgen/wire"
)

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
	header := exchange.Headers(t.Server.APIKey, t.Server.Headers)
	t.connection = &connection{tally: new(wire.Tally), names: new(wire.Names)}
	t.transport = t.newTransport(t.concurrency(), t.tally, credentials)
	t.server = &openai.Server{
		URL: t.Server.BaseURL, Query: t.Server.Query, Header: header, Transport: t.transport, Limit: t.Limits.Call,
	}
	t.to.Send = t.newSender(header, t.transport, t.tally)
	if t.probing() {
		alone := new(wire.Tally) // keeps the load's counts separate
		transport := t.newTransport(1, alone, credentials)
		t.beside = append(t.beside, transport)
		t.sendProbe = t.newSender(header, transport, alone)
	}
	return nil
}

// newTransport returns a transport that opens up to limit connections; 0 is no limit.
func (t *target) newTransport(limit int, tally *wire.Tally, credentials wire.Credentials) *wire.Transport {
	return wire.Connections{
		Limit: limit, Timeout: t.Limits.Connect, Insecure: t.Server.Insecure, TLS: credentials, Names: t.names,
		HTTP2: t.Server.HTTP2, NetHTTP: t.Server.NetHTTP, Socket: t.Server.Socket, Dial: t.Server.Dial, Tally: tally,
	}.Transport()
}

// newSender returns a sender for the endpoint.
func (p *Plan) newSender(header http.Header, over *wire.Transport, tally *wire.Tally) engine.Sender {
	return p.Server.API().Sender(&exchange.Endpoint{
		URL: p.Server.URL(), Header: header, OneJSON: p.Whole(), Transport: over, Tally: tally,
		SessionHeader: p.Server.SessionHeader, Traced: p.Server.Trace, Reasoning: p.Workload.Sessions.Reasoning,
		Timeouts: wire.Timeouts{FirstByte: p.Limits.FirstByte, Stall: p.Limits.Stall, Total: p.Limits.Total},
	})
}
