package reuse

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/retime"
	"github.com/servebench/servebench/dataset/sessions"
)

// order is the requests of a source as inOrder yields them, in words.
func order(t *testing.T, src dataset.Source) (list []string) {
	t.Helper()
	for r, err := range inOrder(src) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprint(r.c.ID, "/", r.turn, " ", r.at.Seconds(), " to ", r.ends.Seconds()))
	}
	return list
}

func of(list ...*dataset.Conversation) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) {
		for _, c := range list {
			if !yield(c, nil) {
				return
			}
		}
	}
}

func TestRequestsComeInTheOrderOfTheRecording(t *testing.T) {
	chat := []dataset.Turn{{Took: 2}, {Gap: 1, Took: 0.5}, {At: new(9.0)}, {At: new(8.0), Took: 1}}
	first := &dataset.Conversation{ID: "a", Due: new(0.0), Turns: chat}
	second := &dataset.Conversation{ID: "b", Due: new(3.0), Turns: []dataset.Turn{{}, {}}}
	third := &dataset.Conversation{ID: "c", Due: new(9.0), Turns: []dataset.Turn{{}, {Waits: []dataset.Wait{}}}}
	want := []string{
		"a/0 0 to 2", "a/1 3 to 3.5", "b/0 3 to 3", "b/1 3 to 3",
		"a/2 9 to 9", "a/3 9 to 10", "c/0 9 to 9", "c/1 9 to 9", // none before what it waits for
	}
	if got := order(t, of(first, second, third)); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	// A join comes after both, though its recorded time is before the first of them.
	join := []dataset.Turn{{}, {Waits: []dataset.Wait{}, At: new(4.0)}, {Waits: []dataset.Wait{{Turn: 1}, {Turn: 0}}, At: new(2.0)}}
	if got, want := order(t, of(&dataset.Conversation{ID: "a", Due: new(0.0), Turns: join})), []string{"a/0 0 to 0", "a/1 4 to 4", "a/2 4 to 4"}; !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	// At one time, sessions keep their order.
	var same []*dataset.Conversation
	want = nil
	for turn := range 2 {
		for i := range 9 {
			want = append(want, fmt.Sprintf("%d/%d %d to %d", i, turn, turn, turn))
		}
	}
	for i := range 9 {
		same = append(same, &dataset.Conversation{ID: fmt.Sprint(i), Due: new(0.0), Turns: []dataset.Turn{{}, {Gap: 1}}})
	}
	if got := order(t, of(same...)); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	// Without times a session starts when all of the sessions before have ended.
	untimed := retime.Untimed(of(first, second))
	want = []string{
		"a/0 0 to 2", "a/1 3 to 3.5", "a/2 9 to 9", "a/3 9 to 10", "b/0 10 to 10", "b/1 10 to 10",
	}
	if got := order(t, untimed); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	use, err := UseOf(untimed, nil)
	if err != nil || use.Span != 10*time.Second {
		t.Errorf("%+v, %v", use, err)
	}
	for r, err := range inOrder(untimed) {
		if err != nil || r.turn != 0 {
			t.Error(r, err)
		}
		break
	}
}

func TestErrorsOfASourceReachWhoeverMeasures(t *testing.T) {
	broken := errors.New("broken")
	src := func(yield func(*dataset.Conversation, error) bool) { yield(nil, broken) }
	if _, err := UseOf(src, []int{1}); err != broken {
		t.Errorf("error %v", err)
	}
}

// Texts have lengths and a history, and no blocks to look up in caches of limited sizes.
func TestUseOfTextsKnowsTheirHistory(t *testing.T) {
	c := &dataset.Conversation{Turns: []dataset.Turn{{Prompt: "x", PromptLen: 20}, {Prompt: "y", PromptLen: 40}}}
	use, err := UseOf(of(c), []int{1 << 30})
	if err != nil || use.Prompts != 60 || use.Reusable != 16 || use.BySize != nil {
		t.Errorf("%+v, %v", use, err)
	}
	c.Turns[0].PromptLen = 0
	if use, err = UseOf(of(c, c), nil); err != nil || use.Reusable != -1 {
		t.Errorf("%+v, %v", use, err)
	}
}

// A spawn that goes on from its parent's prompt has an array with it.
func TestAgentsShareTheirBlocks(t *testing.T) {
	source, _, err := sessions.Weka{Options: dataset.Options{Path: written(t, `{"block_size": 4, "requests": [
		{"t": 0, "in": 9, "out": 1, "hash_ids": [1, 2]},
		{"t": 1, "type": "subagent", "requests": [{"t": 1, "in": 12, "out": 1, "hash_ids": [1, 2, 3]}]},
		{"t": 2, "in": 13, "out": 1, "hash_ids": [1, 2, 4]}]}`), VocabSize: 1000, Seed: 7}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	turns := pull(t, source)[0].Turns
	if &turns[0].Blocks[0] != &turns[1].Blocks[0] || &turns[2].Blocks[0] == &turns[0].Blocks[0] {
		t.Error("only prompts that extend one another share an array")
	}
	for i, want := range []int{2, 3, 3} {
		if len(turns[i].Blocks) != want || cap(turns[i].Blocks) != want {
			t.Errorf("turn %d has %d blocks and room for %d, want %d", i, len(turns[i].Blocks), cap(turns[i].Blocks), want)
		}
	}
	if turns[1].Blocks[2] == turns[2].Blocks[2] {
		t.Error("the prompts of the agents end alike")
	}
}

// written is a file with a text.
func written(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "f.jsonl")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// pull is what a source yields.
func pull(t *testing.T, source dataset.Source) (list []*dataset.Conversation) {
	t.Helper()
	for c, err := range source {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}
