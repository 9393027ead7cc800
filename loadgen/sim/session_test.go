package sim

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/loadgen/sim/kvcache"
	"github.com/servebench/servebench/loadgen/sim/steps"
)

// said is the answer to a request that is not streamed.
type said struct {
	Choices []struct {
		Text    string
		Message json.RawMessage
	}
	Usage struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
		Details          struct {
			CachedTokens int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
	}
}

func (h *harness) ask(path string, body any) (a said) {
	h.t.Helper()
	if status, text := h.send(path, string(mustJSON(body))); status != 200 || json.Unmarshal([]byte(text), &a) != nil {
		h.t.Fatalf("%d %s", status, text)
	}
	return a
}

// An lru is a prefix cache as its definition says: the blocks by their whole text, last used first.
// Requests come one at a time.
type lru struct {
	size  int
	idle  []string
	found int
}

// serve runs a request with that prompt and output through the cache.
func (c *lru) serve(prompt, output []int) {
	all := slices.Concat(prompt, output)
	name := func(i int) string { return fmt.Sprint(all[:(i+1)*kvcache.BlockSize]) }
	var mine []string
	use := func(block string) {
		mine = append(mine, block)
		c.idle = slices.DeleteFunc(c.idle, func(s string) bool { return s == block })
	}
	for len(mine)*kvcache.BlockSize+kvcache.BlockSize < len(prompt) && slices.Contains(c.idle, name(len(mine))) {
		use(name(len(mine)))
	}
	c.found = len(mine) * kvcache.BlockSize
	for computed := len(prompt); computed < len(all); computed++ {
		used := (computed + kvcache.BlockSize - 1) / kvcache.BlockSize
		c.idle = c.idle[:min(len(c.idle), c.size-used)]
		for (len(mine)+1)*kvcache.BlockSize <= computed {
			use(name(len(mine)))
		}
	}
	c.idle = slices.Concat(mine, c.idle)
	// The beginning of a text was used last, so that ends are dropped before beginnings.
}

func TestCacheHitsOfSessionsAreAnLRUs(t *testing.T) {
	const size = 40
	cfg := Config{Cost: testCost, Cache: Cache{Prefixes: true, Blocks: size}, Answers: Answers{CachedTokens: true}, Limits: Limits{ModelLen: size * kvcache.BlockSize}}
	bubble(t, cfg, func(h *harness) {
		random := rand.New(rand.NewPCG(1, 2))
		model := lru{size: size}
		sessions := make([][]int, 5)
		hits, misses := 0, 0
		for range 300 {
			session := &sessions[random.IntN(len(sessions))]
			if len(*session) > 250 {
				*session = (*session)[:random.IntN(40)] // a new session with the beginning of the old one
			}
			for range 1 + random.IntN(60) {
				*session = append(*session, random.IntN(stub.Size))
			}
			out := 1 + random.IntN(60)
			a := h.ask("/v1/completions", map[string]any{"prompt": *session, "max_tokens": out, "ignore_eos": true})
			output := stub.Encode(a.Choices[0].Text, false)
			if len(output) != out {
				t.Fatalf("%d tokens of text for %d", len(output), out)
			}
			model.serve(*session, output)
			if got := a.Usage.Details.CachedTokens; got != model.found {
				t.Fatalf("%d tokens found, and %d in the model", got, model.found)
			}
			hits += model.found
			misses += len(*session) - model.found
			*session = append(*session, output...)
		}
		if hits < 5000 || misses < 5000 {
			t.Errorf("%d tokens found and %d not: a test of nothing", hits, misses)
		}
	})
}

func TestAChatGoesOnWhereItsAnswerEnded(t *testing.T) {
	for name, limit := range map[string]map[string]any{
		"cut":              {"max_tokens": 45, "ignore_eos": true},
		"ended by itself":  {"max_tokens": 1000},
		"with reasoning":   {"max_tokens": 45, "ignore_eos": true},
		"with a tool call": {"max_tokens": 45, "ignore_eos": true, "tools": []any{map[string]any{"type": "function", "function": map[string]any{"name": "look"}}}},
	} {
		cfg := Config{Cost: testCost, Cache: Cache{Prefixes: true}, Answers: Answers{CachedTokens: true, MeanLen: 60}}
		switch name {
		case "with reasoning":
			cfg.Answers.Lead = Lead{"reasoning", 20}
		case "with a tool call":
			cfg.Answers.Lead = Lead{"tool_calls", 20}
		}
		bubble(t, cfg, func(h *harness) {
			messages := []any{map[string]any{"role": "system", "content": "tok1 tok2"}, map[string]any{"role": "user", "content": promptOf(50)}}
			before, out := 0, 0 // the prompt and the output that are in the cache
			for turn := range 4 {
				limit["messages"] = messages
				a := h.ask("/v1/chat/completions", limit)
				want := max(0, (before+out-1)/kvcache.BlockSize*kvcache.BlockSize)
				if name == "with reasoning" {
					want = before / kvcache.BlockSize * kvcache.BlockSize // the template drops it
				}
				if got := a.Usage.Details.CachedTokens; got != want {
					t.Errorf("%s: turn %d found %d tokens of %d, want %d", name, turn, got, a.Usage.PromptTokens, want)
				}
				before, out = a.Usage.PromptTokens, a.Usage.CompletionTokens
				messages = append(messages, a.Choices[0].Message, map[string]any{"role": "tool", "tool_call_id": "x", "content": promptOf(turn)})
			}
		})
	}
}

func TestMooncakeBlocksAreFoundAsTheFormulaSays(t *testing.T) {
	bubble(t, Config{Cost: testCost, Cache: Cache{Prefixes: true}, Answers: Answers{CachedTokens: true}}, func(h *harness) {
		block := func(id, n int) (ids []int) {
			r := rand.New(rand.NewPCG(uint64(id), 0))
			for range n {
				ids = append(ids, r.IntN(stub.Size))
			}
			return ids
		}
		seen := map[string]bool{}
		for _, row := range []struct {
			length int
			ids    []int
		}{
			{1200, []int{0, 1, 2}}, {1024, []int{0, 1}}, {1025, []int{0, 1, 3}}, {2048, []int{0, 1, 4, 5}},
			{2048, []int{0, 1, 4, 5}}, {512, []int{0}}, {513, []int{6, 0}}, {530, []int{6, 7}}, {2100, []int{0, 1, 4, 5, 8}},
		} {
			var prompt []int
			path, k, front := "", 0, true // k blocks of 512 were there
			for i, id := range row.ids {
				n := min(512, row.length-512*i)
				prompt = append(prompt, block(id, n)...)
				path += fmt.Sprint(" ", id, "/", n)
				if front = front && seen[path]; front && n == 512 {
					k++
				}
				seen[path] = true
			}
			a := h.ask("/v1/completions", map[string]any{"prompt": prompt, "max_tokens": 1, "ignore_eos": true})
			if got, want := a.Usage.Details.CachedTokens, min(512*k, (row.length-1)/kvcache.BlockSize*kvcache.BlockSize); got != want {
				t.Errorf("%d tokens of %v: %d found, want %d", row.length, row.ids, got, want)
			}
		}
	})
}

func TestUsageTellsCachedTokensOnlyIfAsked(t *testing.T) {
	for _, asked := range []bool{false, true} {
		bubble(t, Config{Cache: Cache{Prefixes: true}, Answers: Answers{CachedTokens: asked}}, func(h *harness) {
			body := strings.Replace(completion(40, 1), "{", `{"stream_options":{"include_usage":true,"continuous_usage_stats":true},`, 1)
			for turn, want := range []string{"}", `,"prompt_tokens_details":{"cached_tokens":32}}`} {
				if !asked {
					want = "}"
				}
				const usage = `"usage":{"prompt_tokens":40,"total_tokens":41,"completion_tokens":1`
				events := h.stream("/v1/completions", "", body)
				if got := events[0].data; !strings.HasSuffix(got, usage+"}}") {
					t.Errorf("a chunk that is not the last: %s", got)
				}
				if got := events[1].data; !strings.HasSuffix(got, usage+want+"}") {
					t.Errorf("asked %v, turn %d: %s", asked, turn, got)
				}
			}
		})
	}
}

func TestAgentsGetToolCallsThatTheyCanSendBack(t *testing.T) {
	type call struct {
		ID       string
		Function toolFunction
	}
	bubble(t, Config{Answers: Answers{Lead: Lead{"tool_calls", 3}}}, func(h *harness) {
		ids := map[string]bool{}
		for _, row := range []struct{ extra, name string }{
			{``, toolName},
			{`,"tools":[],"tool_choice":null`, toolName},
			{`,"tools":[{"type":"function","function":{"name":"look","parameters":{}}},{"type":"function","function":{"name":"go"}}],"tool_choice":"auto"`, "look"},
			{`,"tools":[{"type":"function","function":{"name":"look"}}],"tool_choice":{"type":"function","function":{"name":"go"}}`, "go"},
			{`,"tools":[{"type":"function","function":{"name":"look"}}],"tool_choice":"none"`, ""},
		} {
			_, body := h.send("/v1/chat/completions", `{"max_tokens":5,"ignore_eos":true,"messages":[{"role":"user","content":"tok1"},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"look","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"tok7"},{"role":"assistant","tool_calls":[{"id":"d","type":"function","function":{"name":"look","arguments":"{}"}}]},{"role":"tool","tool_call_id":"d","content":[{"type":"text","text":"tok8"}]}]`+row.extra+`}`)
			var got struct {
				Choices []struct {
					Message struct {
						Content   string
						ToolCalls []call `json:"tool_calls"`
					}
				}
			}
			if err := json.Unmarshal([]byte(body), &got); err != nil || len(got.Choices) != 1 {
				t.Fatalf("%s: %v %s", row.extra, err, body)
			}
			m := got.Choices[0].Message
			if row.name == "" {
				if len(m.ToolCalls) > 0 || stub.Count(m.Content, false) != 5 {
					t.Errorf("%s: %s", row.extra, body)
				}
				continue
			}
			var args struct{ Text string }
			if len(m.ToolCalls) != 1 || json.Unmarshal([]byte(m.ToolCalls[0].Function.Arguments), &args) != nil || stub.Count(args.Text, false) != 3 {
				t.Fatalf("%s: %s", row.extra, body)
			}
			if m.ToolCalls[0].Function.Name != row.name || ids[m.ToolCalls[0].ID] || stub.Count(m.Content, false) != 2 {
				t.Errorf("%s: %s", row.extra, body)
			}
			ids[m.ToolCalls[0].ID] = true
		}
		for _, body := range []string{`{"messages":[{"role":"assistant"}]}`, `{"messages":[{"content":"a"}],"tools":{}}`, `{"messages":[{"content":"a"}],"tool_choice":7}`} {
			if status, text := h.send("/v1/chat/completions", body); status != 400 {
				t.Errorf("%s: %d %s", body, status, text)
			}
		}
	})
}

func TestStreamedArgumentsAreTheWholeOnes(t *testing.T) {
	for _, cfg := range []Config{
		{Answers: Answers{Lead: Lead{"tool_calls", 4}}},
		{Answers: Answers{Lead: Lead{"tool_calls", 40}}},
		{Answers: Answers{Lead: Lead{"tool_calls", 4}}, Speculative: steps.Speculative{Tokens: 2, Acceptance: 1}},
	} {
		bubble(t, cfg, func(h *harness) {
			var args string
			for _, e := range h.stream("/v1/chat/completions", "r-1", `{"messages":[{"role":"user","content":"tok5"}],"max_tokens":9,"ignore_eos":true,"stream":true}`) {
				var chunk struct {
					Choices []struct {
						Delta struct {
							ToolCalls []struct{ Function toolFunction } `json:"tool_calls"`
						}
					}
				}
				json.Unmarshal([]byte(e.data), &chunk)
				for _, c := range chunk.Choices {
					for _, call := range c.Delta.ToolCalls {
						args += call.Function.Arguments
					}
				}
			}
			var m message
			m.ToolCalls = append(m.ToolCalls, struct {
				Function struct {
					Arguments string `json:"arguments"`
				} `json:"function"`
			}{struct {
				Arguments string `json:"arguments"`
			}{args}})
			if back := m.arguments()[0]; !json.Valid([]byte(args)) || stub.Count(back, false) < min(cfg.Answers.Lead.Tokens, 9) || strings.Contains(back, "{") {
				t.Errorf("%+v: arguments %s", cfg.Answers.Lead, args)
			}
		})
	}
}

func TestATraceNamesItsSession(t *testing.T) {
	bubble(t, Config{Cache: Cache{Prefixes: true}}, func(h *harness) {
		for i := range 2 {
			r := h.request(h.t.Context(), "/v1/completions", fmt.Sprint("r-", i), completion(40, 1))
			r.Header.Set("X-Session-ID", "s")
			resp, err := h.client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if tr := h.trace(fmt.Sprint("r-", i)); tr.Session != "s" || tr.Found != 32*i {
				t.Errorf("%+v, want session s and %d tokens found", tr, 32*i)
			}
		}
	})
}
