package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/loadgen/wire/wiretest"
	"github.com/servebench/servebench/metrics/record"
)

// wordServer tokenizes words of the form tN into the id N.
func wordServer(t *testing.T, calls *atomic.Int32) *Server {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /tokenize", func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		body, _ := io.ReadAll(r.Body)
		var req struct {
			Prompt  string
			Special bool `json:"add_special_tokens"`
		}
		if err := json.Unmarshal(body, &req); err != nil || string(body) != fmt.Sprintf(`{"model": "m", "prompt": %q, "add_special_tokens": %t}`, req.Prompt, req.Special) {
			t.Errorf("POST /tokenize %s", body)
		}
		ids := []int{}
		if req.Special {
			ids = append(ids, 1)
		}
		for word := range strings.FieldsSeq(req.Prompt) {
			var id int
			fmt.Sscanf(word, "t%d", &id)
			ids = append(ids, id)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"count": len(ids), "max_model_len": 100, "tokens": ids})
	})
	mux.HandleFunc("POST /detokenize", func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		body, _ := io.ReadAll(r.Body)
		var req struct{ Tokens []int }
		if err := json.Unmarshal(body, &req); err != nil || !strings.HasPrefix(string(body), `{"model": "m", "tokens": [`) {
			t.Errorf("POST /detokenize %s", body)
		}
		words := ""
		for _, id := range req.Tokens {
			words += fmt.Sprintf(" t%d", id)
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"prompt": words[1:]})
	})
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer key" {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":{"message":"who are you?"}}`)
			return
		}
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"m","root":"org/m","permission":[{"group":null}]},{"id":"lora"}]}`)
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "up 1\n") })
	web := httptest.NewServer(mux)
	transport := wire.Connections{NetHTTP: netHTTP}.Transport()
	t.Cleanup(func() { transport.CloseIdleConnections(); web.Close() })
	return &Server{URL: web.URL, Header: exchange.Headers("key", nil), Transport: transport}
}

// named are the names of models, each with what it was loaded from.
func named(models []Model) (text string) {
	for _, m := range models {
		text += m.ID + " " + m.Root + ", "
	}
	return text
}

func TestServerIsAsked(t *testing.T) {
	s := wordServer(t, new(atomic.Int32))
	models, err := s.Models(t.Context())
	if want := "m org/m, lora lora, "; err != nil || named(models) != want {
		t.Errorf("models %s, %v; want %s", named(models), err, want)
	}
	if text, err := s.Metrics(t.Context()); text != "up 1\n" || err != nil {
		t.Errorf("metrics %q, %v", text, err)
	}
	ids, err := s.Tokenize(t.Context(), "m", "t5 t6", false)
	if err != nil || !cmp.Equal([]int{5, 6}, ids) {
		t.Errorf("ids %v, %v", ids, err)
	}
	if text, err := (vocabulary{s, "m"}).text(t.Context(), ids); text != "t5 t6" || err != nil {
		t.Errorf("text %q, %v", text, err)
	}
}

// vLLM's client names a body's type only where it sends a body, and for the calls of the profiler.
func TestOnlyBodiesHaveAType(t *testing.T) {
	types := map[string]string{}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		types[r.URL.Path] = r.Header.Get("Content-Type")
		_, _ = io.WriteString(w, `{"data":[],"tokens":[1]}`)
	}))
	defer web.Close()
	s := &Server{URL: web.URL, Header: exchange.Headers("key", nil)}
	_, models := s.Models(t.Context())
	_, metrics := s.Metrics(t.Context())
	_, tokenize := s.Tokenize(t.Context(), "m", "t5", false)
	if err := errors.Join(models, metrics, s.StartProfile(t.Context()), s.StopProfile(t.Context()), tokenize); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"/v1/models": "", "/metrics": "", "/start_profile": "application/octet-stream", "/stop_profile": "application/octet-stream", "/tokenize": "application/json"}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Errorf("Content-Type by path (-want +got):\n%s", diff)
	}
}

func TestModelListsOfEveryShape(t *testing.T) {
	for reply, want := range map[string]string{
		`{"object":"list","data":[{"id":"m"}]}`:          "m m, ",
		`[{"id":"m","object":"model"},{"id":"n"},{}, 7]`: "m m, n n, ",
		` [ ]`:                      "",
		`{"models":[{"name":"m"}]}`: "",
		`null`:                      "",
		`{"data":[{"created":"2026-11-22","id":"m","permission":7,"root":"org/m","owned_by":["x"]}]}`: "m org/m, ",
		`"m"`:        "reading the reply of http://server.test/v1/models: it is of type string, not object",
		`7`:          "reading the reply of http://server.test/v1/models: it is of type number, not object",
		`[{"id":"m"`: "reading the reply of http://server.test/v1/models: unexpected end of JSON input",
	} {
		raw := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(reply), reply)
		s := &Server{URL: "http://server.test", Transport: wire.Connections{NetHTTP: netHTTP, Dial: wiretest.DialRaw([]byte(raw))}.Transport()}
		models, err := s.Models(t.Context())
		got := named(models)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s\nwant %s", reply, got, want)
		}
	}
}

func TestARepliesTypesAreNamedAsJSONHasThem(t *testing.T) {
	raw := "HTTP/1.1 200 OK\r\nContent-Length: 19\r\n\r\n{\"tokens\": [1, {}]}"
	s := &Server{URL: "http://server.test", Transport: wire.Connections{NetHTTP: netHTTP, Dial: wiretest.DialRaw([]byte(raw))}.Transport()}
	const want = `reading the reply of http://server.test/tokenize: "tokens" is of type object, not number`
	if _, err := s.Tokenize(t.Context(), "m", "x", false); err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

// TestTheQueryGoesWithEveryCall asks as Azure wants to be asked.
func TestTheQueryGoesWithEveryCall(t *testing.T) {
	var asked []string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.String())
		_, _ = io.WriteString(w, `{"tokens":[1],"prompt":"x"}`)
	}))
	defer web.Close()
	s := &Server{URL: web.URL + "/deployed", Query: "api-version=2026-01-01&x=a%20b"}
	_, models := s.Models(t.Context())
	_, metrics := s.Metrics(t.Context())
	_, tokens := s.Tokenize(t.Context(), "m", "x", false)
	if err := errors.Join(models, metrics, tokens, s.ResetPrefixCache(t.Context())); err != nil {
		t.Error(err)
	}
	const query = "?api-version=2026-01-01&x=a%20b"
	want := []string{"GET /deployed/v1/models" + query, "GET /deployed/metrics" + query, "POST /deployed/tokenize" + query, "POST /deployed/reset_prefix_cache" + query}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// llamaServer tokenizes as llama.cpp's server does: of a text that is called
// anything but content it makes no token. It counts the calls, and refuses one that
// comes beside four others.
func llamaServer(t *testing.T, calls *atomic.Int32) *Server {
	mux := http.NewServeMux()
	var atOnce atomic.Int32
	mux.HandleFunc("POST /tokenize", func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		defer atOnce.Add(-1)
		if atOnce.Add(1) > 4 {
			http.Error(w, "too many", http.StatusServiceUnavailable)
		}
		var asked struct {
			Content string
			Special bool `json:"add_special"`
		}
		_ = json.NewDecoder(r.Body).Decode(&asked)
		ids := []int{}
		if asked.Special {
			ids = append(ids, 1)
		}
		for word := range strings.FieldsSeq(asked.Content) {
			var id int
			_, _ = fmt.Sscanf(word, "t%d", &id)
			ids = append(ids, id)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"tokens": ids})
	})
	mux.HandleFunc("POST /detokenize", func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		var asked struct{ Tokens []int }
		_ = json.NewDecoder(r.Body).Decode(&asked)
		var words []string
		for _, id := range asked.Tokens {
			words = append(words, fmt.Sprintf("t%d", id))
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"content": strings.Join(words, " ")})
	})
	web := httptest.NewServer(mux)
	transport := wire.Connections{NetHTTP: netHTTP}.Transport()
	t.Cleanup(func() { transport.CloseIdleConnections(); web.Close() })
	return &Server{URL: web.URL, Transport: transport}
}

func TestLlamaCppsTokenizerIsOne(t *testing.T) {
	var calls atomic.Int32
	words, err := llamaServer(t, &calls).Tokenizer(t.Context(), "m", 100)
	if err != nil {
		t.Fatal(err)
	}
	before := calls.Load()
	if ids := words.Encode("t5 t6", false); !cmp.Equal([]int{5, 6}, ids) || words.Decode(ids) != "t5 t6" || words.NumSpecial() != 1 || words.Err() != nil {
		t.Errorf("ids %v, text %q, %d special, %v", ids, words.Decode(ids), words.NumSpecial(), words.Err())
	}
	if n := calls.Load() - before; n != 2 {
		t.Errorf("%d calls for a text and its ids", n)
	}
	var group sync.WaitGroup
	for range 100 {
		group.Go(func() { words.Encode("t5 t6", false) })
	}
	if group.Wait(); words.Err() != nil {
		t.Error(words.Err())
	}
	s := llamaServer(t, &calls)
	if ids, err := s.Tokenize(t.Context(), "m", "t1 t2 t3", false); len(ids) != 3 || err != nil {
		t.Errorf("ids %v, %v", ids, err)
	}
	var turns []*dataset.Turn
	for range 100 {
		turns = append(turns, &dataset.Turn{Prompt: "t1 t2 t3", PromptLen: 2})
	}
	if err := s.Align(t.Context(), "m", turns); err != nil || turns[99].Prompt != "t1 t2" {
		t.Errorf("aligned to %q, %v", turns[99].Prompt, err)
	}
}

func TestServersTokenizerIsOneUntilItFails(t *testing.T) {
	s := wordServer(t, new(atomic.Int32))
	words, err := s.Tokenizer(t.Context(), "m", 100)
	if err != nil {
		t.Fatal(err)
	}
	if ids := words.Encode("t5 t6", false); !cmp.Equal([]int{5, 6}, ids) || words.Count("t5 t6 t7", false) != 3 || words.Decode(ids) != "t5 t6" {
		t.Errorf("ids %v, text %q", ids, words.Decode(ids))
	}
	if words.NumSpecial() != 1 || words.VocabSize() != 100 || words.SpecialIDs() != nil || words.Err() != nil {
		t.Errorf("vocabulary %d, special %v, %v", words.VocabSize(), words.SpecialIDs(), words.Err())
	}
	s.URL = "http://127.0.0.1:1"
	if ids := words.Encode("t5", false); ids != nil || words.Err() == nil {
		t.Errorf("without a server: ids %v, %v", ids, words.Err())
	}
	if text := words.Decode([]int{5}); text != "" {
		t.Errorf("after a failure: %q", text)
	}
}

func TestServerFailsByClass(t *testing.T) {
	s := wordServer(t, new(atomic.Int32))
	s.Header = nil
	_, err := s.Models(t.Context())
	f, ok := errors.AsType[*record.Failure](err)
	if !ok || f.Class != record.Status || err.Error() != s.URL+"/v1/models: 401 Unauthorized: who are you?" {
		t.Errorf("without a key: %v", err)
	}
	if err := s.get("/metrics").decode(t.Context(), &struct{}{}); err == nil || !strings.HasPrefix(err.Error(), "reading the reply of "+s.URL+"/metrics: ") {
		t.Errorf("no JSON: %v", err)
	}

	gone := httptest.NewServer(nil)
	gone.Close()
	s.URL = gone.URL
	_, err = s.Models(t.Context())
	f, ok = errors.AsType[*record.Failure](err)
	if !ok || f.Class != record.Refused || !strings.HasPrefix(err.Error(), gone.URL+"/v1/models: ") {
		t.Errorf("without a server: %v", err)
	}
}

func TestAlignCutsWhatIsTooLong(t *testing.T) {
	var calls atomic.Int32
	s := wordServer(t, &calls)
	var turns []*dataset.Turn
	for i := range 200 {
		turns = append(turns, &dataset.Turn{Prompt: fmt.Sprintf("t%d t1 t2", i), PromptLen: 1 + i%4})
	}
	if err := s.Align(t.Context(), "m", turns); err != nil {
		t.Fatal(err)
	}
	for i, turn := range turns {
		want := []string{fmt.Sprintf("t%d", i), "t1", "t2"}[:min(3, 1+i%4)]
		if turn.Prompt != strings.Join(want, " ") || turn.PromptLen != 1+i%4 {
			t.Errorf("turn %d: %q of %d tokens, want %q", i, turn.Prompt, turn.PromptLen, want)
		}
	}
	if n := calls.Load(); n != 200+100 {
		t.Errorf("%d calls, want one each and another for those too long", n)
	}
	s.URL += "/nowhere"
	if err := s.Align(t.Context(), "m", turns); err == nil {
		t.Error("no error from a server that cannot tokenize")
	}
}

func TestOtherShapesOfReplyAreNoTokenizer(t *testing.T) {
	for _, replies := range [][2]string{
		{`{"tokens":[]}`, `{"content":"a"}`},
		{`{"tokens":[1]}`, `{"content":""}`},
		{`{"tokens":[1]}`, `{"text":"a"}`},
		{`{"ids":[1]}`, `{"prompt":"a"}`},
		{`{"tokens":[1]}`, `{"prompt":""}`},
	} {
		mux := http.NewServeMux()
		mux.HandleFunc("POST /tokenize", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, replies[0]) })
		mux.HandleFunc("POST /detokenize", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, replies[1]) })
		web := httptest.NewServer(mux)
		transport := wire.Connections{NetHTTP: netHTTP}.Transport()
		s := &Server{URL: web.URL, Transport: transport}
		if _, err := s.Tokenizer(t.Context(), "m", 10); err == nil {
			t.Errorf("%s, %s: taken for a tokenizer", replies[0], replies[1])
		}
		if replies[1] == `{"text":"a"}` {
			turn := &dataset.Turn{Prompt: "a b"}
			if err := s.Align(t.Context(), "m", []*dataset.Turn{turn}); err == nil || turn.Prompt != "a b" {
				t.Errorf("aligned to %q, %v", turn.Prompt, err)
			}
		}
		transport.CloseIdleConnections()
		web.Close()
	}
}
