// Package wire carries requests to a server and notes when the bytes of each answer reach this
// machine.
//
// Connections say how to open connections, and Transport is the http.RoundTripper that uses them.
// It puts net/http on our own connections, which read the kernel's stamp together with the bytes.
// So scheduling, garbage collection and parsing do not count as latency. A Body returns bytes, and
// an Arrival that says when they came.
//
// Three things accompany a request. A Trace notes what net/http does for it. A Watch enforces its
// Timeouts. A Tally counts for the whole run. Each error becomes a record.Failure that says what
// to look at.
package wire
