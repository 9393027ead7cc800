package metrics

import (
	"time"
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

func (c Connecting) plus(other Connecting) Connecting {
	return Connecting{
		Requests: c.Requests + other.Requests, Of: c.Of + other.Of,
		DNS: c.DNS + other.DNS, Connect: c.Connect + other.Connect, Proxy: c.Proxy + other.Proxy, TLS: c.TLS + other.TLS,
	}
}

// Mean is the mean time of connecting, over the requests that connected.
func (c Connecting) Mean() time.Duration { return share(c.DNS+c.Connect+c.Proxy+c.TLS, c.Requests) }
