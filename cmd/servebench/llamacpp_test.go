package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// startLlamaCpp plays what llama.cpp's server was heard to say, until the end of the
// script, and puts its URL into $URL. It has its model from the file given. It
// closes a connection after a streamed answer, without announcing it, when the next
// request is on its way.
func startLlamaCpp(ts *testscript.TestScript, _ bool, args []string) {
	heard := func(name string) string { return ts.ReadFile(filepath.Join(ts.Getenv("DATA"), "transcripts", name)) }
	answers := map[string]string{
		"/v1/completions":      heard("llamacpp-completions-usage.raw"),
		"/v1/chat/completions": heard("llamacpp-chat-usage.raw"),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"object":"list","data":[{"id":%q,"object":"model","owned_by":"llamacpp"}]}`, ts.MkAbs(args[0]))
	})
	metrics := heard("llamacpp-metrics.txt")
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, metrics) })
	mux.HandleFunc("POST /tokenize", func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Content string }
		_ = json.NewDecoder(r.Body).Decode(&asked)
		ids := []int{}
		for word := range strings.FieldsSeq(asked.Content) {
			var id int
			_, _ = fmt.Sscanf(word, "t%d", &id)
			ids = append(ids, id)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"tokens": ids})
	})
	mux.HandleFunc("POST /detokenize", func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Tokens []int }
		_ = json.NewDecoder(r.Body).Decode(&asked)
		text := ""
		for _, id := range asked.Tokens {
			text += fmt.Sprintf(" t%d", id)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"content": text})
	})
	mux.HandleFunc("POST /v1/", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = rw.WriteString(answers[r.URL.Path])
		_ = rw.Flush()
		_, _ = rw.ReadByte() // of the next request
	})
	server := httptest.NewServer(mux)
	ts.Defer(server.Close)
	ts.Setenv("URL", server.URL)
}
