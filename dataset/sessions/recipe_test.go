package sessions

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/retime"
	"github.com/servebench/servebench/dataset/reuse"
)

// A recipe is a workload that is too large to write out, and five of its requests.
type recipe struct {
	Recipe struct{ Sessions, Turns int }
	Totals struct {
		Requests int
		New      int `json:"new_tokens"`
		Output   int `json:"output_tokens"`
		Input    int `json:"input_tokens"`
		Longest  int `json:"longest_input"`
	}
	Picks []struct {
		Session     string
		Turn, Group int
		Start       *float64 `json:"start_s"`
		Gap         *float64 `json:"gap_s"`
		New         int      `json:"new_tokens"`
		Input       int      `json:"input_len"`
		Output      int      `json:"output_len"`
		Shared      *int     `json:"shared_with_previous_turn"`
	}
}

// recipeSession is session k: each prompt is the system prompt of its group, and new tokens and
// answers in turn.
func recipeSession(k, turns int) *dataset.Conversation {
	due := float64(36*k) / 1000
	c := &dataset.Conversation{ID: "s" + strconv.Itoa(k), Due: &due, Turns: make([]dataset.Turn, turns)}
	all := make([]dataset.Block, 0, 2*turns)
	all = append(all, dataset.Block{ID: uint64(k % 10), Tokens: 1024})
	length := 1024
	for j := range c.Turns {
		added, output := 64+(31*k+17*j)%192, 32+(7*k+13*j)%96
		own := uint64(1000 + k*2*turns + 2*j)
		all = append(all, dataset.Block{ID: own, Tokens: int32(added)})
		length += added
		turn := &c.Turns[j]
		turn.PromptLen, turn.OutputLen, turn.Blocks = length, output, all
		if j > 0 {
			turn.Waits = []dataset.Wait{{Turn: j - 1}}
			turn.Gap = 0.5 + float64((5*k+3*j)%40)/10
		}
		all = append(all, dataset.Block{ID: own + 1, Tokens: int32(output)})
		length += output
	}
	return c
}

// A hundred thousand sessions pass through the stages, and what is held stays small.
func TestSessionsOfARecipeAreStreamed(t *testing.T) {
	var want recipe
	text, err := os.ReadFile(filepath.Join("testdata", "expected", "recipe-100k-sessions.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	count := want.Recipe.Sessions
	if testing.Short() {
		count = 2000
	}
	source := retime.Speed(func(yield func(*dataset.Conversation, error) bool) {
		for k := range count {
			if !yield(recipeSession(k, want.Recipe.Turns), nil) {
				return
			}
		}
	}, 2)
	got := want.Totals
	got.Requests, got.New, got.Output, got.Input, got.Longest = 0, 0, 0, 0, 0
	k, picked := 0, 0
	var held uint64
	for c, err := range source {
		if err != nil {
			t.Fatal(err)
		}
		for j := range c.Turns {
			turn := &c.Turns[j]
			got.Requests++
			got.New += int(turn.Blocks[len(turn.Blocks)-1].Tokens)
			got.Output += turn.OutputLen
			got.Input += turn.PromptLen
			got.Longest = max(got.Longest, turn.PromptLen)
		}
		for _, pick := range want.Picks {
			if pick.Session != c.ID {
				continue
			}
			picked++
			turn := &c.Turns[pick.Turn]
			if turn.PromptLen != pick.Input || turn.OutputLen != pick.Output || turn.Blocks[0].ID != uint64(pick.Group) ||
				pick.Gap != nil && dataset.Seconds(turn.Gap*2) != dataset.Seconds(*pick.Gap) ||
				pick.Start != nil && dataset.Seconds(*c.Due*2) != dataset.Seconds(*pick.Start) {
				t.Errorf("turn %d of %s is %+v, want %+v", pick.Turn, c.ID, turn, pick)
			}
			if pick.Shared != nil {
				reuse := reuse.Cache{BlockSize: 1}
				last := c.Turns[pick.Turn-1]
				answered := dataset.Conversation{Turns: []dataset.Turn{{Blocks: last.Blocks[:len(last.Blocks)+1]}, *turn}}
				reuse.Next(&answered, 0)
				if shared := reuse.Next(&answered, 1); shared != *pick.Shared {
					t.Errorf("turn %d of %s shares %d tokens with the turn before, want %d", pick.Turn, c.ID, shared, *pick.Shared)
				}
			}
		}
		if k++; k%2000 == 0 {
			runtime.GC()
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			held = max(held, memory.HeapAlloc)
		}
	}
	if !testing.Short() && (got != want.Totals || picked != len(want.Picks)) {
		t.Errorf("totals %+v and %d picks, want %+v and %d", got, picked, want.Totals, len(want.Picks))
	}
	if held > 16<<20 {
		t.Errorf("%d MiB are held after some sessions, want less than 16", held>>20)
	}
}
