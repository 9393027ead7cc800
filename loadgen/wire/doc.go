// Package wire carries requests to a server and notes when the bytes of each answer
// reached this machine.
//
// Connections say how connections are made, and Transport is the http.RoundTripper
// that uses them. It is net/http above connections of our own, which read the kernel's
// stamp together with the bytes: scheduling, garbage collection and parsing then do not
// count as latency. A Body tells of the bytes that it gives when they came, as an
// Arrival.
//
// Three things accompany a request. A Trace notes what net/http does for it. A Watch
// holds it to its Timeouts. A Tally counts what a whole run did. What goes wrong becomes
// a metrics.Failure, in words that say what to look at.
package wire
