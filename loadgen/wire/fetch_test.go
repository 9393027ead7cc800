package wire

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/record"
)

// fetch posts to url and reads the answer. It gives what happened, as a caller of a
// Transport learns it.
func fetch(t *testing.T, transport *Transport, url string) *record.Record {
	t.Helper()
	ctx, w := Timeouts{}.Watch(t.Context())
	defer w.Stop()
	asked := &Trace{Epoch: time.Now(), Watch: w}
	r, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, asked.Hooks()), http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	rec := new(record.Record)
	reply, err := transport.RoundTrip(r)
	if err != nil {
		asked.Into(rec)
		rec.Result.Class, rec.Result.Error = record.Classify(asked.Failure(ctx, err))
		return rec
	}
	w.Headed()
	body := BodyOf(reply, asked.Carrier(), w)
	if _, err := io.Copy(io.Discard, &body); err != nil {
		rec.Result.Class, rec.Result.Error = record.Classify(CutOff(ctx, err))
	}
	asked.Into(rec)
	reply.Body.Close()
	return rec
}

// answering answers every request with ok.
func answering(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }

// certified is the TLS configuration of some server.
func certified(t *testing.T) *tls.Config {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	return &tls.Config{Certificates: server.TLS.Certificates}
}

// evidence is what t reports.
func seenBy(t *Tally) evidence.Evidence {
	var e evidence.Evidence
	t.Report(&e)
	return e
}
