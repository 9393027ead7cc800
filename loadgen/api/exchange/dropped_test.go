package exchange_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/internal/pipe"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics/record"
)

// A large body is dropped while its request waits for the answer, if the connection is new. A used
// connection may have died, so that the request is sent again; then the body goes with the reply.
func TestBodiesAreDroppedOnceWritten(t *testing.T) {
	large := strings.Repeat(" ", 1<<20)
	for _, c := range []struct {
		body           string
		once           bool
		waiting, after [2]bool // whether it holds its body, over a new and a used connection
	}{
		{large, true, [2]bool{false, true}, [2]bool{false, false}},
		{large, false, [2]bool{true, true}, [2]bool{true, true}},
		{"{}", true, [2]bool{true, true}, [2]bool{true, true}},
	} {
		for _, netHTTP := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				listener := pipe.Listen()
				var req *engine.Request
				var waiting bool
				server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if n, _ := io.Copy(io.Discard, r.Body); n != int64(len(c.body)) {
						t.Errorf("%d bytes came, want %d", n, len(c.body))
					}
					synctest.Wait()
					waiting = req.Body != nil
					io.WriteString(w, aChunk+lastChunk+doneEvent)
				})}
				go server.Serve(listener)
				defer server.Close()
				transport := wire.Connections{NetHTTP: netHTTP, Timeout: time.Minute, Dial: listener.Dial}.Transport()
				defer transport.CloseIdleConnections()
				o := &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test/v1", Transport: transport}
				for i := range 2 {
					req = &engine.Request{Body: []byte(c.body), Once: c.once}
					rec := new(record.Record)
					for _, err := range o.Send(t.Context(), time.Now(), req, rec) {
						if err != nil {
							t.Error(err)
						}
					}
					if rec.Conn.New != (i == 0) {
						t.Errorf("request %d has %+v", i, rec.Conn)
					}
					if after := req.Body != nil; waiting != c.waiting[i] || after != c.after[i] {
						t.Errorf("%d bytes, once %t, net/http %t, request %d: it has its body while it waits: %t, and afterwards: %t",
							len(c.body), c.once, netHTTP, i, waiting, after)
					}
				}
			})
		}
	}
}
