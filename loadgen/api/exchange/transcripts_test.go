package exchange_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	openai "github.com/sashabaranov/go-openai"

	"github.com/servebench/servebench/loadgen/api/audio"
	"github.com/servebench/servebench/loadgen/api/chat"
	"github.com/servebench/servebench/loadgen/api/completions"
	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/messages"
	"github.com/servebench/servebench/loadgen/api/responses"
	"github.com/servebench/servebench/loadgen/engine"
	"github.com/servebench/servebench/loadgen/wire"
	"github.com/servebench/servebench/loadgen/wire/wiretest"
	"github.com/servebench/servebench/metrics/record"
)

// readAnswer is what a Sender's consumer sees.
type readAnswer struct {
	Chunks, Content int
	Text, Finish    string
	In, Out         int
	Status          int
	Class           record.Class
	Error           string
}

// ask sends one request and gathers its answer.
func ask(t *testing.T, o *exchange.Endpoint) (readAnswer, *record.Record) {
	t.Helper()
	rec := &record.Record{}
	var got readAnswer
	var text []byte
	for chunk, err := range o.Send(t.Context(), time.Now(), &engine.Request{Body: []byte("{}"), KeepText: true}, rec) {
		if err != nil {
			f, ok := errors.AsType[*record.Failure](err)
			if !ok {
				t.Fatalf("%v is no Failure", err)
			}
			got.Class, got.Error = f.Class, f.Error()
			continue
		}
		got.Chunks++
		if chunk.Content {
			got.Content++
		}
		text = append(text, chunk.Text...)
	}
	if string(text) != rec.Answer.Text {
		t.Errorf("chunks say %q, the record %q", text, rec.Answer.Text)
	}
	got.In, got.Out = countsOf(rec)
	got.Text, got.Finish, got.Status = rec.Answer.Text, rec.Answer.Finish, rec.Result.Status
	if len(got.Text) > 90 {
		got.Text = fmt.Sprintf("sha256 %x", sha256.Sum256(text))[:len("sha256 ")+16]
	}
	return got, rec
}

// countsOf are the server's, wherever it gave them.
func countsOf(rec *record.Record) (in, out int) {
	if rec.Tokens.Out == 0 && rec.Tokens.WithOutput != nil {
		return rec.Tokens.WithOutput.In, rec.Tokens.WithOutput.Out
	}
	return rec.Tokens.In, rec.Tokens.Out
}

// chats says whether a transcript is of a chat endpoint.
func chats(name string) bool { return strings.Contains(name, "chat") || name == "llamacpp-progress" }

// transcript gives the bytes of one captured reply. The one that came over
// HTTP/2 is told as HTTP/1.1.
func transcript(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile("../../../testdata/transcripts/" + name + ".raw")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Replace(raw, []byte("HTTP/2 200 \r"), []byte("HTTP/1.1 200 OK\r"), 1)
}

// streams are the transcripts of streamed generations, with what is read from
// them.
var streams = map[string]readAnswer{
	"aimock-chat-plain":                {10, 8, "The quick brown fox jumps over the lazy dog, twice — éàü 日本語 🙂.", "stop", 2, 16, 200, "", ""},
	"aimock-chat-think":                {9, 7, "Answer is 42.", "stop", 2, 4, 200, "", ""},
	"aimock-chat-disc":                 {3, 2, "this will be cut", "", 0, 0, 200, record.Truncated, "the connection was cut in the middle of the answer: unexpected EOF"},
	"aimock-chat-trunc":                {2, 1, "this wil", "", 0, 0, 200, record.Truncated, "the connection was cut in the middle of the answer: unexpected EOF"},
	"haproxy-h1-sim":                   {13, 12, "I am fine, how are you today? Alas, poor ", "length", 1, 12, 200, "", ""},
	"litellm-chat-usage":               {8, 5, "tok6848 tok4069 tok11343 tok22782 tok21188", "length", 8, 5, 200, "", ""},
	"litellm-completions-usage":        {7, 5, " tok6848 tok4069 tok11343 tok22782 tok21188", "length", 2, 5, 200, "", ""},
	"llamacpp-chat-nousage":            {6, 4, "UEog requirement", "length", 0, 0, 200, "", ""},
	"llamacpp-chat-usage":              {8, 6, "UEog requirement are notice", "length", 11, 6, 200, "", ""},
	"llamacpp-completions-long":        {28, 28, "sha256 853baee952ebf588", "", 0, 0, 200, record.InStream, "The model produced output that does not match the expected Content-only format"},
	"llamacpp-completions-nousage":     {6, 5, "ad referition🙂 reas", "length", 6, 5, 200, "", ""},
	"llamacpp-completions-usage":       {13, 12, " interactiono licensedded accordderE givenad laicens distribut", "length", 6, 12, 200, "", ""},
	"llamacpp-logprobs":                {4, 3, "act 2007 expl", "length", 3, 3, 200, "", ""},
	"llamacpp-n2":                      {6, 4, "actact 2007 2007", "length", 3, 4, 200, "", ""},
	"llamacpp-progress":                {7, 3, "ongstant obligations", "length", 0, 0, 200, "", ""},
	"llamacpp-tokenids":                {4, 3, " 2 additional product", "length", 3, 3, 200, "", ""},
	"nginx-gzip-sim":                   {13, 12, "I am your AI assistant, how can I help you today", "length", 1, 12, 200, "", ""},
	"nginx-h2-sim":                     {13, 12, "To be or not to be that is the question. Today ", "length", 1, 12, 200, "", ""},
	"nginx-http10upstream-sim":         {13, 12, "Today is a nice sunny day. The rest is silence. ", "length", 1, 12, 200, "", ""},
	"ollama-chat-nousage":              {10, 9, " is willcl eff cicens documentu", "length", 0, 0, 200, "", ""},
	"ollama-chat-usage":                {12, 11, " when occur appro but timY dat patent serv lib including", "length", 14, 12, 200, "", ""},
	"ollama-completions-clean":         {101, 100, "sha256 a009de3f229a3a1a", "length", 14, 100, 200, "", ""},
	"ollama-completions-long":          {50, 49, "sha256 e3c88df92538fa69", "stop", 14, 62, 200, "", ""},
	"ollama-completions-nousage":       {11, 10, " chV problems they syst 10 acc unm obligations verbatim", "length", 0, 0, 200, "", ""},
	"ollama-completions-usage":         {12, 11, " when occur appro but timY dat patent serv lib including", "length", 14, 12, 200, "", ""},
	"ollama-n2":                        {3, 2, " works programs", "length", 0, 0, 200, "", ""},
	"ollama017-chat-usage":             {6, 5, "0cB/P", "length", 20, 5, 200, "", ""},
	"ollama017-completions-usage":      {6, 5, "mnfE)", "length", 20, 5, 200, "", ""},
	"ollama065-chat":                   {6, 5, " interfge3 holder 4", "length", 10, 5, 200, "", ""},
	"ollama065-completions":            {21, 20, "sha256 a0afc9a8a16ce462", "length", 14, 20, 200, "", ""},
	"px-err-9181":                      {13, 12, "Today it is partially cloudy and raining. Today is a nice ", "length", 1, 12, 200, "", ""},
	"sim-chat-nousage":                 {5, 3, "Testing@, ", "stop", 0, 0, 200, "", ""},
	"sim-chat-usage":                   {8, 6, "Today is a nice sunny day", "length", 10, 6, 200, "", ""},
	"sim-completions-nousage":          {3, 2, "Today it ", "stop", 0, 0, 200, "", ""},
	"sim-completions-usage":            {13, 12, "Testing, testing 1,2,3. Testing, testing ", "length", 5, 12, 200, "", ""},
	"sim-completions-usage-continuous": {7, 6, "I am fine, how are ", "length", 5, 6, 200, "", ""},
	"sim-logprobs":                     {4, 3, "Give a man ", "length", 0, 0, 200, "", ""},
	"transformers-chat-usage":          {7, 5, "tok25448 tok12603 tok9816 tok21012 tok31635", "length", 7, 5, 200, "", ""},
	"transformers-completions-usage":   {6, 5, "tok12610 tok4591 tok14832 tok19603 tok2559", "length", 2, 5, 200, "", ""},
	"vllm-chat-think":                  {16, 15, "pdrzkrdqrwmavpohbaxnnlgu lsrsiki", "length", 16, 16, 200, "", ""},
	"sim-tokenids":                     {6, 5, "Alas, poor Yorick! ", "length", 0, 0, 200, "", ""},
}

// replies are the transcripts of everything else, with how they fail.
var replies = map[string]readAnswer{
	"aimock-chat-err":             {Status: 503, Class: record.Status, Error: "503 Service Unavailable: overloaded"},
	"aimock-chat-nomatch":         {Status: 404, Class: record.Status, Error: "404 Not Found: No fixture matched (POST http://server.test/v1/completions)"},
	"aimock-completions-plain":    {Status: 404, Class: record.Status, Error: "404 Not Found: Not found (POST http://server.test/v1/completions)"},
	"haproxy-504":                 {Status: 504, Class: record.Status, Error: "504 Gateway Time-out The server didn't respond in time."},
	"llamacpp-badjson":            {Status: 500, Class: record.Status, Error: "500 Internal Server Error: [json.exception.parse_error.101] parse error at line 1, column 10: syntax error while parsing value - unexpected end of input; expected '[', '{', or a literal"},
	"llamacpp-embeddings":         {Status: 501, Class: record.Status, Error: "501 Not Implemented: This server does not support embeddings. Start it with `--embeddings`"},
	"llamacpp-toolong":            {Status: 400, Class: record.Overflow, Error: "400 Bad Request: request (60002 tokens) exceeds the available context size (4096 tokens), try increasing it"},
	"litellm-404model":            {Status: 400, Class: record.Status, Error: "400 Bad Request: 400: {'error': '/completions: Invalid model name passed in model=nope. Call `/v1/models` to view available models for your key.'}"},
	"litellm-nokey":               {Status: 500, Class: record.Status, Error: "500 Internal Server Error"},
	"litellm-tokenids":            {Status: 500, Class: record.Status, Error: "500 Internal Server Error: litellm.APIConnectionError: APIConnectionError: OpenAIException - Unmapped prompt format. Your prompt is neither a list of strings nor a string. prompt=[1, 2]. File an issue - https://github.com/BerriAI/litellm/issues  LiteLLM: model group 'tiny' failed with the error above. No fallback was attempted."},
	"llmock-chat":                 {Status: 400, Class: record.Status, Error: "400 Bad Request: Invalid or Missing Request For This LLM Model Template: OPENAI Model:gpt-4o. Please ensure your request adheres to the expected format - see localhost:8005/logs for details of missing parameters or formatting issues."},
	"ollama-404model":             {Status: 404, Class: record.Status, Error: "404 Not Found: model 'nope' not found"},
	"ollama-badjson":              {Status: 400, Class: record.Status, Error: "400 Bad Request: unexpected EOF"},
	"ollama-chat-nostream":        {Status: 200, Class: record.Malformed, Error: `the answer is application/json, not an event stream: {"id":"chatcmpl-767","object":"chat.completion","created":1795176202,"model":"tiny","system_fingerprint":"fp_ollama","choices":[{"index":0,"message":{"role":"assistant","content":" copyrightIw norm read"},"finish_reason":"length"}],"usage":{"prompt_tokens":11,"completion_tokens":5,"total_tokens":16}}`},
	"ollama-completions-nostream": {Status: 200, Class: record.Malformed, Error: `the answer is application/json, not an event stream: {"id":"cmpl-380","object":"text_completion","created":1795176202,"model":"tiny","system_fingerprint":"fp_ollama","choices":[{"text":" productsRH interact","index":0,"finish_reason":"length"}],"usage":{"prompt_tokens":11,"completion_tokens":5,"total_tokens":16}}`},
	"ollama-embeddings":           {Status: 200, Class: record.Malformed, Error: "the answer is application/json, not an event stream: "},
	"ollama-tokenids":             {Status: 400, Class: record.Status, Error: "400 Bad Request: json: cannot unmarshal array into Go struct field CompletionRequest.prompt of type string"},
	"portkey-sim-404":             {Status: 404, Class: record.Status, Error: "404 Not Found: openai error: The model `nope` does not exist."},
	"portkey-sim-chat":            {Status: 500, Class: record.Status, Error: "500 Internal Server Error: Something went wrong"},
	"portkey-sim-completions":     {Status: 500, Class: record.Status, Error: "500 Internal Server Error: Something went wrong"},
	"px-err-9090":                 {Status: 504, Class: record.Status, Error: "504 Gateway Time-out"},
	"px-err-9092":                 {Status: 502, Class: record.Status, Error: "502 Bad Gateway"},
	"px-err-9093":                 {Status: 413, Class: record.Status, Error: "413 Request Entity Too Large"},
	"sim-404model":                {Status: 404, Class: record.Status, Error: "404 Not Found: The model `nope` does not exist."},
	"sim-badjson":                 {Status: 400, Class: record.Status, Error: "400 Bad Request: Failed to read and parse request body, unexpected end of JSON input"},
	"sim-completions-nostream":    {Status: 200, Class: record.Malformed, Error: `the answer is application/json, not an event stream: {"id":"cmpl-2e4fee02-8250-516d-b6f2-10599ab80194-0","model":"tiny-sim","object":"text_completion","created":1795176278,"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,"prompt_tokens_details":{"cached_tokens":0}},"choices":[{"index":0,"finish_reason":"stop","text":"The temperature "}]}`},
	"sim-embeddings":              {Status: 200, Class: record.Malformed, Error: `the answer is application/json, not an event stream: {"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.40234375,-0.31835938,0.609375,-0.2734375]}],"model":"tiny-sim","usage":{"prompt_tokens":2,"total_tokens":2}}`},
	"transformers-tokenids":       {Status: 400, Class: record.Status, Error: "400 Bad Request: prompt must be a string."},
	"transformers-unexpected":     {Status: 422, Class: record.Status, Error: "422 Unprocessable Entity: Unexpected fields in the request: {'repetition_penalty', 'ignore_eos'}"},
	"sim-toolong":                 {Status: 400, Class: record.Overflow, Error: "400 Bad Request: This model's maximum context length is 1024 tokens. However, you requested 5002 tokens (2 in the messages, 5000 in the completion). Please reduce the length of the messages or completion"},
}

func TestEveryTranscriptIsRead(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/transcripts/*.raw")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".raw")
		t.Run(name, func(t *testing.T) {
			want, known := streams[name]
			if !known {
				if want, known = replies[name]; !known {
					t.Fatal("nothing says what is read from it")
				}
			}
			got, _ := ask(t, openAIAt(wiretest.DialRaw(transcript(t, name)), chats(name)))
			if name == "ollama-embeddings" && strings.HasPrefix(got.Error, want.Error) {
				got.Error = want.Error
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

// LiteLLM's usage has a choice, too, so that completions have two chunks after their
// text. That they carry no tokens is known, and with it the ITL per token.
func TestTokensOfChunksAroundTheUsage(t *testing.T) {
	for name, want := range map[string][]int{
		"litellm-completions-usage":      {1, 1, 1, 1, 1, 0, 0},
		"litellm-chat-usage":             nil,
		"transformers-completions-usage": nil,
		"ollama017-completions-usage":    nil,
		"llamacpp-completions-usage":     nil,
	} {
		target := engine.Target{Send: openAIAt(wiretest.DialRaw(transcript(t, name)), chats(name)).Send}
		rec := target.Once(t.Context(), &engine.Request{Body: []byte("{}")})
		if rec.Result.Class != record.OK || !slices.Equal(rec.Tokens.PerChunk, want) {
			t.Errorf("%s: %v of %d chunks %s, want %v", name, rec.Tokens.PerChunk, rec.Answer.Chunks.Len(), rec.Result.Error, want)
		}
	}
}

// openAIAt is a Sender to the server that dial reaches.
func openAIAt(dial func(context.Context, string, string) (net.Conn, error), chat bool) *exchange.Endpoint {
	return &exchange.Endpoint{URL: "http://server.test/v1/completions", Protocol: protocolOr(chat), Transport: wire.Connections{NetHTTP: netHTTP, Dial: dial}.Transport()}
}

// TestGoOpenAIReadsTheSame compares with an independent client on the streams
// that both can read.
func TestGoOpenAIReadsTheSame(t *testing.T) {
	for name, want := range streams {
		if want.Class != record.OK {
			continue
		}
		t.Run(name, func(t *testing.T) {
			config := openai.DefaultConfig("")
			config.BaseURL = "http://server.test/v1"
			raw := transcript(t, name)
			if name == "nginx-gzip-sim" {
				raw = unzipped(t, raw)
			}
			config.HTTPClient = &http.Client{Transport: wire.Connections{NetHTTP: netHTTP, Dial: wiretest.DialRaw(raw)}.Transport()}
			client := openai.NewClientWithConfig(config)
			read := readCompletion
			if chats(name) {
				read = readChat
			}
			text, usage, err := read(t.Context(), client)
			if err != nil {
				t.Fatal(err)
			}
			_, rec := ask(t, openAIAt(wiretest.DialRaw(transcript(t, name)), chats(name)))
			if text != rec.Answer.Text {
				t.Errorf("we read %q, go-openai %q", rec.Answer.Text, text)
			}
			if name == "llamacpp-n2" { // it has no notion of usage by choice
				usage.CompletionTokens *= 2
			}
			if in, out := countsOf(rec); in != usage.PromptTokens || out != usage.CompletionTokens {
				t.Errorf("we read %d and %d tokens, go-openai %+v", in, out, usage)
			}
		})
	}
}

func readCompletion(ctx context.Context, client *openai.Client) (string, openai.Usage, error) {
	var text strings.Builder
	var usage openai.Usage
	stream, err := client.CreateCompletionStream(ctx, openai.CompletionRequest{Model: "m", Prompt: "p"})
	if err != nil {
		return "", usage, err
	}
	defer stream.Close()
	for {
		reply, err := stream.Recv()
		if err == io.EOF {
			return text.String(), usage, nil
		}
		if err != nil {
			return "", usage, err
		}
		for _, c := range reply.Choices {
			text.WriteString(c.Text)
		}
		if reply.Usage != nil && reply.Usage.CompletionTokens > 0 {
			usage = *reply.Usage
		}
	}
}

func readChat(ctx context.Context, client *openai.Client) (string, openai.Usage, error) {
	var text strings.Builder
	var usage openai.Usage
	stream, err := client.CreateChatCompletionStream(ctx, openai.ChatCompletionRequest{Model: "m"})
	if err != nil {
		return "", usage, err
	}
	defer stream.Close()
	for {
		reply, err := stream.Recv()
		if err == io.EOF {
			return text.String(), usage, nil
		}
		if err != nil {
			return "", usage, err
		}
		for _, c := range reply.Choices {
			text.WriteString(c.Delta.Content)
		}
		if reply.Usage != nil && reply.Usage.CompletionTokens > 0 {
			usage = *reply.Usage
		}
	}
}

// vLLM streams the reasoning first. Its usage counts none of it, since the answer did not begin with a
// mark of reasoning.
func TestTTFOOfATranscript(t *testing.T) {
	target := engine.Target{Send: openAIAt(wiretest.DialRaw(transcript(t, "vllm-chat-think")), true).Send}
	rec := target.Once(t.Context(), &engine.Request{Body: []byte("{}")})
	ttfo, there := rec.TTFO()
	if rec.Result.Class != record.OK || !rec.Answer.Reasoned || !there || ttfo < rec.TTFT() || rec.Tokens.OutReasoned != 0 {
		t.Errorf("%s: TTFT %v, TTFO %v, %t, %+v", rec.Result.Error, rec.TTFT(), ttfo, there, rec)
	}
}

// protocolOr is the protocol of a chat, or else of completions.
func protocolOr(talk bool) *exchange.Protocol {
	if talk {
		return chat.Protocol
	}
	return completions.Protocol
}

// protocolNamed is the protocol of that name in a test, Completions' without a name.
func protocolNamed(api string) *exchange.Protocol {
	return map[string]*exchange.Protocol{"": completions.Protocol, "openai": completions.Protocol, "vllm": completions.Protocol, "chat": chat.Protocol, "audio": setBy(audio.Sender),
		"responses": responses.Protocol, "messages": setBy(messages.Sender)}[api]
}

// setBy is the protocol that an API sets.
func setBy(sender func(*exchange.Endpoint) engine.Sender) *exchange.Protocol {
	var to exchange.Endpoint
	sender(&to)
	return to.Protocol
}
