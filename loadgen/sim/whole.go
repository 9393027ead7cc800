package sim

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
)

// whole is the whole answer.
func (a *reply) whole() []byte {
	lead := min(a.lead.Tokens, a.text.left)
	a.out = a.text.left
	first := a.text.append(nil, lead)
	rest := string(a.text.append(nil, a.text.left))

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
			c.Message.ToolCalls = []toolCall{{a.callID, "function", toolFunction{a.query.tool, callBegins + string(appendString(nil, first)) + callEnds}}}
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
		Choices: [1]choice{c}, Usage: usage,
	})
}
