package reuse

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/sessions"
)

// publicTrace names a file in the form of Mooncake's public traces, to check figures with that are
// too large to keep.
const publicTrace = "SERVEBENCH_MOONCAKE_400"

// A cache has of each prompt the whole blocks of 16 tokens in the blocks of 512 that an earlier
// prompt began with, and never the last token. The figures are of the first 400 lines of the
// conversation trace that Mooncake's authors published.
func TestCacheOfThePublicTrace(t *testing.T) {
	path := os.Getenv(publicTrace)
	if path == "" {
		t.Skip(publicTrace + " names no file")
	}
	source, _, err := sessions.Mooncake{Options: dataset.Options{Path: path, VocabSize: 1000}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	use, err := UseOf(source, []int{1 << 40})
	if err != nil || use.Reusable != 781_568 || use.BySize[0] != 781_568 || use.Prompts != 5_710_530 {
		t.Errorf("%+v, %v; want 781,568 of 5,710,530 tokens", use, err)
	}
}

// treeTrace is a trace in Mooncake's form: a tree of blocks of 512 tokens, the last one of a prompt
// often a part that no other prompt has.
func treeTrace(requests int) (text string, prompts [][]int, sizes []int) {
	draw := rand.New(rand.NewPCG(5, 6))
	var file strings.Builder
	next := 1
	for i := range requests {
		ids := []int{0}
		if i > 0 && draw.IntN(4) > 0 {
			old := prompts[draw.IntN(i)]
			ids = append([]int{}, old[:draw.IntN(len(old))+1]...)
		}
		for range draw.IntN(5) {
			ids = append(ids, next)
			next++
		}
		if draw.IntN(2) > 0 || i > 0 && len(ids) > 1 {
			ids = append(ids, next)
			next++
		}
		n := len(ids) * 512
		if len(ids) > 1 {
			n -= draw.IntN(512)
		}
		prompts, sizes = append(prompts, ids), append(sizes, n)
		fmt.Fprintf(&file, `{"timestamp": %d, "input_length": %d, "output_length": 9, "hash_ids": %s}`+"\n", 100*i, n, strings.ReplaceAll(fmt.Sprint(ids), " ", ","))
	}
	return file.String(), prompts, sizes
}

// The model is compared with the tokens themselves, looked up 16 at a time.
func TestCacheIsThatOfTheTokens(t *testing.T) {
	text, _, sizes := treeTrace(300)
	source, _, err := sessions.Mooncake{Options: dataset.Options{Path: written(t, text), VocabSize: 50_000}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	known := map[uint64]bool{}
	var cache Cache
	reusable, hits := 0, 0
	for i, c := range pull(t, source) {
		turn, err := c.Prompted(0, nil)
		if err != nil || len(turn.TokenIDs) != sizes[i] {
			t.Fatalf("prompt %d has %d tokens, want %d (%v)", i, len(turn.TokenIDs), sizes[i], err)
		}
		want, missed := 0, false
		prefix := fnv.New64a()
		for at := 0; at+16 <= len(turn.TokenIDs); at += 16 {
			fmt.Fprint(prefix, turn.TokenIDs[at:at+16])
			key := prefix.Sum64()
			missed = missed || !known[key] || at+16 >= len(turn.TokenIDs)
			if !missed {
				want += 16
			}
			known[key] = true
		}
		got := cache.Next(c, 0)
		if got != want {
			t.Errorf("a cache has %d tokens of prompt %d, want %d", got, i, want)
		}
		reusable, hits = reusable+got, hits+want
	}
	if reusable == 0 {
		t.Error("no prompt shares anything")
	}
	use, err := UseOf(source, []int{1, 1 << 40})
	if err != nil || use.Reusable != hits || use.BySize[0] != 0 || use.BySize[1] != hits {
		t.Errorf("%+v, %v; want %d", use, err, hits)
	}
}

// A slow cache of a list: what it has is looked up from the end.
func TestLimitedCacheForgetsWhatWasLeastRecentlyUsed(t *testing.T) {
	text, prompts, sizes := treeTrace(300)
	source, _, err := sessions.Mooncake{Options: dataset.Options{Path: written(t, text), VocabSize: 9}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	limits := []int{20 * 512, 100 * 512, 400 * 512}
	use, err := UseOf(source, limits)
	if err != nil {
		t.Fatal(err)
	}
	for k, limit := range limits {
		type entry struct {
			prefix string
			tokens int
		}
		var cache []entry // least recently used first
		total := 0
		for i, ids := range prompts {
			var list []entry
			left := sizes[i]
			for j := range ids {
				list = append(list, entry{fmt.Sprint(ids[:j+1], min(left, 512)), min(left, 512)})
				left -= 512
			}
			found := 0
			at := func(prefix string) int {
				for p := range cache {
					if cache[p].prefix == prefix {
						return p
					}
				}
				return -1
			}
			for found < len(list) && at(list[found].prefix) >= 0 {
				found++
			}
			shared := 0
			for _, e := range list[:found] {
				shared += e.tokens
			}
			total += min(shared, sizes[i]-1) / 16 * 16
			for j := len(list) - 1; j >= 0; j-- {
				if p := at(list[j].prefix); p >= 0 {
					cache = append(cache[:p], cache[p+1:]...)
				}
				cache = append(cache, list[j])
			}
			used := 0
			for p := len(cache) - 1; p >= 0; p-- {
				if used += cache[p].tokens; used > limit {
					cache = cache[p+1:]
					break
				}
			}
		}
		if use.BySize[k] != total || total == 0 {
			t.Errorf("a cache of %d tokens has %d, want %d", limit, use.BySize[k], total)
		}
	}
	if use.BySize[0] >= use.BySize[1] || use.BySize[2] >= use.Reusable {
		t.Errorf("caches of growing size have %v of %d", use.BySize, use.Reusable)
	}
}

func TestReuseSaysWhenItDoesNotKnow(t *testing.T) {
	text, _, _ := treeTrace(50)
	source, _, err := sessions.Mooncake{Options: dataset.Options{Path: written(t, text), VocabSize: 9}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	cache := Cache{Limit: 40}
	unknown := 0
	for _, c := range pull(t, source) {
		if cache.Next(c, 0) < 0 {
			unknown++
		} else if unknown > 0 {
			t.Error("it knows again")
		}
	}
	if unknown == 0 || unknown == 50 {
		t.Errorf("it does not know %d of 50", unknown)
	}
}

func TestTextsReuseTheirHistory(t *testing.T) {
	whole := []dataset.Wait{{Turn: 0, History: dataset.Nothing}}
	answer := []dataset.Wait{{Turn: 0, History: dataset.AnswerOnly}}
	c := &dataset.Conversation{Turns: []dataset.Turn{
		{PromptLen: 40, OutputLen: 20}, {PromptLen: 90, OutputLen: 5}, {PromptLen: 0}, {PromptLen: 120},
		{PromptLen: 50, Waits: whole}, {PromptLen: 50, Waits: answer}, {PromptLen: 60, Waits: whole, Agent: "A"},
		{PromptLen: 41, Waits: []dataset.Wait{{Turn: 0, History: dataset.Everything}}},
	}}
	for i, want := range [][2]int{{0, 0}, {32, 48}, {80, 80}, {-1, -1}, {-1, -1}, {0, 0}, {0, 0}, {32, 32}} {
		recorded, live := Cache{}, Cache{Live: true}
		if got := [2]int{recorded.Next(c, i), live.Next(c, i)}; got != want {
			t.Errorf("turn %d reuses %v tokens with recorded and live answers, want %v", i, got, want)
		}
	}
}

// Texts that begin alike share their beginning, as the common prefix of a generator does.
func TestReuseOfTextsThatBeginAlike(t *testing.T) {
	common := strings.Repeat("common ", 1000)
	talk := func(own string) *dataset.Conversation {
		prompt := common + strings.Repeat(own+" ", 1000)
		return &dataset.Conversation{Turns: []dataset.Turn{{Prompt: prompt, PromptLen: 2000, OutputLen: 10}, {Prompt: "more", PromptLen: 2020}}}
	}
	r := &Cache{Live: true}
	var got []int
	for _, c := range []*dataset.Conversation{talk("aaaaaa"), talk("bbbbbb"), talk("aaaaaa")} {
		got = append(got, r.Next(c, 0), r.Next(c, 1))
	}
	if want := []int{0, 2000, 976, 2000, 1984, 2000}; !slices.Equal(got, want) {
		t.Errorf("reusable are %v tokens, want %v", got, want)
	}
}
