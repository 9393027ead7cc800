package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// A server sees probes on a connection on which no other request comes, and the load
// has as many as it may have.
func TestProbesHaveAConnectionOfTheirOwn(t *testing.T) {
	var mu sync.Mutex
	by := map[bool]map[string]bool{true: {}, false: {}} // addresses of probes and of the load
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if isGeneration(wireCall{Method: r.Method, Path: r.URL.Path}) {
			mu.Lock()
			by[bytes.Contains(body, []byte(`"prompt": "Hi"`))][r.RemoteAddr] = true
			mu.Unlock()
		}
		new(wireRecorder).ServeHTTP(w, r)
	}))
	defer server.Close()
	o := mustParse(t, "--model m --tokenizer stub-100 --random-input-len 6 --num-prompts 20 --max-concurrency 2 --probe-request-rate 1e6 --disable-tqdm --base-url", server.URL)
	if err := newExperiment(o, io.Discard, io.Discard).run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(by[true]) != 1 || len(by[false]) == 0 || len(by[false]) > 2 {
		t.Errorf("probes from %v, the load from %v", by[true], by[false])
	}
	for address := range by[true] {
		if by[false][address] {
			t.Errorf("%s had both", address)
		}
	}
}
