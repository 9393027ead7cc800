package metrics

import (
	"time"
)

// Connecting says how many completed requests opened a connection within their TTFT, and how long
// its parts took.
type Connecting struct {
	Requests int           `json:"requests"` // that did
	Of       int           `json:"of"`       // all completed
	DNS      time.Duration `json:"dns,omitempty"`
	Connect  time.Duration `json:"connect,omitempty"`
	Proxy    time.Duration `json:"proxy,omitempty"`
	TLS      time.Duration `json:"tls,omitempty"`
}

func (c Connecting) plus(other Connecting) Connecting {
	return Connecting{
		Requests: c.Requests + other.Requests, Of: c.Of + other.Of,
		DNS: c.DNS + other.DNS, Connect: c.Connect + other.Connect, Proxy: c.Proxy + other.Proxy, TLS: c.TLS + other.TLS,
	}
}

// Mean is the mean time of connecting, over the requests that connected.
func (c Connecting) Mean() time.Duration { return share(c.DNS+c.Connect+c.Proxy+c.TLS, c.Requests) }
