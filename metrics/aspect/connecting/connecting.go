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
var Kind = &metrics.Kind{Name: "connecting", New: func(*metrics.Header) metrics.Aspect { return new(Connecting) }}

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
