package exchange_test

import (
	"context"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/loadgen/wire/wiretest"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/record"
)

// reported is what t reports.
func reported(t *wire.Tally) evidence.Evidence {
	var e evidence.Evidence
	t.Report(&e)
	return e
}

func TestWhatServersDoToConnectionsIsCounted(t *testing.T) {
	answer := aChunk + aChunk + lastChunk + doneEvent // the last has no content to share a read
	for _, test := range []struct {
		name, reply string
		want        evidence.Evidence
	}{
		{"kept", streamHead + wiretest.Framed(answer) + streamEnd,
			evidence.Evidence{Connections: evidence.Connections{Opened: 1, Protocol: "HTTP/1.1"}, Stamps: evidence.Stamps{User: 3, SharedReads: 1}}},
		{"closed", "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + answer,
			evidence.Evidence{Connections: evidence.Connections{Opened: 1, Closed: 1, Protocol: "HTTP/1.1"}, Stamps: evidence.Stamps{User: 3, SharedReads: 1}}},
		{"HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + answer,
			evidence.Evidence{Connections: evidence.Connections{Opened: 1, Closed: 1, Protocol: "HTTP/1.0"}, Stamps: evidence.Stamps{User: 3, SharedReads: 1}}},
		{"an error is a reply, too", "HTTP/1.0 500 Oh\r\n\r\n",
			evidence.Evidence{Connections: evidence.Connections{Opened: 1, Closed: 1, Protocol: "HTTP/1.0"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			tally := new(wire.Tally)
			transport := wire.Connections{NetHTTP: netHTTP, Tally: tally, Dial: wiretest.DialRaw([]byte(test.reply))}.Transport()
			defer transport.CloseIdleConnections()
			got, _ := ask(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test", Transport: transport, Tally: tally})
			if failed := got.Class != record.OK; failed != (test.want.Stamps.User == 0) {
				t.Fatalf("%+v", got)
			}
			if test.want.Connections.Transport = evidence.TransportOwn; netHTTP {
				test.want.Connections.Transport = evidence.TransportNet
			}
			if diff := cmp.Diff(test.want, reported(tally)); diff != "" {
				t.Errorf("tally (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWantOfSocketsIsCounted(t *testing.T) {
	tally := new(wire.Tally)
	var errs []error
	for _, errno := range []syscall.Errno{syscall.ECONNREFUSED, syscall.EADDRNOTAVAIL, syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS} {
		errs = append(errs, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", errno)})
	}
	want := errs[1].Error()
	transport := wire.Connections{NetHTTP: netHTTP, Tally: tally, Dial: func(context.Context, string, string) (net.Conn, error) {
		err := errs[0]
		errs = errs[1:]
		return nil, err
	}}.Transport()
	o := &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test", Transport: transport, Tally: tally}
	for i := range len(errs) {
		class := record.Connect
		if i == 0 {
			class = record.Refused
		}
		if got, _ := ask(t, o); got.Class != class {
			t.Errorf("%+v, want %s", got, class)
		}
	}
	if e := reported(tally); e.Connections.Exhausted != 4 || e.Connections.Exhaustion != want || e.Connections.Opened != 0 {
		t.Errorf("%+v; want 4, %q", e, want)
	}
}
