package wire

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

func TestAnHTTP2ConnectionWaitsForTheServersSettings(t *testing.T) {
	const preface, settings = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "settings"
	for _, test := range []struct {
		name   string
		writes []string
		answer time.Duration // after the last write; 0 for none
		hangUp bool
		took   time.Duration // the last write
		reads  string
	}{
		{"at once", []string{preface}, time.Millisecond, false, time.Millisecond, settings},
		{"silent", []string{preface}, 0, false, settledWithin, ""},
		{"late", []string{preface}, time.Second, false, settledWithin, settings},
		{"hangs up", []string{preface}, 0, true, 0, ""},
		{"TLS", []string{"\x16hello", "\x14finished", "\x17preface"}, time.Millisecond, false, time.Millisecond, settings},
		{"a handshake", []string{"\x16hello"}, time.Millisecond, false, 0, settings},
		{"after the preface", []string{preface, "headers"}, time.Second, false, 0, settings},
		{"a proxy", []string{"CONNECT server.test:443 HTTP/1.1\r\n"}, time.Millisecond, false, 0, settings},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, server := net.Pipe()
				defer client.Close()
				go func() {
					for _, text := range test.writes {
						_, _ = io.ReadFull(server, make([]byte, len(text)))
					}
					if test.answer > 0 {
						time.Sleep(test.answer)
						_, _ = io.WriteString(server, settings)
					}
					if test.hangUp || test.answer > 0 {
						server.Close()
					}
				}()
				c := &settledConn{Conn: client}
				var took time.Duration
				for _, text := range test.writes {
					began := time.Now()
					if _, err := io.WriteString(c, text); err != nil {
						t.Fatal(err)
					}
					took = time.Since(began)
				}
				if took != test.took {
					t.Errorf("waited %v, want %v", took, test.took)
				}
				if test.answer == 0 && !test.hangUp {
					server.Close()
				}
				if got, err := io.ReadAll(c); string(got) != test.reads || err != nil {
					t.Errorf("read %q, %v", got, err)
				}
			})
		})
	}
}
