package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"runtime"
	"sync"
	"time"
)

// A secureServer answers as server does, by HTTPS with HTTP/2, which net/http speaks. So nothing is
// stamped by the kernel: a request is received when its handler starts.
type secureServer struct {
	base time.Time

	mu    sync.Mutex
	pace  pace
	notes []note
}

// listenSecure listens on a free port of 127.0.0.1, with a new certificate that nobody else has signed.
func listenSecure() (net.Listener, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(30 * 24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	own := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	return tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{own}, NextProtos: []string{"h2"}})
}

// ServeHTTP answers one request.
func (s *secureServer) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	received := time.Since(s.base)
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return
	}
	r := request{path: q.URL.Path, id: q.Header.Get("X-Request-Id")}
	if q.Method == http.MethodPost {
		r.load(body)
	}
	if r.tokens > 0 {
		s.stream(w, &r, received)
		return
	}
	s.other(w, q)
}

// stream writes an answer and notes it.
func (s *secureServer) stream(w http.ResponseWriter, r *request, received time.Duration) {
	s.mu.Lock()
	p := s.pace
	s.mu.Unlock()
	n := note{ID: r.id, Received: received, Writes: make([]time.Duration, 0, r.tokens)}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	flush := http.NewResponseController(w)
	flush.Flush()
	due := received + p.ttft
	for i := range r.tokens {
		time.Sleep(due - time.Since(s.base))
		text := r.form.event(i == r.tokens-1)
		n.Writes = append(n.Writes, time.Since(s.base))
		if _, err := w.Write(text); err != nil || flush.Flush() != nil {
			break
		}
		due += p.itl
	}
	// Before the end, so that the notes are whole when the client's run is.
	s.mu.Lock()
	s.notes = append(s.notes, n)
	s.mu.Unlock()
	w.Write(r.end())
}

// other answers what is not a completion.
func (s *secureServer) other(w http.ResponseWriter, q *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch q.URL.Path {
	case "/v1/models":
		io.WriteString(w, models)
	case "/set":
		p, err := parsePace(q.URL.RawQuery)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		s.pace, s.notes = p, nil
		runtime.GC() // nothing is in flight
		io.WriteString(w, "{}")
	case "/truth":
		lines := json.NewEncoder(w)
		for i := range s.notes {
			if err := lines.Encode(&s.notes[i]); err != nil {
				return
			}
		}
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, "{}")
	}
}

// trusting is a client that takes any certificate.
func trusting() *http.Client {
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true,
	}}
}
