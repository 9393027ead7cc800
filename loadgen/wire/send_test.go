package wire

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/servebench/servebench/metrics/record"
)

// Under TLS, bytes come that are no answer: the other side's goodbye.
func TestARequestIsSentAnewUnderTLSToo(t *testing.T) {
	var requests atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 2 {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
			}
			conn.Close()
			return
		}
		answering(w, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	transport := Connections{Insecure: true}.Transport()
	defer transport.CloseIdleConnections()
	fetch(t, transport, server.URL)
	transport.pool.stayFresh()
	if rec := fetch(t, transport, server.URL); rec.Result.Class != record.OK || rec.Attempts != 2 || rec.Reconnects != 1 || !rec.Conn.New || requests.Load() != 3 {
		t.Errorf("%+v, %d requests", rec, requests.Load())
	}
}
