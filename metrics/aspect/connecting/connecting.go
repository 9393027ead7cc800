// Package connecting is how long the requests of a run took to connect.
//
// vLLM's client counts connecting as TTFT. A connection that was opened beforehand, or that an earlier request
// left open, costs a request nothing.
package connecting

import (
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
)

// Connecting says how many completed requests opened a connection within their TTFT, and how long
// its parts took.
type Connecting struct {
	Requests int // that did
	Of       int // all completed
	DNS      time.Duration
	Connect  time.Duration
	Proxy    time.Duration
	TLS      time.Duration
}

// Kind is the aspect as the list has it.
var Kind = &metrics.Kind{
	Name: "connecting", New: func(*metrics.Header) metrics.Aspect { return new(Connecting) }, Facts: facts, Text: text,
}

// facts are means over the requests that connected.
func facts(s *metrics.Summary) []metrics.Fact {
	c := Of(s)
	n := time.Duration(max(c.Requests, 1))
	return []metrics.Fact{
		{Key: "connected_requests", Value: c.Requests},
		{Key: "mean_connecting_ms", Value: metrics.Milliseconds(c.Mean())},
		{Key: "mean_dns_ms", Value: metrics.Milliseconds(c.DNS / n)},
		{Key: "mean_connect_ms", Value: metrics.Milliseconds(c.Connect / n)},
		{Key: "mean_proxy_ms", Value: metrics.Milliseconds(c.Proxy / n)},
		{Key: "mean_tls_ms", Value: metrics.Milliseconds(c.TLS / n)},
	}
}

const text = `Connecting (part of {{if .run.Header.Config.Whole}}E2EL{{else}}TTFT{{end}})
	{{with .aspect}}{{if .Requests}}{{.Requests}} of {{.Of}} requests:
	{{if .DNS}}DNS {{printf "%.2f" $.mean_dns_ms}} ms,{{end}}
	{{if .Connect}}TCP {{printf "%.2f" $.mean_connect_ms}} ms,{{end}}
	{{if .Proxy}}proxy {{printf "%.2f" $.mean_proxy_ms}} ms,{{end}}
	{{if .TLS}}TLS {{printf "%.2f" $.mean_tls_ms}} ms{{end}}{{end}}{{end}}`

// Of is the aspect of a run.
func Of(s *metrics.Summary) *Connecting { return metrics.View[Connecting](s) }

// Add adds a request.
func (c *Connecting) Add(r *record.Record) {
	if !r.Answered() {
		return
	}
	c.Of++
	if r.Conn.New {
		c.Requests++
		c.DNS += r.Conn.DNS
		c.Connect += r.Conn.Connect
		c.Proxy += r.Conn.Proxy
		c.TLS += r.Conn.TLS
	}
}

// Merge adds another shard's requests.
func (c *Connecting) Merge(o metrics.Aspect) {
	other := o.(*Connecting)
	c.Requests, c.Of = c.Requests+other.Requests, c.Of+other.Of
	c.DNS, c.Connect = c.DNS+other.DNS, c.Connect+other.Connect
	c.Proxy, c.TLS = c.Proxy+other.Proxy, c.TLS+other.TLS
}

// Mean is the mean time of connecting, over the requests that connected.
func (c *Connecting) Mean() time.Duration {
	return metrics.Share(c.DNS+c.Connect+c.Proxy+c.TLS, c.Requests)
}
