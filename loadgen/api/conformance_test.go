package api_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"bufio"
	"context"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/request"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/metrics/record"
)

var update = flag.Bool("update", false, "rewrite testdata")

// answers are the replies that each API has to read: files of testdata/transcripts, which real servers said, or of this
// package's testdata. A name that ends with ! is an answer that is not streamed.
var answers = map[string][]string{
	"vllm":                      {"sim-completions-usage-continuous"},
	"openai":                    {"ollama017-completions-usage", "llamacpp-completions-nousage", "sim-tokenids", "litellm-404model", "sim-completions-nostream!"},
	"openai-chat":               {"ollama017-chat-usage", "transformers-chat-usage", "litellm-chat-usage", "aimock-chat-think", "aimock-chat-disc", "aimock-chat-err", "ollama-chat-nostream!"},
	"openai-responses":          {"responses-text", "responses-call", "responses-failed"},
	"openai-audio":              {"audio-text"},
	"openai-embeddings":         {"sim-embeddings!", "llamacpp-embeddings!"},
	"openai-embeddings-chat":    {"sim-embeddings!"},
	"openai-embeddings-clip":    {"sim-embeddings!"},
	"openai-embeddings-vlm2vec": {"sim-embeddings!"},
	"infinity-embeddings":       {"sim-embeddings!"},
	"infinity-embeddings-clip":  {"sim-embeddings!"},
	"vllm-pooling":              {"sim-embeddings!"},
	"vllm-rerank":               {"sim-embeddings!"},
	"anthropic":                 {"messages/vllm-think", "messages/vllm-tool", "messages/llamacpp-cached", "messages/aimock-tools", "messages/aimock-err", "messages/llamacpp-nostream!"},
	"ollama":                    {"ollama/065-chat-cold", "ollama/065-chat", "ollama/065-generate", "ollama/065-chat-whole!", "ollama/065-generate-whole!", "ollama/065-nomodel", "ollama/065-badjson", "ollama/065-tools-unsupported", "ollama/017-chat", "ollama/017-generate", "ollama/017-think", "ollama/017-nomodel", "ollama-calls"},
}

// turns are what each API has to send, or to refuse.
var turns = []struct {
	name string
	turn dataset.Turn
}{
	{"text", dataset.Turn{Prompt: "Hé", OutputLen: 5}},
	{"any length", dataset.Turn{Prompt: "Hi"}},
	{"token ids", dataset.Turn{TokenIDs: []int{1, 2}, OutputLen: 5}},
	{"messages", dataset.Turn{Messages: json.RawMessage(`[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}, {"role": "assistant", "content": null, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "get", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "c", "content": "42"}]`), OutputLen: 5}},
	{"a batch", dataset.Turn{Payload: &dataset.Payload{Batch: []string{"a", "b"}}, OutputLen: 5}},
	{"an image", dataset.Turn{Prompt: "Hi", OutputLen: 5, Payload: &dataset.Payload{Media: []dataset.Medium{{Kind: dataset.Image, Part: json.RawMessage(`{"type": "image_url", "image_url": {"url": "data:image/png;base64,aa"}}`)}}}}},
	{"a sound", dataset.Turn{Prompt: "Hi", OutputLen: 5, Payload: &dataset.Payload{Media: []dataset.Medium{{Kind: dataset.Sound, Upload: &dataset.Upload{Name: "a.wav", Type: "audio/wav", Data: []byte("RIFF")}}}}}},
	{"members", dataset.Turn{Prompt: "Hi", OutputLen: 5, Payload: &dataset.Payload{Members: json.RawMessage(`{"seed": 7}`)}}},
}

// boundary is the random line between the parts of a form.
var boundary = regexp.MustCompile(`[0-9a-f]{32}`)

// Each API sends each turn as its golden file has it, and reads each answer to the record there, wherever the network
// cuts the answer: after each byte over our own HTTP/1.1, after every third over net/http. -short cuts after every 29th.
func TestAPIsConform(t *testing.T) {
	for _, b := range api.All {
		t.Run(b.Name, func(t *testing.T) {
			if answers[b.Name] == nil {
				t.Fatal("there are no answers for it: add some to the table")
			}
			var golden strings.Builder
			encode := b.Encoder(request.Body{Model: "m"})
			for _, c := range turns {
				text, err := encode(&c.turn, "id-1")
				if err != nil {
					text = []byte("error: " + err.Error())
				}
				fmt.Fprintf(&golden, "%s: %s\n", c.name, strings.ReplaceAll(boundary.ReplaceAllString(string(text), "BOUNDARY"), "\r\n", "\n\t"))
			}
			for _, name := range answers[b.Name] {
				name, whole := strings.CutSuffix(name, "!")
				fmt.Fprintf(&golden, "%s: %s\n", name, read(t, b, reply(t, name), whole))
			}
			file := filepath.Join("testdata", b.Name+".golden")
			if *update {
				if err := os.WriteFile(file, []byte(golden.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if golden.String() != string(want) {
				t.Errorf("%s:\ngot:\n%swant:\n%s", file, golden.String(), want)
			}
		})
	}
}

// reply is a server's reply, byte for byte.
func reply(t *testing.T, name string) []byte {
	raw, err := os.ReadFile(filepath.Join("testdata", name+".raw"))
	if err != nil {
		raw, err = os.ReadFile(filepath.Join("../../testdata/transcripts", name+".raw"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// read is what every way to read a reply makes of it.
func read(t *testing.T, b *api.API, reply []byte, whole bool) (first string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		for _, netHTTP := range []bool{false, true} {
			step := map[bool]int{false: 1, true: 3}[netHTTP]
			if testing.Short() {
				step = 29
			}
			for cut := 0; cut < len(reply); cut += step {
				got := said(t, b, netHTTP, whole, reply[:cut], reply[cut:])
				if first == "" {
					first = got
				}
				if got != first {
					t.Fatalf("net/http %t, cut after %d bytes: %s\nwhole: %s", netHTTP, cut, got, first)
				}
			}
		}
	})
	return first
}

// said is what a record has of an answer that arrives in these parts.
func said(t *testing.T, b *api.API, netHTTP, whole bool, parts ...[]byte) string {
	dial := func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			if r, err := http.ReadRequest(bufio.NewReader(server)); err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
			}
			for _, part := range parts {
				if len(part) > 0 {
					_, _ = server.Write(part)
				}
			}
		}()
		return client, nil
	}
	transport := wire.Connections{NetHTTP: netHTTP, Dial: dial}.Transport()
	defer transport.CloseIdleConnections()
	send := b.Sender(&exchange.Endpoint{URL: "http://server.test" + b.Endpoint, Transport: transport, OneJSON: whole && b.OneJSON, Reasoning: true})
	target := engine.Target{Send: send, Pooling: b.Pooling, Count: func(string) int { return -1 }}
	rec := target.Once(t.Context(), &engine.Request{Body: []byte("{}"), KeepText: true, KeepAnswer: true})
	got := saying{
		Chunks: rec.Answer.Chunks.Len(), In: rec.Tokens.In, Out: rec.Tokens.Out, Cached: rec.Tokens.Cached,
		Reasoned: rec.Tokens.OutReasoned, WithOutput: rec.Tokens.WithOutput, Until032: rec.Tokens.Until032,
		Text: rec.Answer.Text, Reasoning: rec.Answer.Reasoning, Calls: rec.Answer.Calls, Reply: rec.Answer.Reply,
		Finish: rec.Answer.Finish, Unstreamed: rec.Answer.Unstreamed, Result: rec.Result, Server: rec.Server,
	}
	line, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	return string(line)
}

// saying is what a record has of an answer, however it arrived.
type saying struct {
	Chunks, In, Out, Cached, Reasoned int             `json:",omitempty"`
	WithOutput, Until032              *record.Count   `json:",omitempty"`
	Text, Reasoning                   string          `json:",omitempty"`
	Calls                             json.RawMessage `json:",omitempty"`
	Reply, Finish                     string          `json:",omitempty"`
	Unstreamed                        bool            `json:",omitempty"`
	Result                            record.Result
	Server                            *record.ServerTimes `json:",omitempty"`
}
