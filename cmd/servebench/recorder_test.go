//go:build e2e || servers

package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/sashabaranov/go-openai"
)

// A recorder is a reverse proxy that keeps the generations that pass through it
// and passes on each piece of them at once.
type recorder struct {
	*httptest.Server
	peer
	proxy *httputil.ReverseProxy

	mu        sync.Mutex
	exchanges []*exchange
}

// An exchange is one generation as it went over the wire.
type exchange struct {
	path    string
	request []byte
	status  int
	reply   bytes.Buffer
}

// A tally is what a number of generations come to, by the server's own count.
type tally struct {
	requests, input, output int
	chunks                  int // that have choices, and of a chat content
	texts                   []string
}

func newRecorder(t *testing.T, p peer) *recorder {
	t.Helper()
	target, err := url.Parse(p.url)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{peer: p, proxy: &httputil.ReverseProxy{
		Rewrite:       func(p *httputil.ProxyRequest) { p.SetURL(target) },
		FlushInterval: -1,
		Transport:     &http.Transport{MaxIdleConnsPerHost: 1000, DisableCompression: true},
	}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// ServeHTTP passes a request on and keeps it if it asks for a generation.
func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodPost {
		r.proxy.ServeHTTP(w, req)
		return
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	e := &exchange{path: req.URL.Path, request: body}
	r.mu.Lock()
	r.exchanges = append(r.exchanges, e)
	r.mu.Unlock()
	r.proxy.ServeHTTP(&tee{w, e}, req)
}

// tally closes the proxy, so that every exchange is complete, and reads them all
// with go-openai. It fails the test for a request that is not what was asked for
// and for a reply that is not a whole stream.
func (r *recorder) tally(t *testing.T, path string) tally {
	t.Helper()
	r.Close()
	var sum tally
	for i, e := range r.exchanges {
		if e.path != path || e.status != http.StatusOK {
			t.Errorf("request %d: %s gave status %d: %s", i, e.path, e.status, &e.reply)
			continue
		}
		one, err := e.read(r.peer)
		if err != nil {
			t.Errorf("request %d: %v\nin %s\nout %s", i, err, e.request, &e.reply)
			continue
		}
		sum.requests++
		sum.input += one.input
		sum.output += one.output
		sum.chunks += one.chunks
		sum.texts = append(sum.texts, one.texts...)
	}
	return sum
}

// read goes through a recorded exchange as if go-openai had made it.
func (e *exchange) read(p peer) (tally, error) {
	if err := e.asked(p.model); err != nil {
		return tally{}, err
	}
	if !p.undone && !bytes.HasSuffix(e.reply.Bytes(), []byte("data: [DONE]\n\n")) {
		return tally{}, errors.New("the stream is not whole")
	}
	config := openai.DefaultConfig("")
	config.HTTPClient = e
	client := openai.NewClientWithConfig(config)
	if e.path == chatPath {
		return readChat(client)
	}
	return readCompletion(client)
}

// asked says what is wrong with the request.
func (e *exchange) asked(model string) error {
	var req struct {
		Model         string               `json:"model"`
		MaxTokens     int                  `json:"max_tokens"`
		Stream        bool                 `json:"stream"`
		StreamOptions openai.StreamOptions `json:"stream_options"`
	}
	if err := json.Unmarshal(e.request, &req); err != nil {
		return err
	}
	if req.Model != model || req.MaxTokens != outputLen || !req.Stream || !req.StreamOptions.IncludeUsage {
		return fmt.Errorf("asked for %+v", req)
	}
	return nil
}

func readChat(client *openai.Client) (tally, error) {
	stream, err := client.CreateChatCompletionStream(context.Background(), openai.ChatCompletionRequest{})
	if err != nil {
		return tally{}, err
	}
	defer stream.Close()
	return readStream(stream.Recv, func(c openai.ChatCompletionStreamResponse) (texts []string, usage *openai.Usage) {
		for _, choice := range c.Choices {
			if choice.Delta.Content != "" { // a role, or an end, is no output
				texts = append(texts, choice.Delta.Content)
			}
		}
		return texts, c.Usage
	})
}

func readCompletion(client *openai.Client) (tally, error) {
	stream, err := client.CreateCompletionStream(context.Background(), openai.CompletionRequest{Prompt: ""})
	if err != nil {
		return tally{}, err
	}
	defer stream.Close()
	return readStream(stream.Recv, func(c openai.CompletionResponse) (texts []string, usage *openai.Usage) {
		for _, choice := range c.Choices {
			texts = append(texts, choice.Text)
		}
		return texts, c.Usage
	})
}

// readStream adds up what the chunks of one stream say, each the texts of its
// choices and its usage.
func readStream[C any](next func() (C, error), read func(C) ([]string, *openai.Usage)) (tally, error) {
	sum := tally{requests: 1, texts: []string{""}}
	for {
		chunk, err := next()
		if errors.Is(err, io.EOF) {
			return sum, nil
		}
		if err != nil {
			return sum, err
		}
		texts, usage := read(chunk)
		if len(texts) > 0 {
			sum.chunks++
			sum.texts[0] += strings.Join(texts, "")
		}
		if usage != nil {
			sum.input += usage.PromptTokens
			sum.output += usage.CompletionTokens
		}
	}
}

// Do gives the recorded reply to any request: it stands in for the network.
func (e *exchange) Do(*http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: e.status,
		Header:     http.Header{},
		Body:       io.NopCloser(bytes.NewReader(e.reply.Bytes())),
	}, nil
}

// A tee writes a reply and keeps a copy of it.
type tee struct {
	http.ResponseWriter
	copy *exchange
}

func (w *tee) WriteHeader(status int) {
	w.copy.status = status
	w.ResponseWriter.WriteHeader(status)
}

func (w *tee) Write(p []byte) (int, error) {
	w.copy.reply.Write(p)
	return w.ResponseWriter.Write(p)
}

// Unwrap lets the proxy flush.
func (w *tee) Unwrap() http.ResponseWriter { return w.ResponseWriter }
