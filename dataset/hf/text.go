package hf

import (
	"errors"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/jinja"
	"github.com/servebench/servebench/dataset/media"
	"github.com/servebench/servebench/metrics/pyjson"
)

// Questions of benchmarks, with lengths of vLLM's choice.
var (
	mtBench = &class{
		repositories: []string{"philschmid/mt-bench"}, split: "train", outputLen: 256, rendered: unlessSkipped,
		positions: true,
		columns:   []string{"turns"}, turn: plain(column("turns", 0)), open: (*opened).files,
	}
	humanEval = &class{
		repositories: []string{"openai/openai_humaneval"}, split: "test", outputLen: 256, rendered: unlessSkipped,
		positions: true,
		columns:   []string{"prompt"}, turn: plain(column("prompt")), open: (*opened).files,
	}
	gsm8k = &class{
		repositories: []string{"openai/gsm8k"}, split: "test", subset: "main", outputLen: 256, rendered: unlessSkipped,
		positions: true,
		columns:   []string{"question"}, turn: plain(column("question")), open: (*opened).files,
	}
)

// Questions with recorded answers.
var (
	shareGPT = &class{
		repositories: []string{"Aeala/ShareGPT_Vicuna_unfiltered"}, chat: true, fitting: conversational.text,
		columns: []string{"conversations"}, turn: conversation, open: (*opened).files,
	}
	aimo = &class{
		repositories: []string{"AI-MO/aimo-validation-aime", "AI-MO/NuminaMath-1.5", "AI-MO/NuminaMath-CoT"}, split: "train",
		fitting: mathematical.text,
		columns: []string{"problem", "solution"}, turn: problem, open: (*opened).files,
	}
	mlperf = &class{
		repositories: []string{"mgoin/mlperf-inference-llama2-data", "mgoin/mlperf-inference-llama3.1-data"}, split: "train",
		rendered: always,
		fitting:  conversational.text, columns: []string{"system_prompt", "question", "output"}, turn: withSystem,
		open: (*opened).files,
	}
)

// limits are the lengths in tokens that fit.
type limits struct {
	prompt, total int
	text          string
}

// The limits of vLLM's client. Prompts and answers of fewer than four tokens never fit.
var (
	conversational = limits{1024, 2048, ": prompt and answer need 4 tokens, the prompt may have 1024, and both " +
		"together 2048"}
	mathematical = limits{2048, 32000, ": prompt and answer need 4 tokens, the prompt may have 2048, and both together " +
		"32000"}
)

const minTokens = 4

// fit is turn, or nil if it does not fit.
func (l *limits) fit(turn *dataset.Turn) *dataset.Turn {
	if turn.PromptLen < minTokens || turn.OutputLen < minTokens || turn.PromptLen > l.prompt ||
		turn.PromptLen+turn.OutputLen > l.total {
		return nil
	}
	return turn
}

// conversation is the first question and answer of a conversation.
func conversation(o *opened, row pyjson.Object) (*dataset.Turn, error) {
	messages, err := within(row, "conversations")
	if err != nil {
		return nil, err
	}
	list, ok := messages.([]any)
	if !ok {
		return nil, errors.New("conversations is no list")
	}
	if len(list) < 2 {
		return nil, nil
	}
	return exchange(o, row, &conversational, column("conversations", 0, "value"), column("conversations", 1, "value"))
}

// problem is a problem of mathematics and its solution.
func problem(o *opened, row pyjson.Object) (*dataset.Turn, error) {
	return exchange(o, row, &mathematical, column("problem"), column("solution"))
}

// exchange is a question and its answer. The limits hold unless a length is asked for.
func exchange(o *opened, row pyjson.Object, l *limits, question, answer func(pyjson.Object) (string, error)) (
	*dataset.Turn, error) {
	asked, err := question(row)
	if err != nil {
		return nil, err
	}
	answered, err := answer(row)
	if err != nil {
		return nil, err
	}
	turn, err := o.asked(user(asked), answered)
	if err != nil || o.of.OutputLen != nil {
		return turn, err
	}
	return l.fit(turn), nil
}

// withSystem is a question after a system's message. The special tokens of the answer do not count.
func withSystem(o *opened, row pyjson.Object) (*dataset.Turn, error) {
	var texts [3]string
	for i, name := range []string{"system_prompt", "question", "output"} {
		var err error
		if texts[i], err = text(row, name); err != nil {
			return nil, err
		}
	}
	turn, err := o.asked([]jinja.Message{{Role: "system", Content: texts[0]}, {Role: "user", Content: texts[1]}}, "")
	if err != nil {
		return nil, err
	}
	if o.of.OutputLen == nil {
		turn.OutputLen = o.of.Tokenizer.Count(texts[2], false)
	}
	return conversational.fit(turn), nil
}

// message is a prompt as the message of a user in a list of content parts.
func message(prompt string) []byte { return media.Message(prompt, nil) }
