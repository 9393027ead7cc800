package request_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/loadgen/api/request"
)

func TestSessionsAreSpelledOnce(t *testing.T) {
	session := &dataset.Conversation{ID: "a", Turns: []dataset.Turn{
		{Messages: json.RawMessage(`[{"role":"user","content":"Hé"}]`), Answer: json.RawMessage(`{"role": "assistant", "content": "So"}`), OutputLen: 2},
		{Messages: json.RawMessage(`[{"role": "user", "content": "On"}]`), Answer: json.RawMessage(`{"role":"assistant","content":1.50}`)},
		{Prompt: "é"}, {Messages: json.RawMessage(`[`)},
	}}
	ready := &dataset.Conversation{Turns: []dataset.Turn{{Messages: json.RawMessage(`[]`)}, {Messages: json.RawMessage(`[1, 2]`)}}}
	single := &dataset.Conversation{Turns: []dataset.Turn{{Messages: json.RawMessage(`[{"role":"user"}]`)}}}
	broken := errors.New("broken")
	source := func(yield func(*dataset.Conversation, error) bool) {
		_ = yield(session, nil) && yield(ready, nil) && yield(single, nil) && yield(nil, broken)
	}
	var got []*dataset.Conversation
	var failed error
	for c, err := range request.Spelled(source) {
		got, failed = append(got, c), err
	}
	if len(got) != 4 || failed != broken || got[1] != ready || got[2] != single {
		t.Fatalf("%d conversations, error %v", len(got), failed)
	}
	first := got[0].Turns
	for i, want := range []struct{ messages, answer string }{
		{`[{"role": "user", "content": "H\u00e9"}]`, `{"role": "assistant", "content": "So"}`},
		{`[{"role": "user", "content": "On"}]`, `{"role": "assistant", "content": 1.5}`}, {}, {"[", ""},
	} {
		if string(first[i].Messages) != want.messages || string(first[i].Answer) != want.answer {
			t.Errorf("turn %d has %s, answered %s, want %+v", i, first[i].Messages, first[i].Answer, want)
		}
	}
	if got[0].ID != "a" || first[0].OutputLen != 2 || first[2].Prompt != "é" {
		t.Errorf("the session lost what needs no spelling: %+v", got[0])
	}
	if string(session.Turns[0].Messages) != `[{"role":"user","content":"Hé"}]` {
		t.Error("the source's session has changed")
	}
	for range request.Spelled(source) {
		break
	}
}
