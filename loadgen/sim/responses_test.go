package sim

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// A responded is what a test reads of an event of the Responses API.
type responded struct {
	Type, Delta string
	Response    struct {
		ID    string
		Usage struct {
			In      int `json:"input_tokens"`
			Out     int `json:"output_tokens"`
			Details struct {
				Cached int `json:"cached_tokens"`
			} `json:"input_tokens_details"`
		}
	}
}

// respond streams a response. It returns its text, its last event, and when its first token came.
func (h *harness) respond(id string, body map[string]any) (text string, last responded, first time.Duration) {
	h.t.Helper()
	start := time.Now()
	body["stream"] = true
	for _, e := range h.stream("/v1/responses", id, string(mustJSON(body))) {
		last = responded{}
		if err := json.Unmarshal([]byte(e.data), &last); err != nil {
			h.t.Fatal(err)
		}
		if text += last.Delta; last.Type == "response.output_text.delta" && first == 0 {
			first = e.at.Sub(start)
		}
	}
	return text, last, first
}

// A session whose history the server keeps has the prompts and the cache hits of a chat that sends
// all of its messages, and takes as long.
func TestResponsesGoOnAsChatsDo(t *testing.T) {
	cfg := Config{Cost: testCost, Cache: Cache{Prefixes: true}, Answers: Answers{CachedTokens: true}}
	type turn struct {
		text            string
		in, out, cached int
		first           time.Duration
	}
	var chat, response []turn
	bubble(t, cfg, func(h *harness) {
		var messages []any
		for k := range 3 {
			messages = append(messages, map[string]any{"role": "user", "content": promptOf(40 + k)})
			start, a := time.Now(), turn{}
			body := map[string]any{"messages": messages, "max_tokens": 20, "ignore_eos": true, "stream": true, "stream_options": map[string]any{"include_usage": true}}
			for _, e := range h.stream("/v1/chat/completions", "r-"+string(rune('1'+k)), string(mustJSON(body))) {
				var chunk struct {
					Choices []struct{ Delta struct{ Content string } }
					Usage   struct {
						In      int `json:"prompt_tokens"`
						Out     int `json:"completion_tokens"`
						Details struct {
							Cached int `json:"cached_tokens"`
						} `json:"prompt_tokens_details"`
					}
				}
				_ = json.Unmarshal([]byte(e.data), &chunk) // [DONE] is none
				if len(chunk.Choices) > 0 {
					if a.text += chunk.Choices[0].Delta.Content; a.first == 0 && a.text != "" {
						a.first = e.at.Sub(start)
					}
				}
				if u := chunk.Usage; u.In > 0 {
					a.in, a.out, a.cached = u.In, u.Out, u.Details.Cached
				}
			}
			messages = append(messages, map[string]any{"role": "assistant", "content": a.text})
			chat = append(chat, a)
		}
	})
	bubble(t, cfg, func(h *harness) {
		body := map[string]any{"max_output_tokens": 20, "ignore_eos": true}
		for k := range 3 {
			body["input"] = []any{map[string]any{"role": "user", "content": promptOf(40 + k)}}
			text, last, first := h.respond("r-"+string(rune('1'+k)), body)
			u := last.Response.Usage
			response = append(response, turn{text, u.In, u.Out, u.Details.Cached, first})
			body["previous_response_id"] = last.Response.ID
			if want := "response.incomplete"; last.Type != want {
				t.Errorf("turn %d ends with %s, want %s", k, last.Type, want)
			}
		}
		body["previous_response_id"] = "resp_none"
		if status, text := h.send("/v1/responses", string(mustJSON(body))); status != 404 || !strings.Contains(text, "not found") {
			t.Errorf("an unknown answer before it: %d %s", status, text)
		}
	})
	for k := range chat {
		if chat[k] != response[k] || k > 0 && chat[k].cached == 0 {
			t.Errorf("turn %d: chat %+v, response %+v", k, chat[k], response[k])
		}
	}
}
