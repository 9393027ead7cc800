//go:build vllm && linux

package vllm_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
)

// A proxy passes requests on to an engine, and what it answers back at once, and
// notes the requests.
type proxy struct {
	*httptest.Server
	journal
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
		// The engine closes idle connections after 5 s, and a request that is just being sent is lost with one.
		Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true},
	}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		p.note(t, r, body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}
