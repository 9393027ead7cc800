package openai

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/loadgen/wire/wiretest"
	"github.com/servebench/servebench/metrics/record"
)

// longestFailure bounds what is kept of a server's words, in bytes.
const longestFailure = 1500

func TestEndlessRepliesToCallsFail(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
	for _, test := range []struct {
		name, head, again string
		call              func(*Server) error
	}{
		{"models", head + `{"data":[`, `{"id":"m"},`, func(s *Server) error { _, err := s.Models(t.Context()); return err }},
		{"metrics", head, "vllm:num_requests_running{a=\"b\"} 1\n", func(s *Server) error { _, err := s.ServerSample(t.Context()); return err }},
		{"tokenize", head + `{"tokens":[`, "1,", func(s *Server) error { _, err := s.Tokenize(t.Context(), "m", "a", false); return err }},
		{"detokenize", head + `{"prompt":"`, "a", func(s *Server) error { _, err := vocabulary{s, "m"}.text(t.Context(), nil); return err }},
		{"reset", head, "a", func(s *Server) error { return s.ResetPrefixCache(t.Context()) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			bad := &wiretest.BadServer{Head: test.head, Again: test.again, Well: wiretest.Whole("200 OK", `{"data":[],"tokens":[],"prompt":""}`)}
			transport := wire.Connections{NetHTTP: netHTTP, Dial: wiretest.Narrowly}.Transport()
			defer transport.CloseIdleConnections()
			s := &Server{URL: bad.Start(t), Transport: transport}
			before := wiretest.Mallocs()
			err := test.call(s)
			if grown := wiretest.Mallocs() - before; grown > 160<<20 {
				t.Errorf("%d MiB were allocated", grown>>20)
			}
			if f, ok := errors.AsType[*record.Failure](err); !ok || f.Class != record.Malformed || !strings.Contains(err.Error(), "the reply is longer than 16 MiB") {
				t.Errorf("error %v", err)
			}
			if sent := bad.Sent.Load(); sent > maxReply+wiretest.InFlight {
				t.Errorf("%d bytes of the reply were taken", sent)
			}
			if _, err := s.Models(t.Context()); err != nil {
				t.Errorf("the next call: %v", err)
			}
		})
	}
}

func TestOddRepliesToCalls(t *testing.T) {
	name := strings.Repeat("m", maxName)
	for _, test := range []struct {
		name, reply string
		models      int // -1 for an error
	}{
		{"a million models", wiretest.Whole("200 OK", `{"data":[`+strings.Repeat(`{"id":"m"},`, 1e6)+`{"id":"m"}]}`), 4096},
		{"a million of nothing", wiretest.Whole("200 OK", `{"data":[`+strings.Repeat(`{},`, 1e6)+`{"id":"m"}]}`), 0},
		{"names that are none", wiretest.Whole("200 OK", `{"data":[{"id":"a\u001b[31m"},{"id":""},{"id":7},7,{"id":"`+name+`a"},{"id":"`+name+`"},{"id":"m","root":"\u0000"}]}`), 2},
		{"another type", wiretest.Whole("200 OK", `{"data":{"id":"m"}}`), 0},
		{"permissions without end", wiretest.Whole("200 OK", `{"data":[{"id":"m","permission":[{}`+strings.Repeat(",{}", 5<<20)+`]}]}`), 1},
		{"depth", wiretest.Whole("200 OK", `{"data":`+strings.Repeat("[", 1<<20)+strings.Repeat("]", 1<<20)+`}`), -1},
		{"a number beyond reason", wiretest.Whole("200 OK", `{"data":[],"x":`+strings.Repeat("9", 1<<20)+`}`), 0},
		{"unasked gzip", wiretest.Whole("200 OK\r\nContent-Encoding: gzip", "\x1f\x8b"), -1},
		{"another kind of JSON", wiretest.Whole("200 OK", `"`+strings.Repeat("9", 1<<20)+`"`), -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			bad := &wiretest.BadServer{Head: test.reply}
			transport := wire.Connections{NetHTTP: netHTTP}.Transport()
			defer transport.CloseIdleConnections()
			s := &Server{URL: bad.Start(t), Transport: transport}
			before := wiretest.Mallocs()
			models, err := s.Models(t.Context())
			if grown := wiretest.Mallocs() - before; grown > 160<<20 {
				t.Errorf("%d MiB were allocated", grown>>20)
			}
			if (err != nil) != (test.models < 0) || err == nil && len(models) != test.models || err != nil && len(err.Error()) > 2*longestFailure {
				t.Errorf("%d models, error %.1000v", len(models), err)
			}
			for _, m := range models {
				if !isName(m.ID) || !isName(m.Root) {
					t.Errorf("model %+v", m)
				}
			}
		})
	}
}

func TestATokenCountBeyondReasonIsAnError(t *testing.T) {
	bad := &wiretest.BadServer{Head: wiretest.Whole("200 OK", `{"tokens":[1,`+strings.Repeat("9", 1<<20)+`]}`)}
	transport := wire.Connections{NetHTTP: netHTTP}.Transport()
	defer transport.CloseIdleConnections()
	s := &Server{URL: bad.Start(t), Transport: transport}
	if ids, err := s.Tokenize(t.Context(), "m", "a", false); err == nil || len(err.Error()) > 2*longestFailure {
		t.Errorf("%d ids, error %.1000v", len(ids), err)
	}
}

func FuzzAnyReplyToACallGivesAnAnswerOrAnError(f *testing.F) {
	f.Add(200, []byte(`{"data":[{"id":"m","root":"r"},{}],"tokens":[1,2],"prompt":"a"}`))
	f.Add(200, []byte("vllm:num_requests_running{engine=\"0\"} 3\nDCGM_FI_DEV_GPU_UTIL{gpu=\"0\"} 5\n"))
	f.Add(404, []byte(`{"detail":[{"loc":["a",1],"msg":"b"}]}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		asked := func() *Server {
			reply := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body))}
			return &Server{URL: "http://server.test", Transport: wiretest.Replying{Reply: reply}}
		}
		models, err := asked().Models(t.Context())
		for _, m := range models {
			if !isName(m.ID) || !isName(m.Root) {
				t.Errorf("model %+v", m)
			}
		}
		_, more := asked().Tokenize(t.Context(), "m", "a", true)
		_, text := vocabulary{asked(), "m"}.text(t.Context(), nil)
		for _, err := range []error{err, more, text} {
			if err != nil && (!utf8.ValidString(err.Error()) || len(err.Error()) > 2*longestFailure || strings.ContainsRune(err.Error(), 0x1b)) {
				t.Errorf("error %q", err)
			}
		}
		if sample, err := asked().ServerSample(t.Context()); (sample == nil) == (err == nil) {
			t.Errorf("sample %+v, %v", sample, err)
		}
		if gpus, err := asked().GPUs(t.Context()); (len(gpus) == 0) == (err == nil) {
			t.Errorf("GPUs %+v, %v", gpus, err)
		}
	})
}
