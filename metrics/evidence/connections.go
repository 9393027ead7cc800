package evidence

import (
	"cmp"
	"slices"
)

// Stamps are how the arrivals of chunks were stamped.
type Stamps struct {
	// Kernel are chunks whose arrival the kernel stamped, User those stamped after the read.
	Kernel int64 `json:"kernel,omitempty"`
	User   int64 `json:"user,omitempty"`
	// SharedReads are chunks with content that shared a read with an earlier chunk.
	SharedReads int64 `json:"shared_reads,omitempty"`
	// Disordered are packets that arrived before an earlier packet, which was lost or overtaken.
	Disordered int64 `json:"disordered,omitempty"`
}

func (s *Stamps) add(other *Stamps) {
	s.Kernel += other.Kernel
	s.User += other.User
	s.SharedReads += other.SharedReads
	s.Disordered += other.Disordered
}

// Connections are how requests travelled.
type Connections struct {
	// Opened are the connections opened during the run, Warmed those opened beforehand.
	Opened int64 `json:"opened,omitempty"`
	Warmed int64 `json:"warmed,omitempty"`
	// Closed are replies after which the server closed the connection.
	Closed int64 `json:"closed,omitempty"`
	// Packed are replies that came compressed.
	Packed int64 `json:"packed,omitempty"`
	// Dropped are connections that were not used again after an answer, because the server had
	// closed others without notice.
	Dropped int64 `json:"dropped,omitempty"`
	// Unprocessed is how often a server said over HTTP/2 that it did not process a request, which was
	// then sent again.
	Unprocessed int64 `json:"unprocessed,omitempty"`
	// Exhausted are connections that could not be opened for lack of descriptors or ports, and
	// Exhaustion is the first such error.
	Exhausted  int64  `json:"exhausted,omitempty"`
	Exhaustion string `json:"exhaustion,omitempty"`
	// Protocol is the protocol of the replies, such as HTTP/1.1.
	Protocol string `json:"protocol,omitempty"`
	// Transport says which code spoke HTTP: TransportOwn or TransportNet, or both with "and" between
	// them; empty if no connection was opened.
	Transport string `json:"transport,omitempty"`
	// Names are the names of servers and proxies that were looked up; nil if addresses were given.
	Names []Lookup `json:"names,omitempty"`
	// Cookies are the names of the cookies that the server set, and that requests returned.
	Cookies []string `json:"cookies,omitempty"`
	// Proxy is the host of the proxy, if requests go through one.
	Proxy string `json:"proxy,omitempty"`
	// Unverified says that nobody verified the server's TLS certificate.
	Unverified bool `json:"unverified,omitempty"`
}

// The values of Connections.Transport.
const (
	TransportOwn = "own"      // servebench's HTTP/1.1, in the goroutine of each stream
	TransportNet = "net/http" // Go's HTTP, for HTTP/2, for proxies, and with --transport net
)

func (c *Connections) add(other *Connections) {
	c.Opened += other.Opened
	c.Warmed += other.Warmed
	c.Closed += other.Closed
	c.Packed += other.Packed
	c.Dropped += other.Dropped
	c.Unprocessed += other.Unprocessed
	c.Exhausted += other.Exhausted
	c.Exhaustion = cmp.Or(c.Exhaustion, other.Exhaustion)
	c.Protocol = cmp.Or(c.Protocol, other.Protocol)
	c.Transport = bothTransports(c.Transport, other.Transport)
	c.Names = addLookups(c.Names, other.Names)
	c.Cookies = slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.Cookies, other.Cookies))))
	c.Proxy = cmp.Or(c.Proxy, other.Proxy)
	c.Unverified = c.Unverified || other.Unverified
}

// bothTransports is the Transport of two parts of a run.
func bothTransports(a, b string) string {
	switch {
	case a == "" || a == b:
		return b
	case b == "":
		return a
	}
	return TransportOwn + " and " + TransportNet
}
