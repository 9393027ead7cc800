package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"net/url"
	"sync"
	"time"
)

// A proxy passes requests to a server at once, and the answers to POST later.
type proxy struct {
	to        *url.URL
	slow      slowdown
	wait      func(time.Time)
	transport http.RoundTripper

	mu  sync.Mutex
	log io.Writer // nil writes none
}

// An entry has the stamps of one request. Times are in milliseconds after Received.
type entry struct {
	ID       string    `json:"id,omitempty"` // x-request-id
	Trace    string    `json:"traceparent,omitempty"`
	Path     string    `json:"path"`
	Status   int       `json:"status,omitempty"` // 0 without an answer
	Received time.Time `json:"received"`         // when the whole request was here

	// Forwarded is when the last byte of the request was on its way to the server.
	Forwarded float64 `json:"forwarded_ms"`
	// Head is when the first byte of the answer's head came from the server, First and Last when the
	// first and last byte of its body came.
	Head  float64 `json:"head_ms,omitempty"`
	First float64 `json:"first_ms,omitempty"`
	Last  float64 `json:"last_ms,omitempty"`
	// FirstOut and LastOut are when these bytes of the body were written to the client.
	FirstOut float64 `json:"first_out_ms,omitempty"`
	LastOut  float64 `json:"last_out_ms,omitempty"`
	Bytes    int     `json:"bytes"` // of the body

	mu sync.Mutex // the transport may still write when the answer has come
}

// stamp sets a time of the entry to now.
func (e *entry) stamp(at *float64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	*at = time.Since(e.Received).Seconds() * 1000
}

type entryKey struct{}

func (p *proxy) handler() http.Handler {
	reverse := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(p.to)
			r.Out.Host = r.In.Host
			// not sent: it lets the transport try again where the server just closed a used connection
			r.Out.Header["X-Idempotency-Key"] = nil
		},
		Transport:      p.transport,
		FlushInterval:  -1, // at once
		ModifyResponse: p.delay,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			http.Error(w, fmt.Sprintf("delayproxy: %v", err), http.StatusBadGateway)
		},
		ErrorLog: log.New(io.Discard, "", 0), // a client that is gone, a server that broke off: entries say so
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The transport must not read the client's body while an early answer ends it.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		r.Body, _ = r.GetBody()
		if r.Method != http.MethodPost {
			reverse.ServeHTTP(w, r)
			return
		}
		e := &entry{ID: r.Header.Get("X-Request-Id"), Trace: r.Header.Get("Traceparent"), Path: r.URL.Path,
			Received: time.Now()}
		defer p.write(e) // also when the client is gone, for which reverse panics
		ctx := httptrace.WithClientTrace(context.WithValue(r.Context(), entryKey{}, e), &httptrace.ClientTrace{
			WroteRequest:         func(httptrace.WroteRequestInfo) { e.stamp(&e.Forwarded) },
			GotFirstResponseByte: func() { e.stamp(&e.Head) },
		})
		reverse.ServeHTTP(w, r.WithContext(ctx))
	})
}

// delay holds the head of an answer back, and has its body read on meanwhile.
func (p *proxy) delay(resp *http.Response) error {
	e, ok := resp.Request.Context().Value(entryKey{}).(*entry)
	if !ok {
		return nil
	}
	came := time.Now()
	e.Status = resp.StatusCode
	resp.Body = newBody(resp.Body, p, e)
	p.wait(p.slow.due(e.Received, came))
	return nil
}

// write appends the entry to the log.
func (p *proxy) write(e *entry) {
	if p.log == nil {
		return
	}
	e.mu.Lock()
	line, err := json.Marshal(e)
	e.mu.Unlock()
	if err != nil {
		panic(err) // numbers and strings only
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.log.Write(append(line, '\n')); err != nil {
		log.Fatal(err) // a log with holes would be taken for the truth
	}
}
