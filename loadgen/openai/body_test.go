package openai

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/dataset"
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
	body   Body
	header []metrics.KV
}{
	{"completions", Body{Model: "stub-32000", IgnoreEOS: true}, nil},
	{"rampup", Body{Model: "stub-32000", IgnoreEOS: true}, nil},
	{"chat", Body{Model: "stub-32000", Protocol: Chat, IgnoreEOS: true, Extra: pyjson.Object{{Key: "temperature", Value: 0.0}, {Key: "top_p", Value: 0.9}}},
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
			encoded, err := test.body.Encoder()(turnOf(t, body.(pyjson.Object)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(text), string(encoded)); diff != "" {
				t.Fatalf("%s %d: body (-want +got):\n%s", test.file, want.N, diff)
			}

			req := &engine.Request{ID: want.Headers.Get("X-Request-Id"), Body: encoded}
			got := received(t, &Endpoint{URL: "http://server.test" + want.Path, Header: Headers("", test.header)}, req)
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
	file, err := os.Open("../../testdata/golden/wire/" + name + ".requests.jsonl")
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
func received(t *testing.T, o *Endpoint, req *engine.Request) *http.Request {
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

func TestBodyOfEveryKindOfTurn(t *testing.T) {
	two := 2
	image := []dataset.Medium{{Kind: dataset.Image, Part: json.RawMessage(`{"type": "image_url", "image_url": {"url": "data:é"}}`)}}
	parts := json.RawMessage(`[{"type":"text","text":"é"}]`)
	for _, test := range []struct {
		name string
		body Body
		turn dataset.Turn
		want string // the start of it, or of the error
	}{
		{"text", Body{Model: "m"}, dataset.Turn{Prompt: "é \"x\"\n\U0001f642", OutputLen: 5},
			`{"model": "m", "prompt": "\u00e9 \"x\"\n\ud83d\ude42", "repetition_penalty": 1.0, "max_tokens": 5, "logprobs": null, "stream": true, "stream_options": {"include_usage": true}}`},
		{"text that is not UTF-8", Body{Model: "m"}, dataset.Turn{Prompt: "a\xffb\u00e9\x7f"}, `{"model": "m", "prompt": "a\ufffdb\u00e9\u007f", `},
		{"token ids", Body{Model: "m", Logprobs: &two}, dataset.Turn{TokenIDs: []int{1, 2, 300}, OutputLen: 5},
			`{"model": "m", "prompt": [1, 2, 300], "repetition_penalty": 1.0, "max_tokens": 5, "logprobs": 2, "stream": true`},
		{"extra over the rest", Body{Model: "m", Extra: pyjson.Object{{Key: "top_k", Value: 3}, {Key: "max_tokens", Value: 16}, {Key: "repetition_penalty", Value: 1.5}}}, dataset.Turn{Prompt: "x", OutputLen: 5},
			`{"model": "m", "prompt": "x", "repetition_penalty": 1.5, "max_tokens": 16, "logprobs": null, "stream": true, "stream_options": {"include_usage": true}, "top_k": 3}`},
		{"messages", Body{Model: "m", Protocol: Chat}, dataset.Turn{Messages: json.RawMessage(`[{"role":"system","content":"é"}]`), OutputLen: 5},
			`{"model": "m", "messages": [{"role": "system", "content": "\u00e9"}], "max_completion_tokens": 5, "stream": true`},
		{"text as parts", Body{Model: "m", Protocol: Chat}, dataset.Turn{Prompt: "x", OutputLen: 5},
			`{"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}], "max_completion_tokens": 5, "stream": true`},
		{"text as a string", Body{Model: "m", Protocol: Chat, PlainText: true}, dataset.Turn{Prompt: "x", OutputLen: 5},
			`{"model": "m", "messages": [{"role": "user", "content": "x"}], "max_completion_tokens": 5, "stream": true`},
		{"parts as strings", Body{Model: "m", Protocol: Chat, PlainText: true}, dataset.Turn{Messages: json.RawMessage(
			`[{"role":"system","content":"s"},{"content":[{"type":"text","text":"a"},{"text":"b","type":"text"}],"role":"user"},{"role":"assistant","tool_calls":[]}]`), OutputLen: 5},
			`{"model": "m", "messages": [{"role": "system", "content": "s"}, {"content": "a\nb", "role": "user"}, {"role": "assistant", "tool_calls": []}], "max_`},
		{"the server decides the length", Body{Model: "m", Protocol: Chat}, dataset.Turn{Messages: json.RawMessage(`[]`)}, `{"model": "m", "messages": [], "stream": true`},
		{"the server decides the length of a text", Body{Model: "m", Extra: pyjson.Object{{Key: "max_tokens", Value: 9}}}, dataset.Turn{Prompt: "x"},
			`{"model": "m", "prompt": "x", "repetition_penalty": 1.0, "logprobs": null, "stream": true, "stream_options": {"include_usage": true}, "max_tokens": 9}`},
		{"a picture as a string", Body{Model: "m", Protocol: Chat, PlainText: true}, dataset.Turn{Messages: json.RawMessage(
			`[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:"}}]}]`)},
			"message 2: its content has a part of type image_url, and a string holds only text"},
		{"members dropped", Body{Model: "m", IgnoreEOS: true, Drop: []string{"ignore_eos", "repetition_penalty", "logprobs", "stream_options", "top_k"}, Extra: pyjson.Object{{Key: "top_k", Value: 3}, {Key: "seed", Value: nil}}},
			dataset.Turn{Prompt: "x", OutputLen: 5}, `{"model": "m", "prompt": "x", "max_tokens": 5, "stream": true, "seed": null}`},
		{"messages without chat", Body{Model: "m"}, dataset.Turn{Messages: json.RawMessage(`[]`)}, "a completions endpoint takes no messages: use --backend openai-chat --endpoint /v1/chat/completions"},
		{"token ids in chat", Body{Model: "m", Protocol: Chat}, dataset.Turn{TokenIDs: []int{1}}, "a chat endpoint takes no token ids"},
		{"a batch", Body{Model: "m"}, dataset.Turn{Payload: &dataset.Payload{Batch: []string{"a", "é"}}, OutputLen: 5},
			`{"model": "m", "prompt": ["a", "\u00e9"], "repetition_penalty": 1.0, "max_tokens": 5, `},
		{"a batch in chat", Body{Model: "m", Protocol: Chat}, dataset.Turn{Payload: &dataset.Payload{Batch: []string{"a"}}}, "a chat endpoint takes one prompt in a request"},
		{"a batch of responses", Body{Model: "m", Protocol: Responses}, dataset.Turn{Payload: &dataset.Payload{Batch: []string{"a"}}}, "a responses endpoint takes one prompt in a request"},
		{"an image", Body{Model: "m", Protocol: Chat}, dataset.Turn{Prompt: "x", Payload: &dataset.Payload{Media: image}, OutputLen: 5},
			`{"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": "data:\u00e9"}}]}], "max_completion_tokens": 5, "stream": true`},
		{"an image with a completion", Body{Model: "m"}, dataset.Turn{Prompt: "x", Payload: &dataset.Payload{Media: image}, OutputLen: 5},
			`{"model": "m", "prompt": "x", "repetition_penalty": 1.0, "max_tokens": 5, `},
		{"an image with a response", Body{Model: "m", Protocol: Responses}, dataset.Turn{Prompt: "x", Payload: &dataset.Payload{Media: image}, OutputLen: 5},
			`{"model": "m", "input": "x", "max_output_tokens": 5, "stream": true, "store": false}`},
		{"ready messages with an image", Body{Model: "m", Protocol: Chat}, dataset.Turn{Messages: json.RawMessage(`[]`), Payload: &dataset.Payload{Media: image}, OutputLen: 5},
			`{"model": "m", "messages": [], "max_completion_tokens": 5, "stream": true`},
		{"an image as a string", Body{Model: "m", Protocol: Chat, PlainText: true}, dataset.Turn{Prompt: "x", Payload: &dataset.Payload{Media: image}},
			"message 1: its content has a part of type image_url, and a string holds only text"},
		{"a file in chat", Body{Model: "m", Protocol: Chat}, dataset.Turn{Prompt: "x", Payload: &dataset.Payload{Media: []dataset.Medium{{Kind: dataset.Sound, Upload: &dataset.Upload{}}}}},
			"a chat endpoint takes no audio as a file"},
		{"parts", Body{Model: "m", Protocol: Chat}, dataset.Turn{Payload: &dataset.Payload{Content: parts, Media: image}, OutputLen: 5},
			`{"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "\u00e9"}, {"type": "image_url", "image_url": {"url": "data:\u00e9"}}]}], "max_`},
		{"parts of a response", Body{Model: "m", Protocol: Responses}, dataset.Turn{Payload: &dataset.Payload{Content: parts}, OutputLen: 5},
			`{"model": "m", "input": [{"type": "text", "text": "\u00e9"}], "max_output_tokens": 5, `},
		{"parts of a completion", Body{Model: "m"}, dataset.Turn{Payload: &dataset.Payload{Content: json.RawMessage(`[{"type": "text", "text": "a"}]`)}, OutputLen: 5},
			`{"model": "m", "prompt": [{"type": "text", "text": "a"}], "repetition_penalty": 1.0, `},
		{"parts that are no list", Body{Model: "m", Protocol: Chat}, dataset.Turn{Payload: &dataset.Payload{Content: json.RawMessage(`{}`)}}, "the parts of a prompt are no list: {}"},
		{"members", Body{Model: "m", Extra: pyjson.Object{{Key: "tool_choice", Value: "required"}, {Key: "top_p", Value: 0.5}}},
			dataset.Turn{Prompt: "x", Payload: &dataset.Payload{Members: json.RawMessage(`{"tools":[{"é":1}],"tool_choice":"auto","max_tokens":1.0}`)}, OutputLen: 5},
			`{"model": "m", "prompt": "x", "repetition_penalty": 1.0, "max_tokens": 1.0, "logprobs": null, "stream": true, "stream_options": {"include_usage": true}, "tool_choice": "auto", "top_p": 0.5, "tools": [{"\u00e9": 1}]}`},
		{"a member dropped", Body{Model: "m", Drop: []string{"tools"}}, dataset.Turn{Prompt: "x", Payload: &dataset.Payload{Members: json.RawMessage(`{"tools": []}`)}},
			`{"model": "m", "prompt": "x", "repetition_penalty": 1.0, "logprobs": null, "stream": true, "stream_options": {"include_usage": true}}`},
		{"members that are no object", Body{Model: "m"}, dataset.Turn{Payload: &dataset.Payload{Members: json.RawMessage(`[1]`)}}, "the members of a request are no object: [1]"},
		{"broken messages", Body{Model: "m", Protocol: Chat}, dataset.Turn{Messages: json.RawMessage(`[`)}, "reading messages: "},
	} {
		for _, encode := range []func(*dataset.Turn) ([]byte, error){test.body.Encode, test.body.Encoder()} {
			got, err := encode(&test.turn)
			if err != nil {
				got = []byte(err.Error())
			}
			if !strings.HasPrefix(string(got), test.want) {
				t.Errorf("%s: %s\nwant %s", test.name, got, test.want)
			}
		}
	}
}

func TestEncodingLeavesExtraAlone(t *testing.T) {
	body := Body{Model: "m", Extra: pyjson.Object{{Key: "max_tokens", Value: 16}, {Key: "top_k", Value: 3}}}
	for range 2 {
		if _, err := body.Encode(&dataset.Turn{Prompt: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	if want := (pyjson.Object{{Key: "max_tokens", Value: 16}, {Key: "top_k", Value: 3}}); !cmp.Equal(want, body.Extra) {
		t.Errorf("Extra is now %v", body.Extra)
	}
}

func TestHeadersOfTheUserWin(t *testing.T) {
	header := Headers("secret", []metrics.KV{{Key: "content-type", Value: "text/x"}, {Key: "A", Value: "1"}, {Key: "a", Value: "2"}, {Key: "x-request-id", Value: "mine"}})
	got := received(t, &Endpoint{URL: "http://server.test/v1", Header: header}, &engine.Request{ID: "r-1", Body: []byte("{}")})
	want := http.Header{"Accept": {"*/*"}, "A": {"2"}, "Authorization": {"Bearer secret"}, "Content-Length": {"2"}, "Content-Type": {"text/x"},
		"User-Agent": {userAgent}, "X-Request-Id": {"r-1"}}
	if diff := cmp.Diff(want, got.Header); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
}

func BenchmarkBody(b *testing.B) {
	body := Body{Model: "stub-32000", IgnoreEOS: true}
	for name, encode := range map[string]func(*dataset.Turn) ([]byte, error){"whole": body.Encode, "framed": body.Encoder()} {
		for _, tokens := range []int{1, 1000} {
			b.Run(fmt.Sprintf("%s/tokens=%d", name, tokens), func(b *testing.B) {
				turn := dataset.Turn{Prompt: strings.Repeat(" token", tokens), OutputLen: 100}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := encode(&turn); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func TestEncoderDoesWhatEncodeDoes(t *testing.T) {
	zero := 0
	for _, body := range []Body{
		{Model: "m", Protocol: Responses, IgnoreEOS: true}, {Model: "m"}, {Model: "m", Protocol: Chat}, {Model: "m", Protocol: Chat, PlainText: true, IgnoreEOS: true, UsageAlways: true},
		{Model: "m", Logprobs: &zero, Drop: []string{"max_tokens"}}, {Model: "m", Drop: []string{"prompt"}},
		{Model: "m", Extra: pyjson.Object{{Key: "prompt", Value: "other"}}}, {Model: "m", Extra: pyjson.Object{{Key: "max_tokens", Value: 7}}},
		{Model: "m", Extra: pyjson.Object{{Key: "note", Value: "\x00prompt\x00"}}}, {Model: "\x00prompt\x00"}, {Model: "-9223372036854775808"},
	} {
		encode := body.Encoder()
		for _, turn := range []dataset.Turn{
			{}, {Prompt: "naïve \"日本語\"", OutputLen: 12}, {TokenIDs: []int{1, 70_000}, OutputLen: 1}, {TokenIDs: []int{}},
			{Messages: json.RawMessage(`[{"role":"user","content":"Hi"}]`), OutputLen: 3},
			{Messages: json.RawMessage(`[{"role": "user", "content": "H\u00e9 \"content\": ["}, {"role": "assistant", "content": null}]`), OutputLen: 3},
			{Messages: json.RawMessage(`[{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]`)},
			{Messages: json.RawMessage(`["\u0000prompt\u0000"]`)}, {Messages: json.RawMessage(`[`)}, {Messages: json.RawMessage(`null`)}, {Prompt: "\x00prompt\x00", OutputLen: -1}, {Prompt: "open"}, {TokenIDs: []int{1}},
		} {
			want, wantErr := body.Encode(&turn)
			got, err := encode(&turn)
			if string(got) != string(want) || (err == nil) != (wantErr == nil) {
				t.Errorf("%+v makes %s, %v of %+v, want %s, %v", body, got, err, turn, want, wantErr)
			}
		}
	}
}

func FuzzMessagesAreEncodedAlike(f *testing.F) {
	f.Add(`[{"role": "user", "content": "Hi"}]`, false)
	f.Add(`[{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}]`, true)
	f.Add(`[{"role":"user","content":"é"}]`, true)
	f.Fuzz(func(t *testing.T, messages string, plain bool) {
		body := Body{Model: "m", Protocol: Chat, PlainText: plain}
		turn := dataset.Turn{Messages: json.RawMessage(messages), OutputLen: len(messages) % 2}
		want, wantErr := body.Encode(&turn)
		if got, err := body.Encoder()(&turn); string(got) != string(want) || (err == nil) != (wantErr == nil) {
			t.Errorf("%s became %s, %v, want %s, %v", messages, got, err, want, wantErr)
		}
	})
}

// longChat is a conversation of n turns with about 100,000 tokens, whose messages are spelled as
// json.dumps does or without spaces.
func longChat(n int, spelled bool) *dataset.Conversation {
	said := strings.Repeat(`Then it says \"yes\",\nand the client goes on with the next word. `, 100_000/(2*n*15))
	c := &dataset.Conversation{Turns: make([]dataset.Turn, n)}
	for i := range c.Turns {
		user, answer := `[{"role": "user", "content": "`+said+`"}]`, `{"role": "assistant", "content": "`+said+`"}`
		if !spelled {
			user, answer = strings.ReplaceAll(user, `": `, `":`), strings.ReplaceAll(answer, `": `, `":`)
		}
		c.Turns[i] = dataset.Turn{Messages: json.RawMessage(user), Answer: json.RawMessage(answer), OutputLen: 100}
	}
	return c
}

func BenchmarkLongHistory(b *testing.B) {
	body := Body{Model: "m", Protocol: Chat}
	for name, encode := range map[string]func(*dataset.Turn) ([]byte, error){"parsed": body.Encode, "copied": body.Encoder()} {
		b.Run(name, func(b *testing.B) {
			c := longChat(50, true)
			for b.Loop() {
				turn, err := c.Prompted(49, nil)
				if err != nil {
					b.Fatal(err)
				}
				text, err := encode(&turn)
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(len(text)))
			}
		})
	}
}

func TestABodyIsOneAllocation(t *testing.T) {
	encode := (&Body{Model: "m", IgnoreEOS: true}).Encoder()
	turn := &dataset.Turn{Prompt: " token", OutputLen: 1}
	if n := testing.AllocsPerRun(10, func() { encode(turn) }); n > 2 { // its text, and the prompt as a value
		t.Errorf("a body takes %v allocations", n)
	}
}

func TestContinuousUsageIsAskedForOnRequest(t *testing.T) {
	for _, chat := range []bool{false, true} {
		body := Body{Model: "m", Protocol: chatOr(chat), UsageAlways: true}
		text, err := body.Encode(&dataset.Turn{Prompt: "Hi", OutputLen: 1})
		const want = `"stream": true, "stream_options": {"include_usage": true, "continuous_usage_stats": true}`
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s, %v", text, err)
		}
	}
}
