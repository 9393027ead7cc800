package sessions

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/retime"
	"github.com/servebench/servebench/dataset/reuse"
)

// An expansion is what a sample expands to, worked out by hand.
type expansion struct {
	Requests    []expected
	WorkedTimes *struct {
		EveryRequestTakes float64                       `json:"every_request_takes_s"`
		Due               map[string]map[string]float64 `json:"due_s"`
	} `json:"worked_times"`
	IdealCache *struct {
		BlockSize int            `json:"block_size"`
		LookedUp  int            `json:"looked_up_tokens"`
		Hits      int            `json:"hit_tokens"`
		ByRequest map[string]int `json:"hit_tokens_by_request"`
	} `json:"ideal_cache"`
}

// An expected request.
type expected struct {
	ID        string
	Session   string
	Parents   []parent
	At        *float64 `json:"at_s"`
	Gap       *float64 `json:"gap_s"`
	InputLen  *int     `json:"input_len"`
	OutputLen int      `json:"output_len"`
	Agent     string
	Blocks    []uint64
	Took      float64           `json:"recorded_duration_s"`
	InputKind string            `json:"input_kind"`
	Sent      []json.RawMessage // all messages
	Adds      []json.RawMessage // messages without the history
}

type parent struct{ ID, Kind string }

func readExpansion(t *testing.T, sample string) *expansion {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "expected", sample+".json"))
	if err != nil {
		t.Fatal(err)
	}
	e := new(expansion)
	if err := json.Unmarshal(text, e); err != nil {
		t.Fatal(err)
	}
	return e
}

// collect opens a dataset and pulls all of it.
func collect(t *testing.T, open func() (dataset.Source, int, error)) []*dataset.Conversation {
	t.Helper()
	source, n, err := open()
	if err != nil {
		t.Fatal(err)
	}
	list := pull(t, source)
	if len(list) != n {
		t.Errorf("%d sessions, and Open promised %d", len(list), n)
	}
	return list
}

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

// only is a source of one conversation.
func only(c *dataset.Conversation) dataset.Source {
	return func(yield func(*dataset.Conversation, error) bool) { yield(c, nil) }
}

// A place is where a request is.
type place struct {
	c    *dataset.Conversation
	turn int
}

// requestNames names the requests as the expansions do: agent/turn or session/turn in traces of
// several turns, otherwise the session.
func requestNames(list []*dataset.Conversation, several bool) map[string]place {
	names := map[string]place{}
	for _, c := range list {
		turns := map[string]int{}
		for i, turn := range c.Turns {
			name := c.ID
			if turn.Agent != "" {
				name = turn.Agent
			}
			if several {
				name = fmt.Sprintf("%s/%d", name, turns[turn.Agent])
			}
			turns[turn.Agent]++
			names[name] = place{c, i}
		}
	}
	return names
}

// checkExpansion compares sessions with what a sample expands to. The ids of blocks are looked up in
// the scope of the session.
func checkExpansion(t *testing.T, sample string, list []*dataset.Conversation, block func(c *dataset.Conversation, id uint64) uint64) {
	t.Helper()
	want := readExpansion(t, sample)
	checkNamed(t, want, requestNames(list, strings.Contains(want.Requests[0].ID, "/")), block)
}

// checkNamed compares requests with what a sample expands to.
func checkNamed(t *testing.T, want *expansion, names map[string]place, block func(c *dataset.Conversation, id uint64) uint64) {
	t.Helper()
	if len(names) != len(want.Requests) {
		t.Errorf("%d requests, want %d", len(names), len(want.Requests))
	}
	for _, r := range want.Requests {
		at, ok := names[r.ID]
		if !ok {
			t.Errorf("no request %s", r.ID)
			continue
		}
		if at.c.ID != r.Session {
			t.Errorf("%s is in session %s, want %s", r.ID, at.c.ID, r.Session)
		}
		checkRequest(t, r, at, names, block)
	}
	if want.WorkedTimes != nil {
		checkTimes(t, want, names)
	}
	if want.IdealCache != nil {
		checkCache(t, want, names)
	}
}

func checkRequest(t *testing.T, r expected, at place, names map[string]place, block func(c *dataset.Conversation, id uint64) uint64) {
	t.Helper()
	turn := &at.c.Turns[at.turn]
	if (r.At == nil) != (turn.At == nil) || r.At != nil && dataset.Seconds(*r.At) != dataset.Seconds(*turn.At) {
		t.Errorf("%s was sent at %v, want %v", r.ID, show(turn.At), show(r.At))
	}
	gap := 0.0
	if r.Gap != nil {
		gap = *r.Gap
	}
	if dataset.Seconds(turn.Gap) != dataset.Seconds(gap) {
		t.Errorf("%s has a gap of %v, want %v", r.ID, turn.Gap, gap)
	}
	if r.InputLen != nil && turn.PromptLen != *r.InputLen || turn.OutputLen != r.OutputLen || turn.Took != r.Took {
		t.Errorf("%s has the lengths %d and %d and took %v, want %v, %d and %v", r.ID, turn.PromptLen, turn.OutputLen, turn.Took, show(r.InputLen), r.OutputLen, r.Took)
	}
	if turn.Agent != r.Agent || turn.Tool != (r.InputKind == "tool_result") {
		t.Errorf("%s is of agent %q, tool %v; want %+v", r.ID, turn.Agent, turn.Tool, r)
	}
	var parents []parent
	for _, wait := range at.c.WaitsOf(at.turn) {
		parents = append(parents, parent{nameOf(names, place{at.c, wait.Turn}), kindOf(at, wait)})
	}
	if !slices.Equal(parents, r.Parents) {
		t.Errorf("%s waits for %v, want %v", r.ID, parents, r.Parents)
	}
	checkBlocks(t, r, at.c, turn, block)
	if r.Sent != nil {
		checkMessages(t, r, at)
	}
	if r.Adds != nil {
		sameMessages(t, r.ID, turn.Messages, r.Adds)
	}
}

// kindOf is what the expansions call a wait.
func kindOf(at place, wait dataset.Wait) string {
	before, turn := at.c.Turns[wait.Turn], at.c.Turns[at.turn]
	first := slices.IndexFunc(at.c.Turns, func(t dataset.Turn) bool { return t.Agent == turn.Agent })
	switch {
	case wait.History == dataset.Nothing && before.Agent == turn.Agent, wait.History == dataset.Everything && first != at.turn:
		return "chain"
	case wait.History == dataset.Everything:
		return "fork"
	case first == at.turn:
		return "spawn"
	}
	return "join"
}

func nameOf(names map[string]place, at place) string {
	for name, p := range names {
		if p == at {
			return name
		}
	}
	return ""
}

func checkBlocks(t *testing.T, r expected, c *dataset.Conversation, turn *dataset.Turn, block func(c *dataset.Conversation, id uint64) uint64) {
	t.Helper()
	got := slices.Collect(turn.AllBlocks())
	n := 0
	for i, b := range got {
		if n += int(b.Tokens); i < len(r.Blocks) && b.ID != block(c, r.Blocks[i]) {
			t.Errorf("%s: block %d is not the one of id %d", r.ID, i, r.Blocks[i])
		}
	}
	if r.Blocks != nil && (n != *r.InputLen || len(got) != len(r.Blocks) && len(got) != len(r.Blocks)+1) {
		t.Errorf("%s has blocks %v, want ids %v and %d tokens", r.ID, got, r.Blocks, *r.InputLen)
	}
}

// checkMessages compares what a request sends, with answers that say which request they answer.
func checkMessages(t *testing.T, r expected, at place) {
	t.Helper()
	said := make([]json.RawMessage, len(at.c.Turns))
	for i := range said {
		said[i], _ = json.Marshal(map[string]string{"role": "assistant", "content": fmt.Sprintf("<live answer to %s/%d>", at.c.ID, i)})
	}
	turn, err := at.c.Prompted(at.turn, said)
	if err != nil {
		t.Error(err)
	}
	sameMessages(t, r.ID, turn.Messages, r.Sent)
}

func sameMessages(t *testing.T, name string, list json.RawMessage, wanted []json.RawMessage) {
	t.Helper()
	var got, want []map[string]string
	if err := json.Unmarshal(list, &got); err != nil {
		t.Fatal(err)
	}
	all, _ := json.Marshal(wanted)
	if err := json.Unmarshal(all, &want); err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(got, want, maps.Equal) {
		t.Errorf("%s sends %v, want %v", name, got, want)
	}
}

// show is a number that may be missing.
func show[T any](p *T) string {
	if p == nil {
		return "none"
	}
	return fmt.Sprint(*p)
}

// checkTimes compares the times at which requests are due with those worked out, if every request
// takes the same time and nothing waits for a slot.
func checkTimes(t *testing.T, want *expansion, names map[string]place) {
	t.Helper()
	for timing, due := range want.WorkedTimes.Due {
		cut, capped := strings.CutSuffix(timing, ", gaps capped at 60s")
		for name, at := range due {
			place := names[name]
			if capped {
				for c := range retime.GapCap(only(place.c), time.Minute, nil) {
					place.c = c
				}
			}
			if got := dueOf(place, cut, want.WorkedTimes.EveryRequestTakes); dataset.Seconds(got) != dataset.Seconds(at) {
				t.Errorf("%s: %s is due at %v, want %v", timing, name, got, at)
			}
		}
	}
}

// dueOf is when a request is due, in seconds.
func dueOf(at place, timing string, takes float64) float64 {
	turn := &at.c.Turns[at.turn]
	ready := 0.0
	if at.c.Due != nil {
		ready = *at.c.Due
	}
	for _, wait := range at.c.WaitsOf(at.turn) {
		ready = max(ready, dueOf(place{at.c, wait.Turn}, timing, takes)+takes)
	}
	if timing == "absolute" && turn.At != nil {
		return max(ready, *turn.At)
	}
	return ready + turn.Gap
}

// checkCache compares what a cache has of each prompt, in the order in which they are due.
func checkCache(t *testing.T, want *expansion, names map[string]place) {
	t.Helper()
	order := make([]string, len(want.Requests))
	for i, r := range want.Requests {
		order[i] = r.ID
	}
	slices.SortStableFunc(order, func(a, b string) int {
		return cmp.Compare(dueOf(names[a], "absolute", 1), dueOf(names[b], "absolute", 1))
	})
	reuse := reuse.Cache{BlockSize: want.IdealCache.BlockSize}
	looked, hits := 0, 0
	for _, name := range order {
		at := names[name]
		got := reuse.Next(at.c, at.turn)
		if got != want.IdealCache.ByRequest[name] {
			t.Errorf("a cache has %d tokens of %s, want %d", got, name, want.IdealCache.ByRequest[name])
		}
		looked, hits = looked+at.c.Turns[at.turn].PromptLen, hits+got
	}
	if looked != want.IdealCache.LookedUp || hits != want.IdealCache.Hits {
		t.Errorf("a cache has %d of %d tokens, want %d of %d", hits, looked, want.IdealCache.Hits, want.IdealCache.LookedUp)
	}
}
