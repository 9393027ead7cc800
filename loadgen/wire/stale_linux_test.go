package wire

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"runtime"
	"testing"

	"github.com/servebench/servebench/metrics/record"
)

// A server may send more than it was asked for. That is not the reply to the next request.
func TestAReplyThatNobodyAskedForIsNotTheNext(t *testing.T) {
	needKernelStamps(t)
	const reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	for _, scheme := range []string{"http", "https"} {
		t.Run(scheme, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer listener.Close()
			config, twice := certified(t), make(chan struct{}, 2)
			go func() {
				for {
					conn, err := listener.Accept()
					if err != nil {
						return
					}
					defer conn.Close()
					if scheme == "https" {
						conn = tls.Server(conn, config)
					}
					go func() {
						req, err := http.ReadRequest(bufio.NewReader(conn))
						if err != nil {
							return
						}
						_, _ = io.Copy(io.Discard, req.Body)
						_, _ = io.WriteString(conn, reply)
						<-twice
						_, _ = io.WriteString(conn, reply)
					}()
				}
			}()
			var client *net.TCPConn
			transport := Connections{Insecure: true, Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := new(net.Dialer).DialContext(ctx, network, addr)
				if err == nil {
					client = conn.(*net.TCPConn)
				}
				return conn, err
			}}.Transport()
			defer transport.CloseIdleConnections()
			if rec := fetch(t, transport, scheme+"://"+listener.Addr().String()); rec.Result.Class != record.OK {
				t.Fatalf("%+v", rec)
			}
			transport.pool.stayFresh()
			twice <- struct{}{}
			for unread(t, client) == 0 {
				runtime.Gosched()
			}
			if rec := fetch(t, transport, scheme+"://"+listener.Addr().String()); rec.Result.Class != record.OK || !rec.Conn.New {
				t.Errorf("%+v", rec)
			}
			twice <- struct{}{}
		})
	}
}
