package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/servebench/servebench/loadgen/sim/faults"
	"github.com/servebench/servebench/loadgen/sim/speed"
	"github.com/servebench/servebench/loadgen/sim/steps"
)

var word = regexp.MustCompile(`tok\d+`)

// shape is what a stream says, with every word called W.
func shape(events []event) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString(word.ReplaceAllString(e.data, "W") + "\n")
	}
	return b.String()
}

func TestCompletionChunksAreVLLMs(t *testing.T) {
	const head = `{"id":"cmpl-r-1","object":"text_completion","created":946684800,"model":"stub-32000","choices":[`
	for name, row := range map[string]struct{ body, want string }{
		"plain": {`{"prompt":"tok1 tok2","max_tokens":2,"ignore_eos":true,"stream":true}`,
			head + `{"index":0,"text":" W","logprobs":null,"finish_reason":null,"stop_reason":null}],"usage":null}` + "\n" +
				head + `{"index":0,"text":" W","logprobs":null,"finish_reason":"length","stop_reason":null}],"usage":null}` + "\n" +
				"[DONE]\n"},
		"with usage": {`{"model":"stub-32000","prompt":[[1,2,3]],"max_tokens":1,"ignore_eos":true,"stream":true,"logprobs":null,"repetition_penalty":1.0,"stream_options":{"include_usage":true}}`,
			head + `{"index":0,"text":" W","logprobs":null,"finish_reason":"length","stop_reason":null}],"usage":null}` + "\n" +
				head + `],"usage":{"prompt_tokens":3,"total_tokens":4,"completion_tokens":1}}` + "\n" +
				"[DONE]\n"},
		"with continuous usage": {`{"prompt":["tok1"],"max_tokens":2,"ignore_eos":true,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`,
			head + `{"index":0,"text":" W","logprobs":null,"finish_reason":null,"stop_reason":null}],"usage":{"prompt_tokens":1,"total_tokens":2,"completion_tokens":1}}` + "\n" +
				head + `{"index":0,"text":" W","logprobs":null,"finish_reason":"length","stop_reason":null}],"usage":{"prompt_tokens":1,"total_tokens":3,"completion_tokens":2}}` + "\n" +
				head + `],"usage":{"prompt_tokens":1,"total_tokens":3,"completion_tokens":2}}` + "\n" +
				"[DONE]\n"},
	} {
		bubble(t, Config{}, func(h *harness) {
			if got := shape(h.stream("/v1/completions", "r-1", row.body)); got != row.want {
				t.Errorf("%s: got\n%s\nwant\n%s", name, got, row.want)
			}
		})
	}
}

func TestChatChunksAreVLLMs(t *testing.T) {
	const head = `{"id":"chatcmpl-r-1","object":"chat.completion.chunk","created":946684800,"model":"m","choices":[`
	const role = head + `{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]`
	const tail = head + `],"usage":{"prompt_tokens":7,"total_tokens":9,"completion_tokens":2}}` + "\n[DONE]\n"
	const done = `"logprobs":null,"finish_reason":"length","stop_reason":null}]`
	for lead, want := range map[Lead]string{
		{}: role + "}\n" +
			head + `{"index":0,"delta":{"content":"W"},"logprobs":null,"finish_reason":null}]}` + "\n" +
			head + `{"index":0,"delta":{"content":" W"},` + done + "}\n" + tail,
		{"reasoning_content", 1}: role + "}\n" +
			head + `{"index":0,"delta":{"reasoning_content":"W"},"logprobs":null,"finish_reason":null}]}` + "\n" +
			head + `{"index":0,"delta":{"content":" W"},` + done + "}\n" + tail,
		{"tool_calls", 1}: role + "}\n" +
			head + `{"index":0,"delta":{"tool_calls":[{"id":"call_r-1","type":"function","index":0,"function":{"name":"simulate","arguments":"{\"text\":\"W\"}"}}]},"logprobs":null,"finish_reason":null}]}` + "\n" +
			head + `{"index":0,"delta":{"content":" W"},` + done + "}\n" + tail,
	} {
		bubble(t, Config{ServedModelName: "m", Answers: Answers{Lead: lead}}, func(h *harness) {
			got := shape(h.stream("/v1/chat/completions", "r-1",
				`{"model":"m","messages":[{"role":"user","content":"tok5"}],"max_completion_tokens":2,"ignore_eos":true,"stream":true,"temperature":0.0,"stream_options":{"include_usage":true}}`))
			if got != want {
				t.Errorf("lead %v: got\n%s\nwant\n%s", lead, got, want)
			}
		})
	}
}

func TestWholeAnswersAreVLLMs(t *testing.T) {
	for path, row := range map[string]struct{ body, want string }{
		"/v1/completions": {`{"prompt":"tok1 tok2","max_tokens":2,"ignore_eos":true}`,
			`{"id":"cmpl-I","object":"text_completion","created":946684800,"model":"stub-32000","choices":[{"index":0,"text":" W W","logprobs":null,"finish_reason":"length","stop_reason":null}],"usage":{"prompt_tokens":2,"total_tokens":4,"completion_tokens":2,"prompt_tokens_details":null},"kv_transfer_params":null}`},
		"/v1/chat/completions": {`{"messages":[{"role":"system","content":"tok1"},{"role":"user","content":[{"type":"text","text":"tok1 tok2"}]}],"max_tokens":3,"ignore_eos":true}`,
			`{"id":"chatcmpl-I","object":"chat.completion","created":946684800,"model":"stub-32000","choices":[{"index":0,"message":{"role":"assistant","content":" W","reasoning":"W W","tool_calls":[]},"logprobs":null,"finish_reason":"length","stop_reason":null}],"usage":{"prompt_tokens":13,"total_tokens":16,"completion_tokens":3,"prompt_tokens_details":null},"kv_transfer_params":null}`},
	} {
		bubble(t, Config{Answers: Answers{Lead: Lead{"reasoning", 2}}}, func(h *harness) {
			status, got := h.send(path, row.body)
			got = regexp.MustCompile(`cmpl-[0-9a-f]{16}`).ReplaceAllString(word.ReplaceAllString(got, "W"), "cmpl-I")
			if status != http.StatusOK || got != row.want {
				t.Errorf("%s: %d\n%s\nwant\n%s", path, status, got, row.want)
			}
		})
	}
}

func TestOtherEndpointsAreVLLMs(t *testing.T) {
	bubble(t, Config{ServedModelName: "served", Model: "root/model", Limits: Limits{ModelLen: 4096}}, func(h *harness) {
		for path, want := range map[string]string{
			"/v1/models": `{"object":"list","data":[{"id":"served","object":"model","created":946684800,"owned_by":"vllm","root":"root/model","parent":null,"max_model_len":4096}]}`,
			"/health":    "",
		} {
			if got := h.get(path); got != want {
				t.Errorf("%s: %s, want %s", path, got, want)
			}
		}
		for body, want := range map[string]string{
			`{"model":"served","prompt":"tok7 tok8","add_special_tokens":false}`: `{"count":2,"max_model_len":4096,"tokens":[7,8],"token_strs":null}`,
			`{"prompt":""}`: `{"count":0,"max_model_len":4096,"tokens":[],"token_strs":null}`,
		} {
			if _, got := h.send("/tokenize", body); got != want {
				t.Errorf("/tokenize %s: %s, want %s", body, got, want)
			}
		}
		if _, got := h.send("/detokenize", `{"model":"served","tokens":[7,8]}`); got != `{"prompt":"tok7 tok8"}` {
			t.Errorf("/detokenize: %s", got)
		}
	})
}

// vLLM lists an adapter with its base model as parent, and without a length.
func TestAdaptersAreListedAndAnswer(t *testing.T) {
	bubble(t, Config{ServedModelName: "m", Adapters: []string{"sql", "chat"}, Limits: Limits{ModelLen: 4096}}, func(h *harness) {
		list := h.get("/v1/models")
		const adapter = `{"id":"sql","object":"model","created":946684800,"owned_by":"vllm","root":"sql","parent":"m","max_model_len":null}`
		if !strings.Contains(list, adapter) || !strings.Contains(list, `"id":"chat"`) || !strings.Contains(list, `"id":"m"`) {
			t.Errorf("models: %s", list)
		}
		for name, want := range map[string]int{"sql": 200, "chat": 200, "m": 200, "math": 404} {
			status, got := h.send("/v1/completions", `{"model":"`+name+`","prompt":"tok1","max_tokens":1}`)
			if status != want || status == 200 && !strings.Contains(got, `"model":"`+name+`"`) {
				t.Errorf("%s: %d %s", name, status, got)
			}
		}
	})
}

func TestRefusedRequestsSayWhy(t *testing.T) {
	const comp, chat = "/v1/completions", "/v1/chat/completions"
	bubble(t, Config{Limits: Limits{ModelLen: 10}}, func(h *harness) {
		for _, row := range []struct {
			path, body  string
			status      int
			param, says string
		}{
			{comp, `{"model":"nope","prompt":"tok1"}`, 404, "model", "The model `nope` does not exist."},
			{"/tokenize", `{"model":"nope","prompt":"tok1"}`, 404, "model", "does not exist"},
			{"/tokenize", `{"messages":[]}`, 400, "prompt", "must be a text"},
			{"/detokenize", `{"tokens":[-1]}`, 400, "tokens", "out of vocabulary"},
			{comp, `{"model":`, 400, "", "not a JSON object"},
			{comp, `[]`, 400, "", "not a JSON object"},
			{comp, `{"prompt":"tok1","stream":"yes"}`, 400, "", "stream"},
			{comp, `{"prompt":"tok1","n":2}`, 400, "n", "`n` is not simulated"},
			{comp, `{"prompt":"tok1","logprobs":0}`, 400, "logprobs", "not simulated"},
			{comp, `{"prompt":"tok1","echo": true}`, 400, "echo", "not simulated"},
			{comp, `{"prompt":"tok1","stop":["a"]}`, 400, "stop", "not simulated"},
			{chat, `{"messages":[{"content":"tok1"}],"response_format":{"type":"json_object"}}`, 400, "response_format", "not simulated"},
			{chat, `{"messages":[{"content":[{"type":"file"}]}]}`, 400, "messages", "file"},
			{chat, `{"messages":[{"content":7}]}`, 400, "messages", "must be a text or a list of parts"},
			{chat, `{"messages":[]}`, 400, "messages", "must not be empty"},
			{comp, `{"prompt":["a","b"]}`, 400, "prompt", "more than one"},
			{comp, `{"prompt":[[1],[2]]}`, 400, "prompt", "more than one"},
			{comp, `{"prompt":[1,32000]}`, 400, "prompt", "Token id 32000 is out of vocabulary"},
			{comp, `{"prompt":{}}`, 400, "prompt", "must be a text or a list of token ids"},
			{comp, `{"prompt":""}`, 400, "prompt", "must hold a token"},
			{comp, `{}`, 400, "prompt", "must"},
			{comp, `{"prompt":"a a a a a a a a a a a"}`, 400, "input_tokens", "maximum context length is 10 tokens. However, you requested 0 output tokens and your prompt contains at least 11 input tokens, for a total of at least 11 tokens. Please reduce"},
			{comp, `{"prompt":"a a a a a a a a a a"}`, 400, "input_tokens", "you requested 1 output tokens and your prompt contains at least 10 input tokens"},
			{comp, `{"prompt":"a a","max_tokens":9}`, 400, "input_tokens", "you requested 9 output tokens and your prompt contains at least 2 input tokens, for a total of at least 11 tokens."},
			{chat, `{"messages":[{"content":"a"}],"max_completion_tokens":0}`, 400, "max_completion_tokens", "at least 1, got 0"},
			{comp, `{"prompt":"a","max_tokens":3,"min_tokens":4}`, 400, "min_tokens", "from 0 to 3"},
		} {
			status, body := h.send(row.path, row.body)
			var got struct {
				Error struct {
					Message, Type string
					Param         *string
					Code          int
				}
			}
			if err := json.Unmarshal([]byte(body), &got); err != nil {
				t.Errorf("%s: %v: %s", row.body, err, body)
			}
			param := ""
			if got.Error.Param != nil {
				param = *got.Error.Param
			}
			if status != row.status || got.Error.Code != status || param != row.param || !strings.Contains(got.Error.Message, row.says) {
				t.Errorf("%s: %d %s, want %d for %q saying %q", row.body, status, body, row.status, row.param, row.says)
			}
		}
	})
}

func TestHarmlessFieldsAreAccepted(t *testing.T) {
	bubble(t, Config{}, func(h *harness) {
		for _, field := range []string{
			`"n":1`, `"best_of":null`, `"logprobs":null`, `"logprobs":false`, `"echo":false`, `"stop":[ ]`, `"temperature":0.7`,
			`"top_p":0.9`, `"top_k":5`, `"repetition_penalty":1.1`, `"seed":3`, `"unheard_of":{}`, `"stream_options":null`,
		} {
			if status, body := h.send("/v1/completions", `{"prompt":"tok1","max_tokens":2,`+field+`}`); status != http.StatusOK {
				t.Errorf("%s: %d %s", field, status, body)
			}
		}
	})
}

func TestTextIsThePromptsOwn(t *testing.T) {
	text := func(seed uint64, prompt int) (got string) {
		bubble(t, Config{Seed: seed}, func(h *harness) {
			for _, e := range h.stream("/v1/completions", "", completion(prompt, 20)) {
				got += strings.Join(word.FindAllString(e.data, -1), " ")
			}
		})
		return got
	}
	if a, b := text(1, 9), text(1, 9); a != b {
		t.Errorf("one prompt was answered with %s and %s", a, b)
	}
	if a, b := text(1, 9), text(1, 8); a == b {
		t.Error("two prompts have one answer")
	}
	if a, b := text(1, 9), text(2, 9); a == b {
		t.Error("two seeds give one answer")
	}
}

func TestAnswersEndByThemselvesUnlessToldNotTo(t *testing.T) {
	bubble(t, Config{Answers: Answers{MeanLen: 20}, Cost: speed.Cost{Base: 1}}, func(h *harness) {
		total, stopped, n := 0, 0, 400
		for i := range n {
			_, body := h.send("/v1/completions", fmt.Sprintf(`{"prompt":[%d],"max_tokens":1000,"min_tokens":2}`, i))
			var got answer
			if err := json.Unmarshal([]byte(body), &got); err != nil {
				t.Fatal(err)
			}
			out := got.Usage.CompletionTokens
			total += out
			if got.Choices[0].FinishReason == steps.Stop {
				stopped++
				out-- // the end-of-sequence token has no text
			}
			if words := len(strings.Fields(*got.Choices[0].Text)); words != out || out < 1 {
				t.Fatalf("%d words for %d tokens, %s", words, got.Usage.CompletionTokens, body)
			}
		}
		if stopped != n {
			t.Errorf("%d of %d ended by themselves", stopped, n)
		}
		if mean := float64(total) / float64(n); mean < 17 || mean > 23 {
			t.Errorf("mean length %v, want about 20", mean)
		}
		_, body := h.send("/v1/completions", `{"prompt":"tok1","ignore_eos":true}`)
		if !strings.Contains(body, fmt.Sprintf(`"completion_tokens":%d,`, defaultMaxTokens)) {
			t.Errorf("without max_tokens: %s", body)
		}
	})
}

func TestConfigIsChecked(t *testing.T) {
	bubble(t, Config{}, func(h *harness) {
		good := h.cfg
		for name, spoil := range map[string]func(*Config){
			"no tokenizer": func(c *Config) { c.Tokenizer = nil },
			"budget":       func(c *Config) { c.Limits.NumBatchedTokens = 255 },
			"draft budget": func(c *Config) { c.Speculative.Tokens = 8 },
			"acceptance":   func(c *Config) { c.Speculative.Acceptance = 1.1 },
			"jitter":       func(c *Config) { c.Jitter = -1 },
			"lead":         func(c *Config) { c.Answers.Lead.Field = "role" },
			"fault":        func(c *Config) { c.Faults.List = []faults.Fault{{Kind: "nonsense"}} },
			"chance":       func(c *Config) { c.Faults.Probability = 2 },
			"every":        func(c *Config) { c.Faults.Every = -1 },
			"sequences":    func(c *Config) { c.Limits.NumSeqs = -1 },
		} {
			bad := good
			spoil(&bad)
			if s, err := New(bad); err == nil {
				s.Close()
				t.Errorf("%s: accepted", name)
			}
		}
	})
}
