package ollama

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/loadgen/api/scan"
	"github.com/servebench/servebench/metrics/pyjson"
)

func extra(t *testing.T, text string) pyjson.Object {
	t.Helper()
	v, err := pyjson.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v.(pyjson.Object)
}

func TestBodiesAreOllamas(t *testing.T) {
	image := func(url string) *dataset.Payload {
		return &dataset.Payload{Media: []dataset.Medium{{Kind: dataset.Image, Part: json.RawMessage(`{"type": "image_url", "image_url": {"url": "` + url + `"}}`)}}}
	}
	talk := json.RawMessage(`[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"image_url","image_url":{"url":"data:image/png;base64,aa"}}]},` +
		`{"role":"assistant","content":null,"reasoning":"So","tool_calls":[{"id":"c1","type":"function","function":{"name":"get","arguments":"{\"x\": 1}"}},{"id":"c2","function":{"name":"cut","arguments":"{\"x\""}},{"id":"c3","function":{"name":"bare","arguments":""}}]},` +
		`{"role":"tool","tool_call_id":"c2","content":"42"},{"role":"tool","tool_call_id":"other","content":"7"}]`)
	for _, c := range []struct {
		name, path, extra string
		drop              []string
		turn              dataset.Turn
		want              string // or the start of the error
	}{
		{"a chat", "/api/chat", `{}`, nil, dataset.Turn{Prompt: "Hé", OutputLen: 5}, `{"model": "m", "messages": [{"role": "user", "content": "H\u00e9"}], "stream": true, "options": {"num_predict": 5}}`},
		{"the server decides the length", "/api/chat", `{}`, nil, dataset.Turn{Prompt: "Hi"}, `{"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": true}`},
		{"a prefix of the path", "/ollama/api/generate", `{}`, nil, dataset.Turn{Prompt: "Hi", OutputLen: 5}, `{"model": "m", "prompt": "Hi", "stream": true, "options": {"num_predict": 5}}`},
		{"settings", "/api/chat", `{"top_k": 3, "repetition_penalty": 1.1, "seed": 7, "stop": ["x"], "think": false, "keep_alive": -1, "format": "json"}`, nil, dataset.Turn{Prompt: "Hi", OutputLen: 5},
			`{"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": true, "think": false, "keep_alive": -1, "format": "json", "options": {"num_predict": 5, "top_k": 3, "repeat_penalty": 1.1, "seed": 7, "stop": ["x"]}}`},
		{"the user's options win", "/api/chat", `{"temperature": 0, "options": {"num_predict": 9, "num_gpu": 0}}`, nil, dataset.Turn{Prompt: "Hi", OutputLen: 5},
			`{"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": true, "options": {"num_predict": 9, "temperature": 0, "num_gpu": 0}}`},
		{"a bound dropped", "/api/chat", `{}`, []string{"max_tokens"}, dataset.Turn{Prompt: "Hi", OutputLen: 5}, `{"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": true}`},
		{"a bound dropped by Ollama's name", "/api/chat", `{"options": {"num_gpu": 0}}`, []string{"num_predict"}, dataset.Turn{Prompt: "Hi", OutputLen: 5}, `{"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": true, "options": {"num_gpu": 0}}`},
		{"names of one option", "/api/chat", `{"num_predict": 9, "repeat_penalty": 2, "repetition_penalty": 3}`, nil, dataset.Turn{Prompt: "Hi", OutputLen: 5}, `{"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": true, "options": {"num_predict": 9, "repeat_penalty": 3}}`},
		{"not streamed", "/api/generate", `{"stream": false}`, nil, dataset.Turn{Prompt: "Hi", OutputLen: 5}, `{"model": "m", "prompt": "Hi", "stream": false, "options": {"num_predict": 5}}`},
		{"a long talk", "/api/chat", `{}`, nil, dataset.Turn{Messages: talk, OutputLen: 5},
			`{"model": "m", "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "a\nb", "images": ["aa"]}, ` +
				`{"role": "assistant", "content": "", "thinking": "So", "tool_calls": [{"function": {"name": "get", "arguments": {"x": 1}}}, {"function": {"name": "cut", "arguments": {"arguments": "{\"x\""}}}, {"function": {"name": "bare", "arguments": {}}}]}, ` +
				`{"role": "tool", "content": "42", "tool_name": "cut"}, {"role": "tool", "content": "7"}], "stream": true, "options": {"num_predict": 5}}`},
		{"calls without ids", "/api/chat", `{}`, nil, dataset.Turn{Messages: json.RawMessage(`[{"role":"assistant","content":"","tool_calls":[{"id":"","function":{"name":"f","arguments":"{}"}},{"function":{"name":"g","arguments":{}}}]},{"role":"tool","tool_call_id":"x","content":"1"},{"role":"tool","content":"2"},{"role":"tool","content":"3"}]`)},
			`{"model": "m", "messages": [{"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {}}}, {"function": {"name": "g", "arguments": {}}}]}, ` +
				`{"role": "tool", "content": "1", "tool_name": "f"}, {"role": "tool", "content": "2", "tool_name": "g"}, {"role": "tool", "content": "3"}], "stream": true}`},
		{"options that are none", "/api/chat", `{"options": null, "num_gpu": 0}`, []string{"stream"}, dataset.Turn{Prompt: "Hi"}, `{"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": false, "options": {"num_gpu": 0}}`},
		{"an image", "/api/generate", `{}`, nil, dataset.Turn{Prompt: "Hi", Payload: image("data:image/png;base64,aa")}, `{"model": "m", "prompt": "Hi", "images": ["aa"], "stream": true}`},
		{"an image elsewhere", "/api/chat", `{}`, nil, dataset.Turn{Prompt: "Hi", Payload: image("https://a.test/b.png")}, `message 1: the API of Ollama takes images in the request, and "https://a.test/b.png" is elsewhere`},
		{"messages for generate", "/api/generate", `{}`, nil, dataset.Turn{Messages: talk}, "/api/generate takes no messages: use Server.Endpoint /api/chat"},
		{"token ids", "/api/generate", `{}`, nil, dataset.Turn{TokenIDs: []int{1}}, "a chat endpoint takes no token ids"},
		{"a message that is none", "/api/chat", `{}`, nil, dataset.Turn{Messages: json.RawMessage(`[1]`)}, "message 1 is no object"},
		{"messages that are none", "/api/chat", `{}`, nil, dataset.Turn{Messages: json.RawMessage(`{}`)}, "the messages are no list"},
		{"a video", "/api/chat", `{}`, nil, dataset.Turn{Messages: json.RawMessage(`[{"role":"user","content":[{"type":"video_url"}]}]`)}, "message 1: the API of Ollama takes text and images, but no video_url"},
	} {
		text, err := Encoder(&request.Body{Model: "m", Path: c.path, IgnoreEOS: true, Extra: extra(t, c.extra), Drop: c.drop})(&c.turn, "")
		if err != nil {
			text = []byte(err.Error())
		}
		if string(text) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, text, c.want)
		}
	}
}

// said decodes a line.
func said(t *testing.T, line string) exchange.Piece {
	t.Helper()
	var p exchange.Piece
	if err := (decoder{}).Decode([]byte(line), &p); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return p
}

func TestLinesAreRead(t *testing.T) {
	const call = `[{"function":{"name":"get","arguments":{"x":1}}}]`
	for _, c := range []struct {
		line string
		want exchange.Piece
	}{
		{`{"message":{"role":"assistant","content":"a\n"},"done":false}`, exchange.Piece{Chunk: true, Output: true, Content: true, Answers: true, Text: []byte("a\n")}},
		{`{"message":{"role":"assistant","content":"","thinking":"So"},"done":false}`, exchange.Piece{Chunk: true, Output: true, Content: true, Thought: []byte("So")}},
		{`{"response":"","thinking":"So","done":false}`, exchange.Piece{Chunk: true, Output: true, Content: true, Thought: []byte("So")}},
		{`{"message":{"content":"a","thinking":"So"}}`, exchange.Piece{Chunk: true, Output: true, Content: true, Answers: true, Text: []byte("a"), Thought: []byte("So")}},
		{`{"message":{"content":"","tool_calls":` + call + `}}`, exchange.Piece{Chunk: true, Output: true, Content: true, Answers: true, Calls: []byte(call)}},
		{`{"response":"","done":false}`, exchange.Piece{Chunk: true}},
		{`{"error":"boom"}`, exchange.Piece{Failed: true}},
		{`{"response":"","done":true,"done_reason":"stop","prompt_eval_count":3}`, exchange.Piece{Last: true, Finish: []byte("stop"), Usage: exchange.Usage{Given: true, In: 3, HasIn: true}}},
		{`{"respons\u0065":"a","done":false}`, exchange.Piece{Chunk: true, Output: true, Content: true, Answers: true, Text: []byte("a")}},
	} {
		if diff := cmp.Diff(c.want, said(t, c.line), cmpopts.IgnoreUnexported(exchange.Piece{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.line, diff)
		}
	}
	if err := (decoder{}).Decode([]byte(`{"response":`), new(exchange.Piece)); err == nil {
		t.Error("half a line is read")
	}
}

func TestDurationsAreServerTimes(t *testing.T) {
	s := said(t, `{"done":true,"total_duration":382340695,"load_duration":370822019,"prompt_eval_duration":2485682,"eval_duration":7518613}`).Server
	if *s.LoadMS != 370.822019 || *s.TTFTMS != 2.485682 || *s.GenerationMS != 7.518613 || math.Abs(*s.QueueMS-1.514381) > 1e-9 {
		t.Errorf("load %v, queue %v, prompt %v, output %v", *s.LoadMS, *s.QueueMS, *s.TTFTMS, *s.GenerationMS)
	}
	if s := said(t, `{"done":true,"total_duration":1000000,"eval_duration":2000000}`).Server; *s.QueueMS != 0 || *s.LoadMS != 0 {
		t.Errorf("queue %v, load %v", *s.QueueMS, *s.LoadMS)
	}
	if s := said(t, `{"done":true,"eval_duration":2000000}`).Server; s != nil {
		t.Errorf("without a total: %+v", s)
	}
}

func TestALineDoesNotAllocate(t *testing.T) {
	var p exchange.Piece
	for _, line := range []string{`{"model":"m","message":{"role":"assistant","content":"a\n"},"done":false}`, `{"response":"b","thinking":"c","done":false}`} {
		data := []byte(line)
		said(t, line)
		if n := testing.AllocsPerRun(100, func() { p.Reset(); _ = (decoder{}).Decode(data, &p) }); n > 0 {
			t.Errorf("%s takes %v allocations", line, n)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add([]byte(`{"message":{"content":"a","thinking":"b","tool_calls":[{"function":{"name":"f","arguments":{}}}]},"done":false}`))
	f.Add([]byte(`{"response":"a","done":true,"done_reason":"stop","eval_count":2,"total_duration":5,"load_duration":9}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var p exchange.Piece
		if err := (decoder{}).Decode(line, &p); err != nil {
			return
		}
		if p.Answers && !p.Content || p.Content && !p.Chunk || p.Usage.In > scan.MaxCount || p.Usage.Out > scan.MaxCount || p.Last && p.Server != nil && *p.Server.QueueMS < 0 {
			t.Errorf("%s: %+v", line, p)
		}
		if p.Calls != nil {
			for _, c := range calls(p.Calls) {
				if !c.Whole || strings.Contains(c.Name, "\xff") {
					t.Errorf("%s: %+v", line, c)
				}
			}
		}
	})
}
