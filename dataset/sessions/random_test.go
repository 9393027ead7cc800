package sessions

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/dataset/tokenizer"
)

// content is the text of a turn of a chat with one message.
func content(t *testing.T, turn *dataset.Turn) string {
	t.Helper()
	var messages []struct {
		Role    string
		Content []struct{ Type, Text string }
	}
	if err := json.Unmarshal(turn.Messages, &messages); err != nil || len(messages) != 1 || messages[0].Role != "user" || len(messages[0].Content) != 1 {
		t.Fatalf("messages %s: %v", turn.Messages, err)
	}
	return messages[0].Content[0].Text
}

func random200() Random {
	return Random{
		Options: dataset.Options{Num: 200, Tokenizer: tokenizer.Stub{Size: 5000, BOS: []int{1}, Special: []int{0, 1}}}, Chat: true, Delay: 0.5, Turns: TurnRange{Min: 3, Max: 3}, Lengths: Lengths{Input: 101, Later: 31, Output: 20, Prefix: 8},
	}
}

func TestRandomSessionsHaveTheAskedLengths(t *testing.T) {
	d := random200()
	begins := map[string]bool{}
	for _, c := range all(t, d) {
		if len(c.Turns) != 3 {
			t.Fatalf("%d turns", len(c.Turns))
		}
		// A special token is part of a turn's length, as in the Rust client. The whole prompt has one.
		want := []int{1 + 8 + 100, 1 + 8 + 100 + 20 + 30, 1 + 8 + 100 + 2*20 + 2*30}
		for k := range c.Turns {
			turn := &c.Turns[k]
			text := content(t, turn)
			tokens := 30
			if k == 0 {
				tokens = 107 // the last word of the prefix and the first one after it are joined
				begins[strings.Join(strings.Fields(text)[:7], " ")] = true
				want[0]--
				want[1]--
				want[2]--
			}
			if n := d.Tokenizer.Count(text, false); n != tokens || turn.PromptLen != want[k] || turn.OutputLen != 20 {
				t.Errorf("turn %d adds %d tokens to a prompt of %d, want %d of %d; asks for %d", k, n, turn.PromptLen, tokens, want[k], turn.OutputLen)
			}
			if turn.Waits != nil || (turn.Gap == 0.5) != (k > 0) {
				t.Errorf("turn %d waits %v with a gap of %v", k, turn.Waits, turn.Gap)
			}
		}
	}
	if len(begins) != 1 {
		t.Errorf("%d prefixes", len(begins))
	}
}

func TestRandomTurnsAreDrawnEvenly(t *testing.T) {
	d := random200()
	d.Turns.Min, d.Turns.Max, d.Num = 2, 5, 1000
	counts := map[int]int{}
	for _, c := range all(t, d) {
		counts[len(c.Turns)]++
	}
	for n := 2; n <= 5; n++ {
		if counts[n] < 165 || counts[n] > 335 { // six standard deviations
			t.Errorf("%d sessions have %d turns", counts[n], n)
		}
	}
	if len(counts) != 4 {
		t.Errorf("turns %v", counts)
	}
}

func TestPrefixRatiosReplaceTheHistory(t *testing.T) {
	d := random200()
	d.Num, d.Lengths.Prefix, d.Shared.Global, d.Shared.Conversation, d.Lengths.Later = 3, 0, 0.2, 0.5, 0
	global, conversation := map[string]bool{}, map[string]bool{}
	unique := map[string]bool{}
	for _, c := range all(t, d) {
		for k := range c.Turns {
			turn := &c.Turns[k]
			if len(c.WaitsOf(k)) != min(k, 1) || k > 0 && c.Turns[k].Waits[0] != (dataset.Wait{Turn: k - 1, History: dataset.Nothing}) {
				t.Errorf("turn %d waits for %v", k, turn.Waits)
			}
			words := strings.Fields(content(t, turn)) // parts of 20, 50 and 30 words, joined at their ends
			if len(words) != 98 || turn.PromptLen != 99 {
				t.Errorf("turn %d has %d words, and %d tokens", k, len(words), turn.PromptLen)
			}
			global[strings.Join(words[:19], " ")] = true
			conversation[strings.Join(words[:68], " ")] = true
			unique[strings.Join(words[68:], " ")] = true
		}
	}
	if len(global) != 1 || len(conversation) != 3 || len(unique) != 9 {
		t.Errorf("%d global parts, %d of conversations, %d of turns", len(global), len(conversation), len(unique))
	}
}

func TestSessionsEndAtTheModelsLength(t *testing.T) {
	d := random200()
	d.Lengths.Prefix, d.Turns.Min, d.Turns.Max, d.Num = 0, 1, 6, 200
	// Prompts have 101, 151, 201 … tokens, and answers 20.
	for limit, want := range map[int]int{171: 2, 220: 2, 221: 3, 10000: 6} {
		d.MaxModelLen = limit
		most := 0
		for _, c := range all(t, d) {
			if most = max(most, len(c.Turns)); len(c.Turns) < 2 {
				t.Errorf("a session of %d turns", len(c.Turns))
			}
		}
		if most != want {
			t.Errorf("within %d tokens: at most %d turns, want %d", limit, most, want)
		}
	}
	d.MaxModelLen = 170
	if _, _, err := d.Open(); err == nil || err.Error() != "no session has 2 turns within 170 tokens" {
		t.Errorf("error %v", err)
	}
}

// Number k of a dataset is the same whatever the number of sessions, and different for other seeds.
func TestSessionsDoNotDependOnTheirNumber(t *testing.T) {
	random := func(num int, seed int64) opener {
		d := random200()
		d.Num, d.Seed, d.Turns.Min, d.Lengths.Ratio = num, seed, 1, dataset.RangeRatio{Input: 0.5, Output: 0.5}
		return d
	}
	synthetic := func(num int, seed int64) opener {
		d := agents()
		d.Num, d.Seed = num, seed
		return d
	}
	for i, make := range []func(num int, seed int64) opener{random, synthetic} {
		few, many, other := all(t, make(3, 1)), all(t, make(30, 1)), all(t, make(3, 2))
		for k, c := range few {
			if same := reflect.DeepEqual(c.Turns, many[k].Turns); !same {
				t.Errorf("%d: session %d of 3 is not session %d of 30", i, k, k)
			}
			if reflect.DeepEqual(c.Turns, other[k].Turns) {
				t.Errorf("%d: session %d is the same for two seeds", i, k)
			}
		}
	}
}

func TestRandomRefusesWhatItCannotMake(t *testing.T) {
	for want, change := range map[string]func(d *Random){
		"random: sessions of several turns need a tokenizer, to send text":                      func(d *Random) { d.Tokenizer = nil },
		"number of sessions 0: must be at least 1":                                              func(d *Random) { d.Num = 0 },
		"3 to 2 turns: must be at least 1, and in order":                                        func(d *Random) { d.Turns.Max = 2 },
		"input length 1: must be above the tokenizer's 1 special tokens":                        func(d *Random) { d.Lengths.Input = 1 },
		"input length per turn 1: must be above the tokenizer's 1 special tokens":               func(d *Random) { d.Lengths.Later = 1 },
		"output length 0: must be at least 1":                                                   func(d *Random) { d.Lengths.Output = 0 },
		"prefix ratios 0.6 and 0.5: must not be negative, and at most 1 together":               func(d *Random) { d.Shared.Global, d.Shared.Conversation = 0.6, 0.5 },
		"input length per turn 30: the shared parts of 30 and 0 tokens leave none for the turn": func(d *Random) { d.Shared.Global = 0.3 },
		"range ratios 1 and 0: must be at least 0 and below 1":                                  func(d *Random) { d.Lengths.Ratio.Input = 1 },
		"delay -1 s: must not be negative":                                                      func(d *Random) { d.Delay = -1 },
	} {
		d := random200()
		change(&d)
		if _, _, err := d.Open(); fmt.Sprint(err) != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
