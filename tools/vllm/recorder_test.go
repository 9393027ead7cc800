//go:build vllm

package vllm_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/servebench/servebench/dataset/media/mediatest"
)

// seen is a request as it arrived.
type seen struct {
	ID     string // from its header; "" for checks, warm-ups, probes and some datasets
	Method string
	Path   string
	Header http.Header
	Body   string

	Pictures []mediatest.Picture // that are taken out of the body
}

// A journal notes requests.
type journal struct {
	mu   sync.Mutex
	seen []seen
}

// note keeps a request without what the clients send of themselves: their names,
// how they would have answers compressed, and headers of the connection. Of a form it
// keeps the parts, and of an image the pixels, as coders differ.
func (j *journal) note(t *testing.T, r *http.Request, body []byte) {
	if slices.Contains([]string{"/version", "/props", "/api/version"}, r.URL.Path) {
		return // servebench alone asks for them: see docs/vllm.md
	}
	header := r.Header.Clone()
	for _, name := range []string{"User-Agent", "Accept", "Accept-Encoding", "Connection", "Content-Length"} {
		header.Del(name)
	}
	if len(body) == 0 {
		header.Del("Content-Type") // aiohttp gives even nothing a type
	}
	text, pictures := mediatest.Cut(string(body))
	if kind, options, _ := mime.ParseMediaType(header.Get("Content-Type")); kind == "multipart/form-data" {
		header.Set("Content-Type", kind)
		text = parts(t, body, options["boundary"])
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.seen = append(j.seen, seen{r.Header.Get("X-Request-Id"), r.Method, r.URL.RequestURI(), header, text, pictures})
}

// parts are those of a form: headers and value, and of a file the hash.
func parts(t *testing.T, body []byte, boundary string) string {
	var text strings.Builder
	form := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		part, err := form.NextRawPart()
		if err == io.EOF {
			return text.String()
		}
		if err != nil {
			t.Errorf("a form cannot be read: %v", err)
			return text.String()
		}
		value, err := io.ReadAll(part)
		if err != nil {
			t.Error(err)
		}
		if part.FileName() != "" {
			value = fmt.Appendf(nil, "%d bytes, %x", len(value), sha256.Sum256(value))
		}
		fmt.Fprintf(&text, "%s; %s: %s\n", part.Header.Get("Content-Disposition"), part.Header.Get("Content-Type"), value)
	}
}

// readMetrics is a call that both clients make when it suits them.
const readMetrics = "GET /metrics"

// take gives the requests since the last call, sorted, as those that are sent
// together arrive in any order; and the calls in the order of the first of each
// kind, less reads of /metrics.
func (j *journal) take() (requests []seen, calls []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	requests, j.seen = j.seen, nil
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

// A recorder is a server that notes requests and answers each of an API in the
// same way: three tokens, or a vector.
type recorder struct {
	*httptest.Server
	journal
}

func newRecorder(t *testing.T) *recorder {
	t.Helper()
	rec := new(recorder)
	rec.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		rec.note(t, r, body)
		reply(w, r.URL.Path)
	}))
	t.Cleanup(rec.Close)
	return rec
}

// reply answers a request to a path.
func reply(w http.ResponseWriter, path string) {
	stream := func(token, end string) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, text := range []string{"a", " b", " c"} {
			fmt.Fprintf(w, token, text)
		}
		io.WriteString(w, end)
	}
	const chunk, last = "data: {\"choices\":[{\"index\":0,%s}]}\n\n", "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n"
	switch path {
	case "/metrics", "/start_profile", "/stop_profile":
	case "/v1/models":
		io.WriteString(w, `{"data": [{"id": "served", "root": "m"}, {"id": "m"}, {"id": "one"}, {"id": "two"}, {"id": "three"}]}`)
	case "/v1/completions":
		stream(fmt.Sprintf(chunk, `"text":"%s"`), last)
	case "/v1/chat/completions", "/v1/audio/transcriptions", "/v1/audio/translations":
		stream(fmt.Sprintf(chunk, `"delta":{"content":"%s"}`), last)
	case "/v1/responses":
		stream("event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"%s\"}\n\n",
			"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"usage\":{\"input_tokens\":9,\"output_tokens\":3}}}\n\n")
	case "/v1/embeddings", "/embeddings", "/pooling", "/v1/rerank":
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5,0.25]}],"results":[],"usage":{"prompt_tokens":5,"total_tokens":5}}`)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}
