// Package http1 speaks HTTP/1.1 over one connection, as a client.
//
// A Conn works in the goroutine of its caller: RoundTrip writes the request with one write and reads
// the header of the reply, and the reply's body reads straight into the buffer of its reader. So a
// request needs no other goroutine, and no event is copied from buffer to buffer. net/http has two
// goroutines and two buffers for each connection, because it does more: it is the better choice for
// proxies and HTTP/2, and the judge of this package in tests.
package http1
