//go:build slurm && linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/stream"
)

// A notary is a simulated server that keeps what it was asked, by request id.
type notary struct {
	*httptest.Server
	proxy httputil.ReverseProxy

	mu    sync.Mutex
	asked map[string]body
}

type body struct {
	Prompt    string
	MaxTokens int `json:"max_tokens"`
}

// A workloadLine is a request of a workload, as servebench dataset prints it and as a
// shard sent it.
type workloadLine struct {
	ID        string
	Prompt    string
	PromptLen int           `json:"prompt_len"`
	OutputLen int           `json:"output_len"`
	At        time.Duration `json:"-"`
}

func startNotary(t *testing.T) (n *notary, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	sim, wait := startSim(t, ctx, "--step-base", "1ms")
	target, err := url.Parse(sim)
	if err != nil {
		t.Fatal(err)
	}
	n = &notary{asked: map[string]body{}, proxy: httputil.ReverseProxy{
		Rewrite:       func(p *httputil.ProxyRequest) { p.SetURL(target) },
		FlushInterval: -1,
		Transport:     &http.Transport{MaxIdleConnsPerHost: 1000, DisableCompression: true},
	}}
	n.Server = httptest.NewServer(n)
	return n, func() {
		n.Close()
		cancel()
		if err := wait(); err != nil {
			t.Error(err)
		}
	}
}

func (n *notary) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var b body
	if json.Unmarshal(text, &b) == nil {
		n.mu.Lock()
		n.asked[r.Header.Get("X-Request-Id")] = b
		n.mu.Unlock()
	}
	r.Body = io.NopCloser(bytes.NewReader(text))
	n.proxy.ServeHTTP(w, r)
}

// seen are the requests of a record stream in the order of the workload, with what
// the server was asked for.
func (n *notary) seen(t *testing.T, text string) []workloadLine {
	t.Helper()
	var records []*record.Record
	for entry, err := range stream.NewReader(strings.NewReader(text)).Entries() {
		if err != nil {
			t.Fatal(err)
		}
		if entry.Record != nil {
			records = append(records, entry.Record)
		}
	}
	slices.SortFunc(records, func(a, b *record.Record) int { return a.Index - b.Index })
	n.mu.Lock()
	defer n.mu.Unlock()
	var sent []workloadLine
	for i, r := range records {
		if r.Index != i {
			t.Fatalf("the record in place %d has index %d", i, r.Index)
		}
		b := n.asked[r.ID]
		sent = append(sent, workloadLine{r.ID, b.Prompt, r.Tokens.InAsked, b.MaxTokens, r.Times.Due})
	}
	return sent
}

// planned are the requests of a workload as servebench dataset prints them.
func (c *cluster) planned(t *testing.T, flags string) (requests []workloadLine) {
	t.Helper()
	for line := range strings.Lines(c.must(t, "sh", "-c", "servebench dataset"+flags)) {
		var p struct {
			workloadLine
			Due float64
		}
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		p.At = time.Duration(math.Round(p.Due * 1e9))
		requests = append(requests, p.workloadLine)
	}
	return requests
}
