package wire

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// nameServer makes a name server the system's for the test. It answers so many questions, all names
// lead to this machine, and it then falls silent.
func nameServer(t *testing.T, answers int32) *atomic.Int32 {
	asked := new(atomic.Int32)
	before := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = before })
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			for {
				var size [2]byte
				if _, err := io.ReadFull(server, size[:]); err != nil {
					return
				}
				question := make([]byte, binary.BigEndian.Uint16(size[:]))
				if _, err := io.ReadFull(server, question); err != nil {
					return
				}
				if asked.Add(1) > answers {
					continue
				}
				answer := toThisMachine(question)
				_, _ = server.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
			}
		}()
		return client, nil
	}}
	return asked
}

// toThisMachine answers a question about a name with 127.0.0.1.
func toThisMachine(question []byte) []byte {
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil {
		return nil
	}
	m.Header.Response, m.Header.RecursionAvailable, m.Additionals = true, true, nil
	if q := m.Questions[0]; q.Type == dnsmessage.TypeA {
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 1}, Body: &dnsmessage.AResource{A: [4]byte{127, 0, 0, 1}},
		}}
	}
	answer, _ := m.Pack()
	return answer
}

// Each request needs a new connection.
func TestASilentNameServerIsAskedOnce(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") }))
	defer server.Close()
	for name, c := range map[string]Connections{"own": {}, "net/http": {NetHTTP: true}} {
		t.Run(name, func(t *testing.T) {
			asked := nameServer(t, 2) // one question for each family
			transport := c.Transport()
			defer transport.CloseIdleConnections()
			for range 5 {
				fetched(t, transport, named(server, "server.test"))
			}
			if n := asked.Load(); n != 2 {
				t.Errorf("%d questions", n)
			}
		})
	}
}
