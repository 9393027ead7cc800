package exchange_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/api/exchange"

	"github.com/google/go-cmp/cmp"
	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/chat"
	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/record"
)

// A wireRequest is one line of the golden requests: what a server saw of vLLM's
// client. Its body is parsed JSON with the order of the keys kept.
type wireRequest struct {
	N       int             `json:"n"`
	Path    string          `json:"path"`
	Headers http.Header     `json:"headers"`
	Body    json.RawMessage `json:"body"`
}

// goldenRequests are the requests of one golden run, with what made them.
var goldenRequests = []struct {
	file   string
	body   request.Body
	header []metrics.KV
}{
	{"completions", request.Body{Form: completions.Form, Model: "stub-32000", IgnoreEOS: true}, nil},
	{"rampup", request.Body{Form: completions.Form, Model: "stub-32000", IgnoreEOS: true}, nil},
	{"chat", request.Body{Model: "stub-32000", Form: chat.Form, IgnoreEOS: true, Extra: pyjson.Object{{Key: "temperature", Value: 0.0}, {Key: "top_p", Value: 0.9}}},
		[]metrics.KV{{Key: "x-foo", Value: "bar"}}},
}

func TestRequestsAreThoseOfVLLM(t *testing.T) {
	for _, test := range goldenRequests {
		for _, want := range readWire(t, test.file) {
			body, err := pyjson.Parse(string(want.Body))
			if err != nil {
				t.Fatal(err)
			}
			text := pyjson.Append(nil, body)
			encoded, err := test.body.Encoder()(turnOf(t, body.(pyjson.Object)), "")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(text), string(encoded)); diff != "" {
				t.Fatalf("%s %d: body (-want +got):\n%s", test.file, want.N, diff)
			}

			req := &engine.Request{ID: want.Headers.Get("X-Request-Id"), Body: encoded}
			got := received(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test" + want.Path, Header: exchange.Headers("", test.header)}, req)
			// The one is ours, the other not asked for.
			for _, name := range []string{"User-Agent", "Accept-Encoding"} {
				want.Headers.Del(name)
			}
			if agent := got.Header.Get("User-Agent"); !strings.HasPrefix(agent, "servebench/") {
				t.Errorf("User-Agent %q is not ours", agent)
			}
			got.Header.Del("User-Agent")
			if diff := cmp.Diff(want.Headers, got.Header); diff != "" || got.URL.Path != want.Path || got.Proto != "HTTP/1.1" {
				t.Fatalf("%s %d: %s %s, headers (-want +got):\n%s", test.file, want.N, got.Proto, got.URL, diff)
			}
		}
	}
}

func readWire(t *testing.T, name string) []wireRequest {
	t.Helper()
	file, err := os.Open("../../../testdata/golden/wire/" + name + ".requests.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var all []wireRequest
	for dec := json.NewDecoder(file); ; {
		var w wireRequest
		if err := dec.Decode(&w); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, w)
	}
}

// turnOf is the turn that body sends.
func turnOf(t *testing.T, body pyjson.Object) *dataset.Turn {
	t.Helper()
	var w struct {
		Prompt   string `json:"prompt"`
		Messages []struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"messages"`
		MaxTokens           int `json:"max_tokens"`
		MaxCompletionTokens int `json:"max_completion_tokens"`
	}
	if err := json.Unmarshal(pyjson.Append(nil, body), &w); err != nil {
		t.Fatal(err)
	}
	for _, m := range w.Messages {
		w.Prompt += m.Content[0].Text
	}
	return &dataset.Turn{Prompt: w.Prompt, OutputLen: w.MaxTokens + w.MaxCompletionTokens}
}

// received sends req and gives what the server saw, with Content-Length among
// the headers.
func received(t *testing.T, o *exchange.Endpoint, req *engine.Request) *http.Request {
	t.Helper()
	client, server := net.Pipe()
	o.Transport = wire.Connections{NetHTTP: netHTTP, Dial: func(context.Context, string, string) (net.Conn, error) { return client, nil }}.Transport()
	seen := make(chan *http.Request, 1)
	go func() {
		defer server.Close()
		r, err := http.ReadRequest(bufio.NewReader(server))
		if err == nil {
			var body []byte
			body, err = io.ReadAll(r.Body)
			if string(body) != string(req.Body) {
				t.Errorf("the server got %q, want %q", body, req.Body)
			}
		}
		if err != nil {
			t.Error(err)
		}
		seen <- r
	}()
	for range o.Send(t.Context(), time.Now(), req, &record.Record{}) {
	}
	return <-seen
}

func TestHeadersOfTheUserWin(t *testing.T) {
	header := exchange.Headers("secret", []metrics.KV{{Key: "content-type", Value: "text/x"}, {Key: "A", Value: "1"}, {Key: "a", Value: "2"}, {Key: "x-request-id", Value: "mine"}})
	got := received(t, &exchange.Endpoint{Protocol: completions.Protocol, URL: "http://server.test/v1", Header: header}, &engine.Request{ID: "r-1", Body: []byte("{}")})
	want := http.Header{"Accept": {"*/*"}, "A": {"2"}, "Authorization": {"Bearer secret"}, "Content-Length": {"2"}, "Content-Type": {"text/x"},
		"User-Agent": {exchange.UserAgent}, "X-Request-Id": {"r-1"}}
	if diff := cmp.Diff(want, got.Header); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}
