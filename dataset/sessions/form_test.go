package sessions

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset"
)

// Formats without a reader have a place in Conversation, too. These are made by hand: a Bailian trace
// with a tree of turns and a lost parent, and a DAG of AIPerf with forks, spawns and joins.

func bailianByHand() map[string]place {
	blocks := func(ids ...uint64) (list []dataset.Block) {
		for _, id := range ids {
			list = append(list, dataset.Block{ID: id, Tokens: 16})
		}
		return list
	}
	after := func(turn int) []dataset.Wait { return []dataset.Wait{{Turn: turn, History: dataset.Nothing}} }
	tree := &dataset.Conversation{ID: "10", Due: new(0.25), Turns: []dataset.Turn{
		{PromptLen: 16, OutputLen: 7, At: new(0.25), Blocks: blocks(3)},
		{PromptLen: 24, OutputLen: 5, At: new(7.5), Gap: 7.25, Waits: after(0), Blocks: blocks(3), Tail: dataset.Block{ID: 4, Tokens: 8}},
		{PromptLen: 30, OutputLen: 5, At: new(9.0), Gap: 8.75, Waits: after(0), Blocks: blocks(3), Tail: dataset.Block{ID: 5, Tokens: 14}},
		{PromptLen: 48, OutputLen: 1, At: new(9.5), Gap: 0.5, Waits: after(2), Blocks: blocks(3, 5, 6)},
	}}
	lost := &dataset.Conversation{ID: "13", Due: new(1.0), Turns: []dataset.Turn{
		{PromptLen: 32, OutputLen: 2, At: new(1.0), Blocks: blocks(3, 8)},
	}}
	return map[string]place{"10": {tree, 0}, "11": {tree, 1}, "12": {tree, 2}, "14": {tree, 3}, "13": {lost, 0}}
}

func dagByHand() []*dataset.Conversation {
	add := func(agent, text string, output int, gap float64, waits ...dataset.Wait) dataset.Turn {
		if waits == nil {
			waits = []dataset.Wait{}
		}
		return dataset.Turn{Agent: agent, Messages: asked(text), OutputLen: output, Gap: gap, Waits: waits}
	}
	history := func(turn int) dataset.Wait { return dataset.Wait{Turn: turn, History: dataset.Everything} }
	order := func(turn int) dataset.Wait { return dataset.Wait{Turn: turn, History: dataset.Nothing} }
	root := add("root", "", 16, 0)
	root.Messages = json.RawMessage(`[{"role": "system", "content": "Plan."}, {"role": "user", "content": "Split the work."}]`)
	return []*dataset.Conversation{{ID: "root", Turns: []dataset.Turn{
		add("early", "Prefetch.", 2, 0),
		root,
		add("w1", "Part one.", 4, 0, order(1)),
		add("w1", "More.", 4, 1, history(2)),
		add("w2", "Part two.", 4, 0, order(1)),
		add("root", "Meanwhile?", 8, 0.25, history(1)),
		add("root", "Merge.", 8, 0, history(5), order(3), order(4)),
		add("f1", "Criticise.", 4, 0, history(6)),
	}}}
}

func TestOtherFormatsHaveAPlace(t *testing.T) {
	checkNamed(t, readExpansion(t, "bailian-tricky.jsonl"), bailianByHand(), func(_ *dataset.Conversation, id uint64) uint64 { return id })

	list := dagByHand()
	checkExpansion(t, "dag.jsonl", list, nil)
	// A fork has the whole history with the live answers; a spawn has none.
	said := make([]json.RawMessage, len(list[0].Turns))
	for i := range said {
		said[i] = fmt.Appendf(nil, `{"role": "assistant", "content": "answer %d"}`, i)
	}
	for turn, want := range map[int]string{
		7: "Plan. Split the work. answer 1 Meanwhile? answer 5 Merge. answer 6 Criticise.",
		2: "Part one.", 3: "Part one. answer 2 More.",
	} {
		prompted, err := list[0].Prompted(turn, said)
		if err != nil {
			t.Fatal(err)
		}
		var sent []struct{ Content string }
		if err := json.Unmarshal(prompted.Messages, &sent); err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, message := range sent {
			texts = append(texts, message.Content)
		}
		if got := strings.Join(texts, " "); got != want {
			t.Errorf("turn %d sends %q, want %q", turn, got, want)
		}
	}
}
