package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/servebench/servebench/cmd/servebench/internal/advice"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/openai"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/failures"
	"github.com/servebench/servebench/metrics/record"
)

// adviserOf is that of a command line.
func adviserOf(t *testing.T, line string) *advice.Adviser {
	t.Helper()
	return &advice.Adviser{Plan: mustParse(t, line).plan()}
}

// What a server answers to the first call says what to do: about a key, the address, or
// waiting for the server.
func TestTheFirstRefusalSaysWhatToDo(t *testing.T) {
	for _, test := range []struct {
		status    int
		key, says string
	}{
		{http.StatusUnauthorized, "", "401 Unauthorized: OPENAI_API_KEY is not set: set it to the server's key, or give another header as --header NAME=VALUE"},
		{http.StatusUnauthorized, "wrong", "401 Unauthorized: check the key in OPENAI_API_KEY"},
		{http.StatusForbidden, "", "403 Forbidden: if the server wants a key, set OPENAI_API_KEY, or give the header that it wants as --header NAME=VALUE"},
		{http.StatusForbidden, "wrong", "403 Forbidden: check the key in OPENAI_API_KEY"},
		{http.StatusNotFound, "", "404 Not Found: check --base-url, and give --model if the server has no list of models"},
		{http.StatusServiceUnavailable, "", "503 Service Unavailable: --ready-check-timeout-sec 600 waits for a server that is starting"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(test.status) }))
		_, err := (&openai.Server{URL: server.URL}).Models(t.Context())
		server.Close()
		a := &advice.Adviser{Plan: &loadgen.Plan{Server: loadgen.Server{APIKey: test.key}}}
		got := err.Error()
		if advice := a.Unreachable(&loadgen.UnreachableError{Err: err}); advice != "" {
			got += ": " + advice
		}
		if !strings.HasSuffix(got, ": "+test.says) {
			t.Errorf("status %d with key %q: %s", test.status, test.key, got)
		}
	}
}

// The messages are those of ollama, LiteLLM, transformers serve and FastAPI.
func TestWhatCanBeDoneWhereTokenIDsAreRefused(t *testing.T) {
	const advice = "the server takes no token ids: give --tokenizer with the model's folder, or with stub-32000 for made-up words"
	for _, message := range []string{
		"400 Bad Request: json: cannot unmarshal array into Go struct field CompletionRequest.prompt of type string",
		"500 Internal Server Error: litellm.APIConnectionError: APIConnectionError: OpenAIException - Unmapped prompt format. Your prompt is neither a list of strings nor a string. prompt=[1, 2].",
		"400 Bad Request: prompt must be a string.",
		"422 Unprocessable Entity: body.prompt: Input should be a valid string",
	} {
		b := adviserOf(t, "")
		b.TokenIDs = true
		if got := b.About(message); got != advice {
			t.Errorf("%s: %q", message, got)
		}
		b.TokenIDs = false
		if got := b.About(message); got == advice {
			t.Errorf("%s: told so of a text", message)
		}
		b.TokenIDs, b.Plan.Workload.TokenIDs = true, true
		if got := b.About(message); !strings.HasSuffix(got, "leave --prompt-token-ids away") {
			t.Errorf("%s: %q", message, got)
		}
	}
}

// A server that takes no token ids refuses all requests of a run without a tokenizer.
func TestARunOfTokenIDsThatAreRefusedSaysWhatToDo(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/models":
			io.WriteString(w, `{"data": [{"id": "tiny"}]}`)
		case "/v1/completions":
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"detail":"prompt must be a string."}`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	cmd := newRunCommand()
	cmd.SetArgs([]string{"--base-url", server.URL, "--num-prompts", "2", "--disable-tqdm"})
	cmd.SetOut(io.Discard)
	cmd.SetErr(io.Discard)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "prompt must be a string.: the server takes no token ids: give --tokenizer ") {
		t.Errorf("%v", err)
	}
}

// The messages are those of servers, as a record has them.
func TestWhatCanBeDoneAboutAFailure(t *testing.T) {
	const (
		chat       = "--backend openai-chat --endpoint /v1/chat/completions"
		custom     = " --dataset-name file --dataset-path x --ignore-eos"
		wantsText  = "the server wants the content of messages as a string: give --chat-content string"
		toChat     = "has the server chat alone? Then give --backend openai-chat --endpoint /v1/chat/completions"
		noMessages = " takes requests for chat: give --backend openai-chat --endpoint /v1/chat/completions"
	)
	for _, test := range []struct{ line, message, advice string }{
		// The key, the URL, the path.
		{"--header authorization=Bearer", "401 Unauthorized: x", "check the Authorization header, or the name and password in the URL"},
		{"--base-url http://me:s3cret@h", "403 Forbidden: x", "check the Authorization header, or the name and password in the URL"},
		{"", "401 Unauthorized: Incorrect API key provided", "OPENAI_API_KEY is not set: set it to the server's key, or give another header as --header NAME=VALUE"},
		{"--base-url http://h/v1 --endpoint /completions", "404 Not Found /v1/v1/", "the base URL ends in /v1, which other paths begin with: give --base-url http://h --endpoint /v1/completions"},
		{"", "404 Not Found: Not found (POST http://h/v1/completions)", toChat},
		{"", "405 Method Not Allowed (POST http://h/v1/completions)", toChat},
		{"--backend openai-responses --endpoint /v1/responses", "404 Not Found: page not found (POST http://h/v1/responses)", "--backend openai-responses needs a server with an endpoint such as /v1/responses, and a model for it: has it one at another path? Then give --endpoint"},
		{"--backend openai-embeddings --endpoint /v1/embeddings", "404 Not Found: The model `m` does not exist.", ""},
		{chat, "404 Not Found: page not found (POST http://h/v1/chat/completions)", "has the server completions alone? Then give --backend openai --endpoint /v1/completions"},
		{"--backend openai-chat --endpoint /v2/chat/completions", "404 page not found (POST http://h/v2/chat/completions)", "most servers have the API of --backend openai-chat at --endpoint /v1/chat/completions; has the server completions alone? Then give --backend openai --endpoint /v1/completions"},
		{"", "404 Not Found: The model `nope` does not exist.", ""},
		{"", "404 Not Found: The API deployment for this resource does not exist.", ""},
		{"--endpoint /completions", "Never received a valid chunk to calculate TTFT.This response will be marked as failed!",
			"/completions streams no chunks of OpenAI's API: give --backend openai --endpoint /v1/completions, or --backend openai-chat --endpoint /v1/chat/completions"},
		{"", "Never received a valid chunk to calculate TTFT.This response will be marked as failed!", ""},

		// A body of the other kind.
		{"--endpoint /v1/chat/completions", "400 Bad Request: 'messages' is required", "/v1/chat/completions" + noMessages},
		{"--endpoint /v1/chat/completions", "400 Bad Request: Missing required parameter: 'messages'.", "/v1/chat/completions" + noMessages},
		{"--endpoint /v1/chat/completions", "422 Unprocessable Entity: body.messages: Field required", "/v1/chat/completions" + noMessages},
		{"--endpoint /v1/chat/completions", "400 Bad Request: `messages` must not be empty", "/v1/chat/completions" + noMessages},
		{"--endpoint /v1/chat/completions", "500 Internal Server Error: 'messages' is required", "/v1/chat/completions" + noMessages},
		{chat, "422 Unprocessable Entity: body.prompt: Field required", "/v1/chat/completions takes requests for completions: give --backend openai --endpoint /v1/completions"},
		{"", "400 Bad Request: This model's maximum context length is 1024 tokens. However, you requested 5002 tokens (2 in the messages, 5000 in the completion).",
			"prompt and answer are too long for the model: lower --random-input-len or --random-output-len"},

		// Content that is no string, as pydantic, Go, serde, a template and Groq say it.
		{chat, "422 Unprocessable Entity: body.messages.0.content: Input should be a valid string", wantsText},
		{chat, "400 Bad Request: json: cannot unmarshal array into Go struct field Message.messages.content of type string", wantsText},
		{chat, "422 Unprocessable Entity: Failed to deserialize the JSON body into the target type: messages[0]: invalid type: sequence, expected a string at line 1 column 52", wantsText},
		{chat, `400 Bad Request: can only concatenate str (not "list") to str`, wantsText},
		{chat, "400 Bad Request: 'messages.0' : for 'role:user' the following must be satisfied[('messages.0.content' : value must be a string)]", wantsText},
		{chat + " --chat-content string", "422 Unprocessable Entity: body.messages.0.content: Input should be a valid string", ""},
		{chat, "422 Unprocessable Entity: body.user: Input should be a valid string", ""},
		{chat, "429 Too Many Requests: body.messages.0.content: Input should be a valid string", ""},

		// Members that a server does not know.
		{"", "422 Unprocessable Entity: body.repetition_penalty: Extra inputs are not permitted; body.logprobs: Extra inputs are not permitted; body.ignore_eos: Extra inputs are not permitted",
			"--drop-body repetition_penalty,logprobs,ignore_eos leaves out what the server does not take"},
		{"", "400 Bad Request: Unrecognized request argument supplied: ignore_eos", "--drop-body ignore_eos leaves out what the server does not take"},
		{"--drop-body ignore_eos", "400 Bad Request: Unknown parameter: 'repetition_penalty'.", "--drop-body repetition_penalty,ignore_eos leaves out what the server does not take"},
		{"--repetition-penalty 1.1", "400 Bad Request: Unknown parameter: 'repetition_penalty'.", ""},
		{chat, "400 Bad Request: Unknown parameter: 'repetition_penalty'.", ""}, // chat does not send it
		{chat + custom, "422 Unprocessable Entity: body.messages.0.content: Input should be a valid string; body.ignore_eos: Extra inputs are not permitted",
			wantsText + "; --drop-body ignore_eos leaves out what the server does not take"},
		{"", "422 Unprocessable Entity: Unexpected fields in the request: {'repetition_penalty', 'ignore_eos'}",
			"--drop-body ignore_eos,repetition_penalty leaves out what the server does not take"},
		{"", "400 Bad Request: the value ignore_eosx is wrong", ""},

		// The wire.
		{"--http2", "the server speaks HTTP/1.1, not HTTP/2", "does the server speak HTTP/2? If not, leave --http2 away"},
		{"--http2", "the server speaks HTTP/1.1 over TLS, not HTTP/2", "does the server speak HTTP/2? If not, leave --http2 away"},
		{"--http2", "the connection was cut before the reply: http2: client conn could not be established", "does the server speak HTTP/2? If not, leave --http2 away"},
		{"--http2", "the server refused the request in 10 attempts over HTTP/2, without processing it: REFUSED_STREAM",
			"the server takes too few requests on a connection: lower --max-concurrency, or leave out --http2, so that each request in flight has a connection"},
		{"", "the server speaks only HTTP/2, not HTTP/1.1", "give --http2"},
		{"", "400 Bad Request: This model's maximum context length is 32768 tokens. However, your request has 100000 input tokens.",
			"prompt and answer are too long for the model: lower --random-input-len or --random-output-len"},
		{"--dataset-name sonnet --dataset-path sonnet.txt", "400 Bad Request: the request exceeds the available context size",
			"prompt and answer are too long for the model: lower --output-len, or take shorter prompts"},
		{"", "remote error: tls: certificate required", "the server wants to see a certificate of the client's: give --client-cert and --client-key"},
		{"--client-cert c", "remote error: tls: unknown certificate authority", "the server does not trust the certificate of --client-cert"},
		{"", "the TLS handshake failed: tls: failed to verify certificate: x509: certificate signed by unknown authority",
			"name a file with the certificate of its authority in --ca-cert or SSL_CERT_FILE, or give the host the name that the certificate is for; --insecure, as a last resort, verifies nothing"},
		{"", "503 Service Unavailable: overloaded", ""},
	} {
		t.Setenv(advice.KeyVariable, "")
		if got := adviserOf(t, test.line).About(test.message); got != test.advice {
			t.Errorf("%s: %s\n got: %s\nwant: %s", test.line, test.message, got, test.advice)
		}
	}
}

func TestAdviceOnARunIsGivenOnce(t *testing.T) {
	s := &metrics.Summary{}
	s.Give(failures.Kind, &failures.Failures{Classes: map[record.Class]*failures.Failing{
		record.Status:  {Requests: 3, Messages: map[string]int{"404 Not Found": 2, "503 Service Unavailable": 1}},
		record.TLS:     {Requests: 1, Messages: map[string]int{"the server speaks HTTP/1.1 over TLS, not HTTP/2": 1}},
		record.Timeout: {Requests: 1, Messages: map[string]int{"no answer": 1}},
	}})
	got := adviserOf(t, "--http2").On(s)
	if len(got) != 2 || !strings.HasPrefix(got[0], "does the server speak HTTP/2?") && !strings.HasPrefix(got[1], "does the server speak HTTP/2?") {
		t.Errorf("%q", got)
	}
}
