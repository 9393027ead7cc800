package loadgen

import (
	"net/http"

	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/loadgen/wire"
)

// A connection is everything that sends requests to a server. Its owner closes it.
type connection struct {
	transport *wire.Transport
	names     *wire.Names    // of all transports
	tally     *wire.Tally    // counts what goes through transport
	calls     *openai.Server // the server, for small calls
	send      engine.Sender
	sendProbe engine.Sender // over a separate connection; nil without probes
	others    []*wire.Transport
}

// connect prepares to send the plan's requests. It opens no connection.
func connect(p *Plan) (*connection, error) {
	credentials, err := p.Server.Transport.TLS.Load()
	if err != nil {
		return nil, err
	}
	header := exchange.Headers(p.Server.APIKey, p.Server.Headers)
	c := &connection{tally: new(wire.Tally), names: new(wire.Names)}
	c.transport = c.dial(p, p.Shard.ShareOf(p.Traffic.MaxConcurrency), c.tally, credentials)
	c.calls = &openai.Server{
		URL: p.Server.BaseURL, Query: p.Server.Query, Header: header, Transport: c.transport, Limit: p.Limits.Call,
	}
	c.send = sender(p, header, c.transport, c.tally)
	if p.Traffic.Probes(&p.Shard) {
		alone := new(wire.Tally) // keeps the load's counts separate
		transport := c.dial(p, 1, alone, credentials)
		c.others = append(c.others, transport)
		c.sendProbe = sender(p, header, transport, alone)
	}
	return c, nil
}

// close closes the connections that are still open.
func (c *connection) close() {
	for _, transport := range append(c.others, c.transport) {
		transport.CloseIdleConnections()
	}
	c.names.Close()
}

// apart is a transport that the load does not use.
func (c *connection) apart() *wire.Transport {
	transport := c.transport.Apart()
	c.others = append(c.others, transport)
	return transport
}

// dial is a transport that opens up to limit connections; 0 is no limit.
func (c *connection) dial(p *Plan, limit int, tally *wire.Tally, credentials wire.Credentials) *wire.Transport {
	s, by := &p.Server, &p.Server.Transport
	return wire.Connections{
		Limit: limit, Timeout: p.Limits.Connect, Insecure: by.Insecure, TLS: credentials, Names: c.names,
		HTTP2: by.HTTP2, NetHTTP: by.NetHTTP, Socket: s.Socket, Dial: s.Dial, Tally: tally,
	}.Transport()
}

// sender sends the plan's requests.
func sender(p *Plan, header http.Header, over *wire.Transport, tally *wire.Tally) engine.Sender {
	return p.Server.API().Sender(&exchange.Endpoint{
		URL: p.Server.URL(), Header: header, OneJSON: p.Whole(), Transport: over, Tally: tally,
		SessionHeader: p.Server.SessionHeader, Traced: p.Server.Trace, Reasoning: p.Workload.Sessions.Reasoning,
		Timeouts: wire.Timeouts{FirstByte: p.Limits.FirstByte, Stall: p.Limits.Stall, Total: p.Limits.Total},
	})
}
