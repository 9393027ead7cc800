package exchange_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire/wiretest"
	"github.com/servebench/servebench/metrics/record"
)

// message is what is read from a transcript of the Messages API.
type message struct {
	Answer    readAnswer
	Cached    int
	Reasoned  bool
	Reasoning string
	Calls     string
}

// messageStreams are the transcripts of Anthropic's API, with what is read from them. vLLM's prompts and
// answers have no chunk for some of their tokens, such as </think> and the frame of a call.
var messageStreams = map[string]message{
	"aimock-plain":      {Answer: readAnswer{4, 4, "The quick brown fox — éàü 日本語 🙂.", "end_turn", 0, 0, 200, "", ""}},
	"aimock-think":      {Answer: readAnswer{6, 6, "Answer is 42.", "end_turn", 0, 0, 200, "", ""}, Reasoned: true, Reasoning: "Let me think about it for a while."},
	"aimock-tools":      {Answer: readAnswer{6, 6, "I look.", "tool_use", 0, 0, 200, "", ""}, Calls: `[{"id": "toolu_sL7OqD2z7PmZ5iVS", "type": "function", "function": {"name": "get_weather", "arguments": "{\"city\":\"Graz\"}"}}, {"id": "toolu_a3CLlHarL0iRVDS6", "type": "function", "function": {"name": "get_time", "arguments": "{}"}}]`},
	"aimock-err":        {Answer: readAnswer{Status: 529, Class: record.Status, Error: "529"}},
	"llamacpp-text":     {Answer: readAnswer{6, 6, "#/4*B/", "max_tokens", 64, 6, 200, "", ""}},
	"llamacpp-cached":   {Answer: readAnswer{4, 4, "#/4s", "max_tokens", 107, 4, 200, "", ""}, Cached: 106},
	"llamacpp-nostream": {Answer: readAnswer{Status: 200, Class: record.Malformed, Error: "the answer is application/json, not an event stream"}},
	"llamacpp-badjson":  {Answer: readAnswer{Status: 400, Class: record.Status, Error: "400 Bad Request"}},
	"llamacpp-toolong":  {Answer: readAnswer{Status: 400, Class: record.Overflow, Error: "400 Bad Request"}},
	"vllm-reasoning":    {Answer: readAnswer{5, 5, "", "max_tokens", 16, 6, 200, "", ""}, Reasoned: true, Reasoning: "umiyzrvetvzlyzr"},
	"vllm-ignoreeos":    {Answer: readAnswer{6, 6, "", "max_tokens", 16, 6, 200, "", ""}, Reasoned: true, Reasoning: "vamiosauwazcsaoa"},
	"vllm-think":        {Answer: readAnswer{39, 39, "uxecsxzillidieqii utxstknebxlmxebxanpordtdxtcjetfnusikmnrroeastffluhspaidssjauyxlkdsfklnqncgl btuntjdezq", "max_tokens", 16, 40, 200, "", ""}, Reasoned: true, Reasoning: "otalgegq"},
	"vllm-tool":         {Answer: readAnswer{9, 9, "", "max_tokens", 16, 60, 200, "", ""}, Reasoned: true, Reasoning: "umiyzrvetvzlyzr", Calls: `[{"id": "chatcmpl-tool-a7324edd3fb26a86", "type": "function", "function": {"name": "get", "arguments": "false"}}]`},
	"vllm-cached":       {Answer: readAnswer{3, 3, "", "max_tokens", 258, 4, 200, "", ""}, Reasoned: true, Cached: 256, Reasoning: "brn\ufffdbrnsbr"},
	"vllm-stop":         {Answer: readAnswer{5, 5, "", "stop_sequence", 16, 5, 200, "", ""}, Reasoned: true, Reasoning: "ejszrejvurzrhc"},
	"vllm-404model":     {Answer: readAnswer{Status: 404, Class: record.Status, Error: "404 Not Found"}},
	"vllm-badjson":      {Answer: readAnswer{Status: 400, Class: record.Status, Error: "400 Bad Request"}},
	"vllm-nomaxtokens":  {Answer: readAnswer{Status: 400, Class: record.Status, Error: "400 Bad Request"}},
	"vllm-nostream":     {Answer: readAnswer{Status: 200, Class: record.Malformed, Error: "the answer is application/json, not an event stream"}},
	"vllm-toolong":      {Answer: readAnswer{Status: 400, Class: record.Overflow, Error: "400 Bad Request"}},
}

// messageBy sends one request and gathers its answer, with all that the next turn needs. Of an error it
// keeps the first part.
func messageBy(t *testing.T, o *exchange.Endpoint) message {
	t.Helper()
	rec := record.Record{Tokens: record.Tokens{In: 0}}
	var got message
	for chunk, err := range o.Send(t.Context(), time.Now(), &engine.Request{Body: []byte("{}"), KeepText: true, KeepAnswer: true}, &rec) {
		if err != nil {
			rec.Result.Class, rec.Result.Error = record.Classify(err)
			continue
		}
		got.Answer.Chunks++
		if chunk.Content {
			if got.Answer.Content == 0 {
				got.Reasoned = chunk.Reasoning
			}
			got.Answer.Content++
		}
		if chunk.Blank == chunk.Content {
			t.Error("a chunk is output if it has content, and blank if not")
		}
	}
	got.Answer = readAnswer{got.Answer.Chunks, got.Answer.Content, rec.Answer.Text, rec.Answer.Finish, rec.Tokens.In, rec.Tokens.Out, rec.Result.Status, rec.Result.Class, rec.Result.Error}
	if rec.Result.Class != record.OK {
		got.Answer.Error, _, _ = strings.Cut(rec.Result.Error, ": ")
	}
	got.Cached, got.Reasoning, got.Calls = rec.Tokens.Cached, rec.Answer.Reasoning, string(rec.Answer.Calls)
	if rec.Result.Differs != "" || rec.Answer.Reply != "" || rec.Tokens.Until032 != nil || rec.Tokens.WithOutput != nil {
		t.Errorf("%+v", rec)
	}
	return got
}

func TestTranscriptsOfMessagesAreRead(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/transcripts/messages/*.raw")
	if err != nil || len(files) != len(messageStreams) {
		t.Fatal("transcripts are missing", files, err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".raw")
		o := openAIAt(wiretest.DialRaw(raw), false)
		o.Protocol, o.Reasoning = protocolNamed("messages"), true
		want, known := messageStreams[name]
		if got := messageBy(t, o); !known || !cmp.Equal(want, got) {
			t.Errorf("%s, which is known: %t (-want +got):\n%s", name, known, cmp.Diff(want, got))
		}
	}
}

func TestMessagesThatAreNotStreamedAreRead(t *testing.T) {
	for name, want := range map[string]message{
		"llamacpp-nostream": {Answer: readAnswer{1, 1, "#/PrR9", "max_tokens", 64, 6, 200, "", ""}, Cached: 63},
		"vllm-nostream":     {Answer: readAnswer{1, 1, "", "max_tokens", 16, 6, 200, "", ""}, Reasoning: "yllqvlypnvfncdnmur"},
	} {
		raw, err := os.ReadFile("../../../testdata/transcripts/messages/" + name + ".raw")
		if err != nil {
			t.Fatal(err)
		}
		o := openAIAt(wiretest.DialRaw(raw), false)
		o.Protocol, o.Reasoning, o.OneJSON = protocolNamed("messages"), true, true
		got := messageBy(t, o)
		got.Answer.Chunks, got.Answer.Content = 1, 1 // which the engine makes of the record
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// messageOfEvents is an answer of the Messages API, with the name of each event.
func messageOfEvents(events ...string) canned { return responseOfEvents(events...) }

const (
	messageStart = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"m","stop_reason":null,"usage":{"input_tokens":9,"cache_creation_input_tokens":4,"cache_read_input_tokens":2,"output_tokens":1}}}`
	messageText  = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}`
	messageThink = `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"So"}}`
	messageCall  = `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"get","input":{}}}`
	messageArgs  = `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\": \u00e9"}}`
	messageBlank = `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}`
	messagePing  = `{"type":"ping"}`
	messageDelta = `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}`
	messageStop  = `{"type":"message_stop"}`
)

func TestMessagesAreRead(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []string
		want   message
	}{
		{"text", []string{messageStart, messagePing, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, messageText, messagePing, messageText, messageDelta, messageStop},
			message{Answer: readAnswer{2, 2, "HiHi", "end_turn", 15, 5, 200, "", ""}, Cached: 2}},
		{"text in the begin of a block", []string{messageStart, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hi"}}`, messageDelta, messageStop},
			message{Answer: readAnswer{1, 1, "Hi", "end_turn", 15, 5, 200, "", ""}, Cached: 2}},
		{"reasoning in the begin of a block", []string{messageStart, `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"So"}}`, messageText, messageDelta, messageStop},
			message{Answer: readAnswer{2, 2, "Hi", "end_turn", 15, 5, 200, "", ""}, Cached: 2, Reasoned: true, Reasoning: "So"}},
		{"hidden reasoning", []string{messageStart, `{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"x"}}`, messageText, messageDelta, messageStop},
			message{Answer: readAnswer{2, 2, "Hi", "end_turn", 15, 5, 200, "", ""}, Cached: 2, Reasoned: true}},
		{"a call with an empty part", []string{messageStart, messageCall, messageBlank, messageArgs, messageDelta, messageStop},
			message{Answer: readAnswer{3, 2, "", "end_turn", 15, 5, 200, "", ""}, Cached: 2, Calls: `[{"id": "t1", "type": "function", "function": {"name": "get", "arguments": "{\"a\": \u00e9"}}]`}},
		{"usage at the end alone", []string{`{"type":"message_start","message":{"usage":{"input_tokens":0,"output_tokens":0}}}`, messageText, `{"type":"message_delta","delta":{"stop_reason":"refusal"},"usage":{"input_tokens":7,"output_tokens":3}}`, messageStop},
			message{Answer: readAnswer{1, 1, "Hi", "refusal", 7, 3, 200, "", ""}}},
		{"zeros at the end", []string{messageStart, messageText, `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":0,"output_tokens":3}}`, messageStop},
			message{Answer: readAnswer{1, 1, "Hi", "end_turn", 15, 3, 200, "", ""}, Cached: 2}},
		{"no usage", []string{messageText, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`, messageStop},
			message{Answer: readAnswer{1, 1, "Hi", "end_turn", 0, 0, 200, "", ""}}},
		{"a stop reason alone", []string{messageText, messageDelta},
			message{Answer: readAnswer{1, 1, "Hi", "end_turn", 0, 5, 200, "", ""}}},
		{"unknown events", []string{messageStart, `{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{}}}`, `{"type":"new"}`, `[]`, `{"type":7}`, messageText, messageDelta, messageStop},
			message{Answer: readAnswer{1, 1, "Hi", "end_turn", 15, 5, 200, "", ""}, Cached: 2}},
		{"no end", []string{messageStart, messageText}, message{Answer: readAnswer{1, 1, "Hi", "", 15, 0, 200, record.Truncated, "the stream ended without a stop reason and without message_stop"}, Cached: 2}},
		{"nothing", []string{messageStart, messageDelta, messageStop}, message{Answer: readAnswer{0, 0, "", "end_turn", 15, 5, 200, record.Empty, "the answer has no text, no reasoning and no call"}, Cached: 2}},
		{"an error", []string{messageStart, messageText, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`},
			message{Answer: readAnswer{1, 1, "Hi", "", 15, 0, 200, record.InStream, "Overloaded"}, Cached: 2}},
		{"no JSON", []string{messageText, `hello`}, message{Answer: readAnswer{1, 1, "Hi", "", 0, 0, 200, record.Malformed, "an event is not JSON"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &exchange.Endpoint{URL: "http://server.test/v1/messages", Protocol: protocolNamed("messages"), Reasoning: true, Transport: messageOfEvents(c.events...)}
			if diff := cmp.Diff(c.want, messageBy(t, o)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
