package exchange_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/loadgen/wire/wiretest"
	"github.com/servebench/servebench/metrics/record"
)

// failing sends one request in fake time over connections that dial makes.
func failing(ctx context.Context, url string, dial func(context.Context, string, string) (net.Conn, error)) (*record.Failure, *record.Record) {
	epoch := time.Now()
	transport := wire.Connections{NetHTTP: netHTTP, Timeout: time.Minute, Dial: dial}.Transport()
	defer transport.CloseIdleConnections()
	o := exchange.Endpoint{Protocol: completions.Protocol, URL: url, Transport: transport}
	rec := &record.Record{}
	var failed *record.Failure
	for _, err := range o.Send(ctx, epoch, &engine.Request{Body: []byte("{}")}, rec) {
		failed, _ = errors.AsType[*record.Failure](err)
	}
	rec.Times.End = time.Since(epoch)
	time.Sleep(week)
	return failed, rec
}

func TestConnectingFails(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	silent := func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go io.Copy(io.Discard, server)
		return client, nil
	}
	for _, test := range []struct {
		name, url string
		dial      func(context.Context, string, string) (net.Conn, error)
		class     record.Class
		want      string
		end       time.Duration
	}{
		{"refused", "http://server.test", func(context.Context, string, string) (net.Conn, error) { return nil, refused },
			record.Connect, "dial tcp: connection refused", 0},
		{"no answer", "http://server.test", func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, record.ConnectTimeout, "no connection within 1m0s: context deadline exceeded", time.Minute},
		{"no handshake", "https://server.test", silent, record.ConnectTimeout, "no TLS handshake within 1m0s: context deadline exceeded", time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				failed, rec := failing(t.Context(), test.url, test.dial)
				if failed == nil || failed.Class != test.class || failed.Error() != test.want || rec.Times.End != test.end {
					t.Fatalf("%+v at %v; want %s, %q at %v", failed, rec.Times.End, test.class, test.want, test.end)
				}
				if rec.Attempts != 0 || rec.Result.Status != 0 || rec.Conn != (record.Conn{}) {
					t.Errorf("record %+v of a request that was never sent", rec)
				}
			})
		})
	}
}

func TestStoppingTheRunCancels(t *testing.T) {
	for _, reply := range []string{"", streamHead, streamHead + wiretest.Framed(aChunk)} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			failed, rec := failing(ctx, "http://server.test", wiretest.DialScript(func(c net.Conn) bool {
				_, _ = io.WriteString(c, reply)
				time.Sleep(time.Hour)
				return true
			}))
			if failed == nil || failed.Class != record.Cancelled || rec.Times.End != 5*time.Second {
				t.Errorf("after %q: %v at %v", reply, failed, rec.Times.End)
			}
		})
	}
}

func TestIdleConnectionsAreDroppedInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := wire.Connections{NetHTTP: netHTTP, Dial: wiretest.DialScript(func(c net.Conn) bool {
			_, _ = io.WriteString(c, streamHead+wiretest.Framed(aChunk+doneEvent)+streamEnd)
			return false
		})}.Transport()
		defer transport.CloseIdleConnections()
		o := &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test", Transport: transport}
		for _, step := range []struct {
			idle time.Duration
			new  bool
		}{{0, true}, {3 * time.Second, false}, {3 * time.Second, false}, {4500 * time.Millisecond, true}} {
			time.Sleep(step.idle)
			if _, rec := ask(t, o); rec.Conn.New != step.new {
				t.Errorf("after %v idle: new connection %t, want %t", step.idle, rec.Conn.New, step.new)
			}
		}
	})
}

func TestConnectingIsTimed(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, aChunk+doneEvent)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	verifying := &exchange.Endpoint{Protocol: completions.Protocol, URL: server.URL, Transport: wire.Connections{NetHTTP: netHTTP}.Transport()}
	if got, _ := ask(t, verifying); got.Class != record.TLS || !strings.Contains(got.Error, "certificate") {
		t.Errorf("with an unknown certificate: %+v", got)
	}
	transport := wire.Connections{NetHTTP: netHTTP, Insecure: true}.Transport()
	defer transport.CloseIdleConnections()
	insecure := &exchange.Endpoint{Protocol: completions.Protocol, URL: server.URL, Transport: transport}
	if got, rec := ask(t, insecure); got.Class != record.OK || !rec.Conn.New || rec.Conn.Connect <= 0 || rec.Conn.TLS <= 0 || rec.Times.Wrote <= 0 {
		t.Errorf("%+v by connection %+v", got, rec.Conn)
	}
	if _, rec := ask(t, insecure); rec.Conn != (record.Conn{}) {
		t.Errorf("the second request's connection is %+v", rec.Conn)
	}
}

func TestTheLimitHoldsForTheProxyToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := wire.Connections{NetHTTP: netHTTP, Timeout: 10 * time.Second, Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: "proxy.test"}),
			Dial: wiretest.DialScript(func(net.Conn) bool { time.Sleep(time.Hour); return true })}.Transport()
		start := time.Now()
		got, _ := ask(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: "https://server.test", Transport: transport})
		took := time.Since(start)
		if want := "no connection through the proxy within 10s: context deadline exceeded"; got.Class != record.ConnectTimeout || got.Error != want || took != 10*time.Second {
			t.Errorf("%+v after %v; want %q", got, took, want)
		}
		time.Sleep(week)
	})
}

func TestWarmingHTTP2HasALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transport := wire.Connections{NetHTTP: netHTTP, HTTP2: true, Timeout: 10 * time.Second, Dial: func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			go io.Copy(io.Discard, server)
			return client, nil
		}}.Transport()
		start := time.Now()
		n, err := transport.Warm(t.Context(), "http://server.test", 1)
		if want := "no answer over a new connection within 10s"; n != 0 || err == nil || !strings.Contains(err.Error(), want) || time.Since(start) != 10*time.Second {
			t.Errorf("%d opened, %v after %v; want %q", n, err, time.Since(start), want)
		}
		transport.CloseIdleConnections()
		time.Sleep(week)
	})
}
