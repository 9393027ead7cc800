package sim

import (
	"github.com/servebench/servebench/loadgen/sim/spans"
	"github.com/servebench/servebench/loadgen/sim/steps"
)

// The shapes of answers that are not streamed, with vLLM's keys in their order.
type (
	answer struct {
		ID               string    `json:"id"`
		Object           string    `json:"object"`
		Created          int64     `json:"created"`
		Model            string    `json:"model"`
		Choices          [1]choice `json:"choices"`
		Usage            counts    `json:"usage"`
		KVTransferParams *struct{} `json:"kv_transfer_params"`
		Metrics          *timings  `json:"metrics,omitempty"`
	}
	choice struct {
		Index        int          `json:"index"`
		Text         *string      `json:"text,omitempty"`
		Message      *chatMessage `json:"message,omitempty"`
		Logprobs     *struct{}    `json:"logprobs"`
		FinishReason string       `json:"finish_reason"`
		StopReason   *string      `json:"stop_reason"`
	}
	chatMessage struct {
		Role             string     `json:"role"`
		Content          string     `json:"content"`
		ReasoningContent string     `json:"reasoning_content,omitempty"`
		Reasoning        string     `json:"reasoning,omitempty"`
		ToolCalls        []toolCall `json:"tool_calls"`
	}
	toolCall struct {
		ID       string       `json:"id"`
		Type     string       `json:"type"`
		Function toolFunction `json:"function"`
	}
	toolFunction struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	counts struct {
		PromptTokens     int `json:"prompt_tokens"`
		TotalTokens      int `json:"total_tokens"`
		CompletionTokens int `json:"completion_tokens"`

		PromptTokensDetails *details `json:"prompt_tokens_details"`
	}
	details struct {
		CachedTokens int `json:"cached_tokens"`
	}

	// timings are what vLLM tells of a request with --enable-per-request-metrics. TTFT counts from
	// when the engine scheduled the request, and the rate, too.
	timings struct {
		TTFT       float64 `json:"time_to_first_token_ms"`
		Generation float64 `json:"generation_time_ms"`
		Queue      float64 `json:"queue_time_ms"`
		MeanITL    float64 `json:"mean_itl_ms,omitempty"` // of an answer with a second token
		Rate       float64 `json:"tokens_per_second"`
	}
)

// newTimings are the engine's times of a sequence that has ended.
func newTimings(seq *steps.Sequence) *timings {
	scheduled, first, last := seq.Scheduled(), seq.FirstToken(), seq.LastToken()
	t := &timings{
		TTFT:       spans.Milliseconds(first.Sub(scheduled)),
		Generation: spans.Milliseconds(last.Sub(first)),
		Queue:      spans.Milliseconds(scheduled.Sub(seq.Arrived())),
		Rate:       float64(seq.Out()) / last.Sub(scheduled).Seconds(),
	}
	if seq.Out() > 1 {
		t.MeanITL = t.Generation / float64(seq.Out()-1)
	}
	return t
}

// whole is the whole answer, with the engine's times unless they are nil.
func (a *reply) whole(t *timings) []byte {
	lead := min(a.lead.Tokens, a.text.Left())
	a.out = a.text.Left()
	first := a.text.Append(nil, lead)
	rest := string(a.text.Append(nil, a.text.Left()))

	object, c := "text_completion", choice{FinishReason: a.finish()}
	if a.query.chat {
		object = "chat.completion"
		c.Message = &chatMessage{Role: "assistant", Content: rest, ToolCalls: []toolCall{}}
		switch a.lead.Field {
		case "reasoning_content":
			c.Message.ReasoningContent = string(first)
		case "reasoning":
			c.Message.Reasoning = string(first)
		case "tool_calls":
			c.Message.ToolCalls = []toolCall{{a.callID, "function",
				toolFunction{a.query.tool, callBegins + string(appendString(nil, first)) + callEnds}}}
		}
	} else {
		c.Text = &rest
	}
	usage := counts{PromptTokens: len(a.query.prompt), TotalTokens: len(a.query.prompt) + a.out, CompletionTokens: a.out}
	if a.details && a.found > 0 {
		usage.PromptTokensDetails = &details{a.found}
	}
	return mustJSON(answer{
		ID: a.id, Object: object, Created: a.created, Model: a.model,
		Choices: [1]choice{c}, Usage: usage, Metrics: t,
	})
}
