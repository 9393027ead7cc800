package dataset

import (
	"encoding/json"
	"strings"
	"testing"
)

// call is a call of an answer.
func call(id string) string {
	return `{"id": "` + id + `", "type": "function", "function": {"name": "f", "arguments": "{}"}}`
}

// calling is an answer with calls.
func calling(ids ...string) string {
	for i, id := range ids {
		ids[i] = call(id)
	}
	return `{"role": "assistant", "content": null, "tool_calls": [` + strings.Join(ids, ", ") + `]}`
}

func TestResultsOfToolsAnswerTheLiveCalls(t *testing.T) {
	const (
		ask    = `{"role": "user", "content": "ask"}`
		resA   = `{"role": "tool", "tool_call_id": "a", "content": "A <&>"}`
		resB   = `{"role": "tool", "tool_call_id": "b", "content": "B"}`
		plain  = `{"role": "assistant", "content": "So"}`
		silent = `{"role": "assistant", "content": ""}`
	)
	for _, c := range []struct {
		name, next, said, want string
	}{
		{"one call", `[` + resA + `]`, calling("x"),
			calling("x") + `, {"role": "tool", "tool_call_id": "x", "content": "A <&>"}`},
		{"two in order, one with two results, then a question", `[` + resB + `, ` + resA + `, ` + resB + `, ` + ask + `]`, calling("x", "y"),
			calling("x", "y") + `, {"role": "tool", "tool_call_id": "x", "content": "B"}, {"role": "tool", "tool_call_id": "y", "content": "A <&>"}, {"role": "tool", "tool_call_id": "x", "content": "B"}, ` + ask},
		{"fewer calls", `[` + resA + `, ` + resB + `]`, calling("x"),
			calling("x") + `, {"role": "tool", "tool_call_id": "x", "content": "A <&>"}, {"role": "user", "content": "B"}`},
		{"more calls", `[` + resA + `]`, calling("x", "y"), calling("x") + `, {"role": "tool", "tool_call_id": "x", "content": "A <&>"}`},
		{"no calls", `[` + resA + `]`, plain, plain + `, {"role": "user", "content": "A <&>"}`},
		{"no results", `[` + ask + `]`, calling("x"), silent + `, ` + ask},
		{"neither", `[` + ask + `]`, plain, plain + `, ` + ask},
		{"calls in the recorded messages", `[` + ask + `, ` + calling("b") + `, ` + resB + `]`, plain,
			plain + `, ` + ask + `, ` + calling("b") + `, ` + resB},
	} {
		t.Run(c.name, func(t *testing.T) {
			session := Conversation{Turns: []Turn{{Messages: json.RawMessage(`[` + ask + `]`)}, {Messages: json.RawMessage(c.next)}, {Messages: json.RawMessage(`[` + ask + `]`)}}}
			said := []json.RawMessage{json.RawMessage(c.said), json.RawMessage(plain), nil}
			for i, want := range []string{`[` + ask + `]`, `[` + ask + `, ` + c.want + `]`, `[` + ask + `, ` + c.want + `, ` + plain + `, ` + ask + `]`} {
				turn, err := session.Prompted(i, said)
				if err != nil || string(turn.Messages) != want {
					t.Errorf("turn %d: %v\n got %s\nwant %s", i, err, turn.Messages, want)
				}
			}
			if string(said[0]) != c.said || string(session.Turns[1].Messages) != c.next {
				t.Error("the answer or the recorded turn has changed")
			}
		})
	}
}

func TestRecordedAnswersKeepTheirCalls(t *testing.T) {
	session := Conversation{Turns: []Turn{
		{Messages: json.RawMessage(`[]`), Answer: json.RawMessage(calling("a", "b"))},
		{Messages: json.RawMessage(`[{"role": "tool", "tool_call_id": "a", "content": "A"}]`)},
	}}
	turn, err := session.Prompted(1, nil)
	if want := `[` + calling("a", "b") + `, {"role": "tool", "tool_call_id": "a", "content": "A"}]`; err != nil || string(turn.Messages) != want {
		t.Errorf("%v\n got %s\nwant %s", err, turn.Messages, want)
	}
}

func FuzzPairedCalls(f *testing.F) {
	f.Add(calling("x", "y"), `[{"role": "tool", "tool_call_id": "a", "content": "A"}]`)
	f.Add(calling(), `[{"role":"tool","tool_call_id":null},{"tool_calls":[{"id":1}]}]`)
	f.Add(`{"tool_calls": {}}`, `["tool_call_id"]`)
	f.Fuzz(func(t *testing.T, said, next string) {
		session := Conversation{Turns: []Turn{{Messages: json.RawMessage(`[]`)}, {Messages: json.RawMessage(next)}}}
		turn, err := session.Prompted(1, []json.RawMessage{json.RawMessage(said), nil})
		if err == nil && json.Valid([]byte(said)) && strings.HasPrefix(said, "{") && json.Valid([]byte(next)) && strings.HasPrefix(next, "[") && !json.Valid(turn.Messages) {
			t.Errorf("%s and %s make %s", said, next, turn.Messages)
		}
	})
}

// BenchmarkLiveTools makes the last prompt of an agent's job of 100 turns and about 100,000 tokens.
func BenchmarkLiveTools(b *testing.B) {
	session, said := Conversation{Turns: make([]Turn, 100)}, make([]json.RawMessage, 100)
	result := strings.Repeat(`and the next line of a file\n`, 150)
	for i := range session.Turns {
		session.Turns[i].Messages = json.RawMessage(`[{"role": "tool", "tool_call_id": "a", "content": "` + result + `"}]`)
		said[i] = json.RawMessage(calling("x"))
	}
	for b.Loop() {
		turn, err := session.Prompted(99, said)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(turn.Messages)))
	}
}

func TestATurnAddsToWhatTheServerKeeps(t *testing.T) {
	const user, tool = `[{"role": "user", "content": "Hi"}]`, `[{"role": "tool", "tool_call_id": "a", "content": "A"}]`
	session := Conversation{Turns: []Turn{
		{Messages: json.RawMessage(user)}, {Messages: json.RawMessage(tool)}, {Messages: json.RawMessage(user), Waits: []Wait{{1, Nothing}}},
		{Messages: json.RawMessage(user), Waits: []Wait{{1, Everything}, {2, AnswerOnly}}},
	}}
	said := []json.RawMessage{json.RawMessage(calling("x")), json.RawMessage(calling("y")), json.RawMessage(calling("z")), nil}
	for i, want := range []struct{ messages, answer string }{
		{user, ""}, {`[{"role": "tool", "tool_call_id": "x", "content": "A"}]`, calling("x")}, {user, ""},
	} {
		turn, answer, err := session.Added(i, said)
		if err != nil || string(turn.Messages) != want.messages || string(answer) != want.answer {
			t.Errorf("turn %d adds %s to %s, %v, want %+v", i, turn.Messages, answer, err, want)
		}
	}
	if _, _, err := session.Added(3, said); err == nil {
		t.Error("a prompt with the answers of two turns")
	}
}

func TestAHistoryComesBeforeOtherAnswers(t *testing.T) {
	answer := func(text string) json.RawMessage {
		return json.RawMessage(`{"role": "assistant", "content": "` + text + `\n"}`)
	}
	for _, order := range [][]Wait{{{1, AnswerOnly}, {0, Everything}, {2, Nothing}}, {{0, Everything}, {2, Nothing}, {1, AnswerOnly}}} {
		session := Conversation{Turns: []Turn{
			{Prompt: "a", Answer: answer("A")}, {Prompt: "b", Answer: answer("B"), Waits: []Wait{}}, {Prompt: "c", Answer: answer("C"), Waits: []Wait{}},
			{Prompt: "d", Waits: order},
		}}
		if turn, err := session.Prompted(3, nil); err != nil || turn.Prompt != "aA\nB\nd" {
			t.Errorf("waits %v make %q, %v", order, turn.Prompt, err)
		}
		for i, text := range []string{"a", "b", "c", "d"} {
			session.Turns[i].Messages = json.RawMessage(`["` + text + `"]`)
		}
		if turn, err := session.Prompted(3, nil); err != nil || string(turn.Messages) != `["a", `+string(answer("A"))+`, `+string(answer("B"))+`, "d"]` {
			t.Errorf("waits %v make %s, %v", order, turn.Messages, err)
		}
	}
	for _, wrong := range []json.RawMessage{nil, json.RawMessage(`{"content": null}`), json.RawMessage(`{"content": ["a"]}`), json.RawMessage(`{`)} {
		session := Conversation{Turns: []Turn{{Prompt: "a", Answer: wrong}, {Prompt: "b"}}}
		if turn, err := session.Prompted(1, nil); err == nil {
			t.Errorf("the answer %s makes %q", wrong, turn.Prompt)
		}
	}
}
