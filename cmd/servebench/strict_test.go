package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// A strictServer takes no member that it does not know, content as a string alone, and
// no call without the query that Azure wants. It has one model and chat, or
// completions where it is not of chat.
type strictServer struct {
	chat    bool
	loading atomic.Int64 // calls that are still to be answered with 503, as while a model is loaded
}

// startStrict runs one until the end of the script, at $URL. Its arguments are chat or
// completions, how many calls find it loading, and files for whose $URL its URL stands.
func startStrict(ts *testscript.TestScript, _ bool, args []string) {
	s := &strictServer{chat: args[0] == "chat"}
	loading, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	s.loading.Store(loading)
	server := httptest.NewServer(s)
	ts.Defer(server.Close)
	ts.Setenv("URL", server.URL)
	for _, name := range args[2:] {
		text := strings.ReplaceAll(ts.ReadFile(name), "$URL", server.URL)
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o666))
	}
}

func (s *strictServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := map[bool]string{true: "/deployed/chat/completions", false: "/deployed/completions"}[s.chat]
	switch {
	case r.URL.Query().Get("api-version") != "2026-01-01":
		http.Error(w, `{"error":{"code":"404","message":"Resource not found"}}`, http.StatusNotFound)
	case s.loading.Add(-1) >= 0:
		http.Error(w, `{"error":{"message":"Loading model"}}`, http.StatusServiceUnavailable)
	case r.URL.Path == "/deployed/v1/models":
		_, _ = io.WriteString(w, `[{"id":"m"}]`)
	case r.URL.Path != path || r.URL.Query().Get("stage") != "two":
		http.Error(w, `{"detail":"Not Found"}`, http.StatusNotFound)
	default:
		if wrong := s.refuse(r); wrong != nil {
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprintf(w, `{"detail":[{"type":"x","loc":["body"],"msg":%q}]}`, wrong.Error())
			return
		}
		event(w, "data: %s\n\ndata: %s\n\ndata: [DONE]\n\n", chunkOf("a", "length"), `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}`)
	}
}

// refuse says what is wrong with a request.
func (s *strictServer) refuse(r *http.Request) error {
	var body any = &struct {
		Model     string
		Prompt    string
		MaxTokens int `json:"max_tokens"`
		Stream    bool
	}{}
	if s.chat {
		body = &struct {
			Model    string
			Messages []struct{ Role, Content string } `json:"messages"`
			MaxTotal int                              `json:"max_completion_tokens"`
			Stream   bool
		}{}
	}
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(body)
	if odd, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s: Input should be a valid string", strings.ToLower(odd.Field))
	}
	return err
}

// TestAStrictServerIsToldFromOthers holds that the server of the scripts refuses what it
// is there to refuse.
func TestAStrictServerIsToldFromOthers(t *testing.T) {
	server := httptest.NewServer(&strictServer{chat: true})
	defer server.Close()
	for body, want := range map[string]int{
		`{"model":"m","messages":[{"role":"user","content":"x"}],"stream":true}`:                             200,
		`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"x"}]}],"stream":true}`:    422,
		`{"model":"m","messages":[{"role":"user","content":"x"}],"stream":true,"ignore_eos":true}`:           422,
		`{"model":"m","messages":[{"role":"user","content":"x"}],"stream":true,"repetition_penalty":null}`:   422,
		`{"model":"m","messages":[{"role":"user","content":"x"}],"stream":true,"max_completion_tokens":"9"}`: 422,
	} {
		reply, err := http.Post(server.URL+"/deployed/chat/completions?api-version=2026-01-01&stage=two", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
		if reply.StatusCode != want {
			t.Errorf("%s: %d, want %d", body, reply.StatusCode, want)
		}
	}
}
