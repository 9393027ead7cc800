package dataset_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset"
)

// marked are the sessions of a source with marks.
func marked(t *testing.T, seed int64, each bool, all ...*dataset.Conversation) (got []*dataset.Conversation) {
	t.Helper()
	source := func(yield func(*dataset.Conversation, error) bool) {
		for _, c := range all {
			if !yield(c, nil) {
				return
			}
		}
	}
	for c, err := range dataset.Marked(source, seed, each, func(text string) int { return len(strings.Fields(text)) }) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, c)
	}
	return got
}

func TestAMarkBeginsAPromptAndItsHistory(t *testing.T) {
	chat := &dataset.Conversation{ID: "a", Turns: []dataset.Turn{
		{Messages: json.RawMessage(`[{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}]`), PromptLen: 10, Answer: json.RawMessage(`{"role": "assistant", "content": "yes"}`)},
		{Messages: json.RawMessage(`[{"role": "user", "content": [{"type": "text", "text": "more"}]}]`), PromptLen: 15},
		{Messages: json.RawMessage(`[{"content": [{"type": "text", "text": "whole"}]}]`), Waits: []dataset.Wait{{Turn: 1}}},
	}}
	text := &dataset.Conversation{ID: "b", Turns: []dataset.Turn{{Prompt: "hello", PromptLen: 1}}}
	got := marked(t, 7, true, chat, text)
	mark, _, _ := strings.Cut(got[1].Turns[0].Prompt, "\n\n")
	if len(mark) != 12 || got[1].Turns[0].Prompt != mark+"\n\nhello" || got[1].Turns[0].PromptLen != 2 {
		t.Errorf("a text: %+v", got[1].Turns[0])
	}
	var begins [3]string
	for i, want := range []string{
		`[{"role": "system", "content": "MARK\n\nbe brief"}, {"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}, {"role": "user", "content": [{"type": "text", "text": "more"}]}]`,
		`[{"content": [{"type": "text", "text": "MARK\n\n"}, {"type": "text", "text": "whole"}]}]`,
	} {
		turn, err := got[0].Prompted(i+1, nil)
		if err != nil {
			t.Fatal(err)
		}
		at := strings.Index(string(turn.Messages), `\n\n`)
		begins[i] = string(turn.Messages[at-12 : at])
		if text := strings.Replace(string(turn.Messages), begins[i], "MARK", 1); text != want {
			t.Errorf("turn %d: %s", i+1, text)
		}
	}
	if begins[0] != begins[1] || begins[0] == mark {
		t.Errorf("one session has the marks %q, another %s", begins[:2], mark)
	}
	if n := got[0].Turns[1].PromptLen; n != 16 {
		t.Errorf("the history has %d tokens", n)
	}
	run := marked(t, 7, false, chat, text)
	if first, _ := run[0].Prompted(0, nil); !strings.Contains(string(first.Messages), run[1].Turns[0].Prompt[:12]) {
		t.Errorf("one run has several marks: %s, %s", first.Messages, run[1].Turns[0].Prompt)
	}
	if other := marked(t, 8, false, text)[0].Turns[0].Prompt; other == run[1].Turns[0].Prompt {
		t.Errorf("two seeds have the mark %q", other)
	}
}

// Prompts of one session that share blocks still do, and no other session has those.
func TestMarkedBlocksAreSharedWithinASession(t *testing.T) {
	all := []dataset.Block{{1, 16}, {2, 16}, {3, 16}}
	session := func() *dataset.Conversation {
		return &dataset.Conversation{Turns: []dataset.Turn{
			{Blocks: all[:1:1], Tail: dataset.Block{ID: 4, Tokens: 3}, PromptLen: 19},
			{Blocks: all, PromptLen: 48, Waits: []dataset.Wait{{}}},
		}}
	}
	got := marked(t, 7, true, session(), session())
	one, two := got[0].Turns, got[1].Turns
	if &one[0].Blocks[0] != &one[1].Blocks[0] || len(one[0].Blocks) != 1 || len(one[1].Blocks) != 3 {
		t.Errorf("the blocks of a session are no longer one array: %v, %v", one[0].Blocks, one[1].Blocks)
	}
	for i, b := range slices.Concat(one[1].Blocks, []dataset.Block{one[0].Tail}) {
		other := append(slices.Clone(two[1].Blocks), two[0].Tail)[i]
		if b.ID == other.ID || b.Tokens != other.Tokens || b.ID == uint64(i+1) {
			t.Errorf("block %d is %v and %v", i, b, other)
		}
	}
	if one[0].PromptLen != 19 || fmt.Sprint(all) != "[{1 16} {2 16} {3 16}]" {
		t.Errorf("%d tokens; the source has %v now", one[0].PromptLen, all)
	}
	if run := marked(t, 7, false, session())[0].Turns; run[1].Blocks[0] != all[0] {
		t.Errorf("a run that has its seed in its blocks changed them: %v", run[1].Blocks)
	}
}

func TestPromptsThatTakeNoMarkAreErrors(t *testing.T) {
	for name, turn := range map[string]dataset.Turn{
		"a prompt of token ids": {TokenIDs: []int{1}},
		"no first message":      {Messages: json.RawMessage(`[]`)},
		"no content":            {Messages: json.RawMessage(`[{"role": "content"}]`)},
		"no text":               {Messages: json.RawMessage(`[{"content": null}]`)},
	} {
		for c, err := range dataset.Marked(func(yield func(*dataset.Conversation, error) bool) {
			yield(&dataset.Conversation{Turns: []dataset.Turn{turn}}, nil)
		}, 0, true, nil) {
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v, %v", name, c, err)
			}
		}
	}
}
