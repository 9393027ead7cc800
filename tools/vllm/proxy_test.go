//go:build vllm && linux

package vllm_test

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A proxy passes requests on to an engine, and what it answers back at once, and
// notes the requests.
type proxy struct {
	*httptest.Server
	mu   sync.Mutex
	seen []seen
}

// seen is a request as it arrived.
type seen struct {
	ID     string // from its header; "" for checks, warm-ups, probes and some datasets
	Method string
	Path   string
	Header http.Header
	Body   string
}

func newProxy(t *testing.T, e *engine) *proxy {
	t.Helper()
	target, err := url.Parse(e.url)
	if err != nil {
		t.Fatal(err)
	}
	p := new(proxy)
	pass := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		FlushInterval: -1,
		Transport:     &http.Transport{MaxIdleConnsPerHost: 1000, DisableCompression: true},
	}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		p.note(r, body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

// note keeps a request without what the clients send of themselves: their names,
// how they would have answers compressed, and headers of the connection.
func (p *proxy) note(r *http.Request, body []byte) {
	header := r.Header.Clone()
	for _, name := range []string{"User-Agent", "Accept", "Accept-Encoding", "Connection"} {
		header.Del(name)
	}
	if len(body) == 0 {
		header.Del("Content-Type") // aiohttp gives even nothing a type
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, seen{r.Header.Get("X-Request-Id"), r.Method, r.URL.RequestURI(), header, string(body)})
}

// readMetrics is a call that both clients make when it suits them.
const readMetrics = "GET /metrics"

// take gives the requests since the last call, sorted, as those that are sent
// together arrive in any order; and the calls in the order of the first of each
// kind, less reads of /metrics.
func (p *proxy) take() (requests []seen, calls []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	requests, p.seen = p.seen, nil
	for _, r := range requests {
		if call := r.Method + " " + r.Path; call != readMetrics && !slices.Contains(calls, call) {
			calls = append(calls, call)
		}
	}
	slices.SortFunc(requests, func(a, b seen) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), strings.Compare(a.Path, b.Path), strings.Compare(a.Body, b.Body))
	})
	return requests, calls
}
