package request_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/chat"
	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/loadgen/api/responses"
	"github.com/servebench/servebench/metrics/pyjson"
)

// unnamed encodes turns without ids.
func unnamed(encode request.Encoder) func(*dataset.Turn) ([]byte, error) {
	return func(turn *dataset.Turn) ([]byte, error) { return encode(turn, "") }
}

func TestBodyOfEveryKindOfTurn(t *testing.T) {
	two := 2
	image := []dataset.Medium{{Kind: dataset.Image, Part: json.RawMessage(`{"type": "image_url", "image_url": {"url": "data:é"}}`)}}
	parts := json.RawMessage(`[{"type":"text","text":"é"}]`)
	for _, test := range []struct {
		name string
		body request.Body
		turn dataset.Turn
		want string // the start of it, or of the error
	}{
		{"text", request.Body{Form: completions.Form, Model: "m"}, dataset.Turn{Prompt: "é \"x\"\n\U0001f642", OutputLen: 5},
			`{"model": "m", "prompt": "\u00e9 \"x\"\n\ud83d\ude42", "repetition_penalty": 1.0, "max_tokens": 5, "logprobs": null, "stream": true, "stream_options": {"include_usage": true}}`},
		{"text that is not UTF-8", request.Body{Form: completions.Form, Model: "m"}, dataset.Turn{Prompt: "a\xffb\u00e9\x7f"}, `{"model": "m", "prompt": "a\ufffdb\u00e9\u007f", `},
		{"token ids", request.Body{Form: completions.Form, Model: "m", Logprobs: &two}, dataset.Turn{TokenIDs: []int{1, 2, 300}, OutputLen: 5},
			`{"model": "m", "prompt": [1, 2, 300], "repetition_penalty": 1.0, "max_tokens": 5, "logprobs": 2, "stream": true`},
		{"extra over the rest", request.Body{Form: completions.Form, Model: "m", Extra: pyjson.Object{{Key: "top_k", Value: 3}, {Key: "max_tokens", Value: 16}, {Key: "repetition_penalty", Value: 1.5}}}, dataset.Turn{Prompt: "x", OutputLen: 5},
			`{"model": "m", "prompt": "x", "repetition_penalty": 1.5, "max_tokens": 16, "logprobs": null, "stream": true, "stream_options": {"include_usage": true}, "top_k": 3}`},
		{"messages", request.Body{Model: "m", Form: chat.Form}, dataset.Turn{Messages: json.RawMessage(`[{"role":"system","content":"é"}]`), OutputLen: 5},
			`{"model": "m", "messages": [{"role": "system", "content": "\u00e9"}], "max_completion_tokens": 5, "stream": true`},
		{"text as parts", request.Body{Model: "m", Form: chat.Form}, dataset.Turn{Prompt: "x", OutputLen: 5},
			`{"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}], "max_completion_tokens": 5, "stream": true`},
		{"text as a string", request.Body{Model: "m", Form: chat.Form, PlainText: true}, dataset.Turn{Prompt: "x", OutputLen: 5},
			`{"model": "m", "messages": [{"role": "user", "content": "x"}], "max_completion_tokens": 5, "stream": true`},
		{"parts as strings", request.Body{Model: "m", Form: chat.Form, PlainText: true}, dataset.Turn{Messages: json.RawMessage(
			`[{"role":"system","content":"s"},{"content":[{"type":"text","text":"a"},{"text":"b","type":"text"}],"role":"user"},{"role":"assistant","tool_calls":[]}]`), OutputLen: 5},
			`{"model": "m", "messages": [{"role": "system", "content": "s"}, {"content": "a\nb", "role": "user"}, {"role": "assistant", "tool_calls": []}], "max_`},
		{"the server decides the length", request.Body{Model: "m", Form: chat.Form}, dataset.Turn{Messages: json.RawMessage(`[]`)}, `{"model": "m", "messages": [], "stream": true`},
		{"the server decides the length of a text", request.Body{Form: completions.Form, Model: "m", Extra: pyjson.Object{{Key: "max_tokens", Value: 9}}}, dataset.Turn{Prompt: "x"},
			`{"model": "m", "prompt": "x", "repetition_penalty": 1.0, "logprobs": null, "stream": true, "stream_options": {"include_usage": true}, "max_tokens": 9}`},
		{"a picture as a string", request.Body{Model: "m", Form: chat.Form, PlainText: true}, dataset.Turn{Messages: json.RawMessage(
			`[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:"}}]}]`)},
			"message 2: its content has a part of type image_url, and a string holds only text"},
		{"members dropped", request.Body{Form: completions.Form, Model: "m", IgnoreEOS: true, Drop: []string{"ignore_eos", "repetition_penalty", "logprobs", "stream_options", "top_k"}, Extra: pyjson.Object{{Key: "top_k", Value: 3}, {Key: "seed", Value: nil}}},
			dataset.Turn{Prompt: "x", OutputLen: 5}, `{"model": "m", "prompt": "x", "max_tokens": 5, "stream": true, "seed": null}`},
		{"messages without chat", request.Body{Form: completions.Form, Model: "m"}, dataset.Turn{Messages: json.RawMessage(`[]`)}, "a completions endpoint takes no messages: use Server.Backend openai-chat Server.Endpoint /v1/chat/completions"},
		{"token ids in chat", request.Body{Model: "m", Form: chat.Form}, dataset.Turn{TokenIDs: []int{1}}, "a chat endpoint takes no token ids"},
		{"a batch", request.Body{Form: completions.Form, Model: "m"}, dataset.Turn{Payload: &dataset.Payload{Batch: []string{"a", "é"}}, OutputLen: 5},
			`{"model": "m", "prompt": ["a", "\u00e9"], "repetition_penalty": 1.0, "max_tokens": 5, `},
		{"a batch in chat", request.Body{Model: "m", Form: chat.Form}, dataset.Turn{Payload: &dataset.Payload{Batch: []string{"a"}}}, "a chat endpoint takes one prompt in a request"},
		{"a batch of responses", request.Body{Model: "m", Form: responses.Form}, dataset.Turn{Payload: &dataset.Payload{Batch: []string{"a"}}}, "a responses endpoint takes one prompt in a request"},
		{"an image", request.Body{Model: "m", Form: chat.Form}, dataset.Turn{Prompt: "x", Payload: &dataset.Payload{Media: image}, OutputLen: 5},
			`{"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": "data:\u00e9"}}]}], "max_completion_tokens": 5, "stream": true`},
		{"an image with a completion", request.Body{Form: completions.Form, Model: "m"}, dataset.Turn{Prompt: "x", Payload: &dataset.Payload{Media: image}, OutputLen: 5},
			`{"model": "m", "prompt": "x", "repetition_penalty": 1.0, "max_tokens": 5, `},
		{"an image with a response", request.Body{Model: "m", Form: responses.Form}, dataset.Turn{Prompt: "x", Payload: &dataset.Payload{Media: image}, OutputLen: 5},
			`{"model": "m", "input": "x", "max_output_tokens": 5, "stream": true, "store": false}`},
		{"ready messages with an image", request.Body{Model: "m", Form: chat.Form}, dataset.Turn{Messages: json.RawMessage(`[]`), Payload: &dataset.Payload{Media: image}, OutputLen: 5},
			`{"model": "m", "messages": [], "max_completion_tokens": 5, "stream": true`},
		{"an image as a string", request.Body{Model: "m", Form: chat.Form, PlainText: true}, dataset.Turn{Prompt: "x", Payload: &dataset.Payload{Media: image}},
			"message 1: its content has a part of type image_url, and a string holds only text"},
		{"a file in chat", request.Body{Model: "m", Form: chat.Form}, dataset.Turn{Prompt: "x", Payload: &dataset.Payload{Media: []dataset.Medium{{Kind: dataset.Sound, Upload: &dataset.Upload{}}}}},
			"a chat endpoint takes no audio as a file"},
		{"parts", request.Body{Model: "m", Form: chat.Form}, dataset.Turn{Payload: &dataset.Payload{Content: parts, Media: image}, OutputLen: 5},
			`{"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "\u00e9"}, {"type": "image_url", "image_url": {"url": "data:\u00e9"}}]}], "max_`},
		{"parts of a response", request.Body{Model: "m", Form: responses.Form}, dataset.Turn{Payload: &dataset.Payload{Content: parts}, OutputLen: 5},
			`{"model": "m", "input": [{"type": "text", "text": "\u00e9"}], "max_output_tokens": 5, `},
		{"parts of a completion", request.Body{Form: completions.Form, Model: "m"}, dataset.Turn{Payload: &dataset.Payload{Content: json.RawMessage(`[{"type": "text", "text": "a"}]`)}, OutputLen: 5},
			`{"model": "m", "prompt": [{"type": "text", "text": "a"}], "repetition_penalty": 1.0, `},
		{"parts that are no list", request.Body{Model: "m", Form: chat.Form}, dataset.Turn{Payload: &dataset.Payload{Content: json.RawMessage(`{}`)}}, "the parts of a prompt are no list: {}"},
		{"members", request.Body{Form: completions.Form, Model: "m", Extra: pyjson.Object{{Key: "tool_choice", Value: "required"}, {Key: "top_p", Value: 0.5}}},
			dataset.Turn{Prompt: "x", Payload: &dataset.Payload{Members: json.RawMessage(`{"tools":[{"é":1}],"tool_choice":"auto","max_tokens":1.0}`)}, OutputLen: 5},
			`{"model": "m", "prompt": "x", "repetition_penalty": 1.0, "max_tokens": 1.0, "logprobs": null, "stream": true, "stream_options": {"include_usage": true}, "tool_choice": "auto", "top_p": 0.5, "tools": [{"\u00e9": 1}]}`},
		{"a member dropped", request.Body{Form: completions.Form, Model: "m", Drop: []string{"tools"}}, dataset.Turn{Prompt: "x", Payload: &dataset.Payload{Members: json.RawMessage(`{"tools": []}`)}},
			`{"model": "m", "prompt": "x", "repetition_penalty": 1.0, "logprobs": null, "stream": true, "stream_options": {"include_usage": true}}`},
		{"members that are no object", request.Body{Form: completions.Form, Model: "m"}, dataset.Turn{Payload: &dataset.Payload{Members: json.RawMessage(`[1]`)}}, "the members of a request are no object: [1]"},
		{"broken messages", request.Body{Model: "m", Form: chat.Form}, dataset.Turn{Messages: json.RawMessage(`[`)}, "reading messages: "},
	} {
		for _, encode := range []func(*dataset.Turn) ([]byte, error){test.body.Encode, unnamed(test.body.Encoder())} {
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
	body := request.Body{Form: completions.Form, Model: "m", Extra: pyjson.Object{{Key: "max_tokens", Value: 16}, {Key: "top_k", Value: 3}}}
	for range 2 {
		if _, err := body.Encode(&dataset.Turn{Prompt: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	if want := (pyjson.Object{{Key: "max_tokens", Value: 16}, {Key: "top_k", Value: 3}}); !cmp.Equal(want, body.Extra) {
		t.Errorf("Extra is now %v", body.Extra)
	}
}

func BenchmarkBody(b *testing.B) {
	body := request.Body{Form: completions.Form, Model: "stub-32000", IgnoreEOS: true}
	for name, encode := range map[string]func(*dataset.Turn) ([]byte, error){"whole": body.Encode, "framed": unnamed(body.Encoder())} {
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
	for _, body := range []request.Body{
		{Model: "m", Form: responses.Form, IgnoreEOS: true}, {Form: completions.Form, Model: "m"}, {Model: "m", Form: chat.Form}, {Model: "m", Form: chat.Form, PlainText: true, IgnoreEOS: true, UsageAlways: true},
		{Form: completions.Form, Model: "m", Logprobs: &zero, Drop: []string{"max_tokens"}}, {Form: completions.Form, Model: "m", Drop: []string{"prompt"}},
		{Form: completions.Form, Model: "m", Extra: pyjson.Object{{Key: "prompt", Value: "other"}}}, {Form: completions.Form, Model: "m", Extra: pyjson.Object{{Key: "max_tokens", Value: 7}}},
		{Form: completions.Form, Model: "m", Extra: pyjson.Object{{Key: "note", Value: "\x00prompt\x00"}}}, {Form: completions.Form, Model: "\x00prompt\x00"}, {Form: completions.Form, Model: "-9223372036854775808"},
	} {
		encode := unnamed(body.Encoder())
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
		body := request.Body{Model: "m", Form: chat.Form, PlainText: plain}
		turn := dataset.Turn{Messages: json.RawMessage(messages), OutputLen: len(messages) % 2}
		want, wantErr := body.Encode(&turn)
		if got, err := body.Encoder()(&turn, ""); string(got) != string(want) || (err == nil) != (wantErr == nil) {
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
	body := request.Body{Model: "m", Form: chat.Form}
	for name, encode := range map[string]func(*dataset.Turn) ([]byte, error){"parsed": body.Encode, "copied": unnamed(body.Encoder())} {
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
	encode := (&request.Body{Form: completions.Form, Model: "m", IgnoreEOS: true}).Encoder()
	turn := &dataset.Turn{Prompt: " token", OutputLen: 1}
	if n := testing.AllocsPerRun(10, func() { encode(turn, "") }); n > 2 { // its text, and the prompt as a value
		t.Errorf("a body takes %v allocations", n)
	}
}

func TestContinuousUsageIsAskedForOnRequest(t *testing.T) {
	for _, talk := range []bool{false, true} {
		body := request.Body{Model: "m", Form: map[bool]*request.Form{true: chat.Form, false: completions.Form}[talk], UsageAlways: true}
		text, err := body.Encode(&dataset.Turn{Prompt: "Hi", OutputLen: 1})
		const want = `"stream": true, "stream_options": {"include_usage": true, "continuous_usage_stats": true}`
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s, %v", text, err)
		}
	}
}

var turnOfText = &dataset.Turn{Prompt: "x", OutputLen: 5}

func extraOf(t *testing.T, text string) pyjson.Object {
	t.Helper()
	v, err := pyjson.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v.(pyjson.Object)
}

// Servers refuse stream_options without a stream.
func TestBodiesAskForNoStreamWhoseOptionsAreThere(t *testing.T) {
	for _, b := range []request.Body{{Form: completions.Form, Model: "m", Drop: []string{"stream"}}, {Form: chat.Form, Model: "m", Drop: []string{"stream"}}} {
		if text, err := b.Encode(turnOfText); err != nil || b.Streams() || strings.Contains(string(text), "stream") {
			t.Errorf("%s, %v", text, err)
		}
	}
	b := request.Body{Model: "m", Form: chat.Form, Extra: extraOf(t, `{"stream": false}`)}
	if text, err := b.Encode(turnOfText); err != nil || b.Streams() || !strings.HasSuffix(string(text), `"max_completion_tokens": 5, "stream": false}`) {
		t.Errorf("%s, %v", text, err)
	}
	if b := (request.Body{Extra: extraOf(t, `{"stream": true}`)}); !b.Streams() {
		t.Error("a stream is not asked for")
	}
}
