package chunk

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/servebench/servebench/loadgen/api/exchange"
	"github.com/servebench/servebench/loadgen/api/scan"
	"github.com/servebench/servebench/metrics/record"
)

// A wireChunk is the JSON of an event. The types of go-openai have no reasoning, and none covers
// both endpoints.
type wireChunk struct {
	Object  string               `json:"object"`
	Error   json.RawMessage      `json:"error"`
	Choices scan.Few[wireChoice] `json:"choices"`
	Usage   json.RawMessage      `json:"usage"`
	Metrics json.RawMessage      `json:"metrics"`
}

// usageOf returns the counts in raw.
func usageOf(raw json.RawMessage) exchange.Usage {
	var members struct {
		In  json.RawMessage `json:"prompt_tokens"`
		Out json.RawMessage `json:"completion_tokens"`

		Details json.RawMessage `json:"prompt_tokens_details"`

		OutDetails json.RawMessage `json:"completion_tokens_details"`
	}
	_ = json.Unmarshal(raw, &members) // what is not an object has no counts
	found := exchange.Usage{Given: scan.Truthy(raw) && raw[0] == '{'}
	found.In, found.HasIn = scan.CountOf(members.In)
	found.Out, found.HasOut = scan.CountOf(members.Out)
	found.Cached, found.HasCached = CachedOf(members.Details)
	found.Reasoned = cmp.Or(ReasonedOf(members.OutDetails), ReasonedOf(raw))
	return found
}

// ReasonedOf is the number of reasoning tokens in the details of an output, 0 if it is missing.
func ReasonedOf(raw json.RawMessage) int {
	var details struct {
		Reasoned json.RawMessage `json:"reasoning_tokens"`
	}
	_ = json.Unmarshal(raw, &details) // what is not an object has no details
	n, _ := scan.CountOf(details.Reasoned)
	return n
}

// CachedOf is the number of cached tokens in the details of a prompt, and whether it is there.
func CachedOf(raw json.RawMessage) (n int, there bool) {
	var details struct {
		Cached json.RawMessage `json:"cached_tokens"`
	}
	_ = json.Unmarshal(raw, &details) // what is not an object has no details
	return scan.CountOf(details.Cached)
}

type wireChoice struct {
	Index        int             `json:"index"`
	Text         json.RawMessage `json:"text"`
	Delta        wireDelta       `json:"delta"`
	FinishReason exchange.Finish `json:"finish_reason"`
}

// A wireDelta is what a chunk of a chat adds, each member as raw JSON; nil if missing.
type wireDelta struct {
	Role             json.RawMessage `json:"role"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Content          json.RawMessage `json:"content"`
	Refusal          json.RawMessage `json:"refusal"`
	FunctionCall     json.RawMessage `json:"function_call"`
	ToolCalls        json.RawMessage `json:"tool_calls"`
}

// isOutput is the rule of vLLM's client since 0.33.0: one of the members that it knows is not
// empty, or the content is an empty text and there is no role.
func (d *wireDelta) isOutput() bool {
	return scan.Truthy(d.Content) || scan.Truthy(d.Reasoning) || scan.Truthy(d.ToolCalls) ||
		scan.Truthy(d.FunctionCall) || string(d.Content) == `""` && d.Role == nil
}

// answers reports whether the delta holds output of any kind other than reasoning.
func (d *wireDelta) answers() bool {
	return scan.Truthy(d.Content) && !thinks(d.Content) || scan.Truthy(d.ToolCalls) ||
		scan.Truthy(d.FunctionCall) || scan.Truthy(d.Refusal)
}

// thinks reports whether a content is a list of reasoning alone, as Mistral's API sends it.
func thinks(raw json.RawMessage) bool {
	if len(raw) == 0 || raw[0] != '[' {
		return false
	}
	var parts scan.Few[scan.Part]
	_ = json.Unmarshal(raw, &parts) // a list it is
	return !slices.ContainsFunc(parts, func(p scan.Part) bool { return p.Type != "thinking" })
}

// reasons reports whether the delta holds reasoning. Some servers use an older name for it.
func (d *wireDelta) reasons() bool {
	return scan.Truthy(d.Reasoning) || scan.Truthy(d.ReasoningContent) || scan.Truthy(d.Content) && thinks(d.Content)
}

// serverTimes reads the times that vLLM itself measured for a request; those that are not numbers
// are unknown. It is nil if raw is not an object.
func serverTimes(raw json.RawMessage) *record.ServerTimes {
	var members struct {
		Queue json.RawMessage `json:"queue_time_ms"`
		TTFT  json.RawMessage `json:"time_to_first_token_ms"`

		Generation json.RawMessage `json:"generation_time_ms"`
		MeanITL    json.RawMessage `json:"mean_itl_ms"`
	}
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &members) != nil {
		return nil
	}
	return &record.ServerTimes{
		QueueMS: scan.Number(members.Queue), TTFTMS: scan.Number(members.TTFT),
		GenerationMS: scan.Number(members.Generation), MeanITLMS: scan.Number(members.MeanITL),
	}
}
