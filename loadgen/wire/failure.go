package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/servebench/servebench/metrics/record"
)

// Failure says why net/http returned err instead of a reply.
func (t *Trace) Failure(ctx context.Context, err error) *record.Failure {
	if f := record.Ended(ctx); f != nil {
		return f
	}
	if f, ok := errors.AsType[*record.Failure](err); ok {
		return f
	}
	sent, replied := t.reached()
	said := otherProtocol(err)
	switch {
	case said != "":
		return record.Failf(record.Malformed, "%s", said)
	case !sent:
		return t.unconnected(err)
	case isReset(err):
		return record.Failf(record.Reset, "the connection was reset before the reply: %w", err)
	case isAlert(err):
		said, _ := errors.AsType[*net.OpError](err) // net/http may put its own words in front
		return record.Failf(record.TLS, "%w", said)
	case replied && !isCut(err):
		return record.Failf(record.Malformed, "%w", err)
	}
	return record.Failf(record.Truncated, "the connection was cut before the reply: %w", err)
}

// otherProtocol says which protocol a server speaks if its first bytes are not of the expected one;
// "" if err is about something else. HTTP/2 begins with a frame whose length begins with a zero
// byte; TLS refuses with an alert.
func otherProtocol(err error) string {
	for sign, said := range map[string]string{
		"the frame header looked like an HTTP/1.1 header": "the server speaks HTTP/1.1, not HTTP/2",
		`malformed HTTP response "\x00`:                   "the server speaks only HTTP/2, not HTTP/1.1",
		`malformed HTTP response "\x15\x03`:               "the server speaks TLS: is its URL https:// instead of http://?",
	} {
		if strings.Contains(err.Error(), sign) {
			return said
		}
	}
	return ""
}

// unconnected says why there is no connection. It separates a proxy's errors from the server's.
func (t *Trace) unconnected(err error) *record.Failure {
	dial, _ := errors.AsType[*net.OpError](err)
	_, nameless := errors.AsType[*net.DNSError](err)
	switch {
	case dial != nil && dial.Op == "proxyconnect":
		return record.Failf(record.Connect, "%w", err)
	case nameless:
		return record.Failf(record.DNS, "%w", err)
	case isTimeout(err):
		return record.Failf(record.ConnectTimeout, "timed out: %w", err)
	case isAny(err, refusals):
		return record.Failf(record.Refused, "%w", err)
	case t.handshaking():
		return unsecured(err)
	}
	return record.Failf(record.Connect, "%w", err)
}

// unsecured says why a TLS handshake failed.
func unsecured(err error) *record.Failure {
	odd, _ := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case isReset(err):
		return record.Failf(record.Reset, "the connection was reset in the TLS handshake: %w", err)
	case string(odd.RecordHeader[:]) == "HTTP/":
		return record.Failf(record.TLS, "the server speaks no TLS, but plain HTTP: is its URL http:// instead of https://?")
	case odd.Msg != "":
		return record.Failf(record.TLS, "the server speaks no TLS: %w", err)
	case strings.HasSuffix(err.Error(), "tls: no application protocol"):
		return record.Failf(record.TLS, "the server speaks HTTP/1.1 over TLS, not HTTP/2")
	case isCut(err) && !isAlert(err):
		return record.Failf(record.TLS, "the server closed the connection in the TLS handshake: %w", err)
	}
	return record.Failf(record.TLS, "the TLS handshake failed: %w", err)
}

// CutOff says why reading an answer returned err before the end of the answer.
func CutOff(ctx context.Context, err error) *record.Failure {
	if f := record.Ended(ctx); f != nil {
		return f
	}
	switch {
	case isReset(err):
		return record.Failf(record.Reset, "the connection was reset in the middle of the answer: %w", err)
	case isCut(err):
		return record.Failf(record.Truncated, "the connection was cut in the middle of the answer: %w", err)
	}
	return record.Failf(record.Malformed, "the answer breaks the protocol: %w", err)
}

// What the kernel reports if nobody listens, and if the other side reset the connection. Windows
// has its own numbers.
var (
	refusals = []error{syscall.ECONNREFUSED, syscall.Errno(10061)}
	resets   = []error{syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED, syscall.Errno(10053), syscall.Errno(10054)}
)

func isAny(err error, of []error) bool {
	return slices.ContainsFunc(of, func(one error) bool { return errors.Is(err, one) })
}

// A streamError is a reset in HTTP/2: errors.As converts net/http's unexported error into any
// struct with the same fields.
type streamError struct {
	StreamID uint32
	Code     uint32
	Cause    error
}

func (e streamError) Error() string { return fmt.Sprintf("stream %d: code %d", e.StreamID, e.Code) }

// isReset reports whether the server reset a connection, or a stream of HTTP/2.
func isReset(err error) bool {
	stream, _ := errors.AsType[streamError](err)
	return stream.StreamID != 0 || isAny(err, resets)
}

// isAlert reports whether TLS raised an alert, on this side or the other.
func isAlert(err error) bool {
	said, _ := errors.AsType[*net.OpError](err)
	return said != nil && (said.Op == "remote error" || said.Op == "local error")
}

// isCut reports whether a connection broke, and distinguishes that from bytes that make no sense.
func isCut(err error) bool {
	var network net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) ||
		errors.Is(err, net.ErrClosed) || errors.As(err, &network) ||
		strings.HasPrefix(err.Error(), "http2: server sent GOAWAY") ||
		err.Error() == "http: unexpected EOF reading trailer"
}

func isTimeout(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}
