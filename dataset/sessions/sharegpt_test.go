package sessions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset"
)

func TestShareGPTIsCleanedAndWhole(t *testing.T) {
	type chat struct {
		ID       string    `json:"-"` // ids are numbers, as in all datasets whose conversations may repeat
		Messages []message `json:"messages"`
	}
	want := about[struct {
		Kept     []chat
		Requests map[string]int
	}](t, "sharegpt-conversations.json")
	var got []chat
	turns := 0
	var log bytes.Buffer
	for _, c := range all(t, ShareGPT{Chat: true, Options: dataset.Options{
		Path: "testdata/sharegpt-conversations.json", Num: 3, Tokenizer: stub, DisableShuffle: true,
		Log: func(format string, args ...any) { fmt.Fprintf(&log, format, args...) },
	}}) {
		var messages []message
		for _, turn := range c.Turns {
			var own []message
			if err := json.Unmarshal(turn.Messages, &own); err != nil {
				t.Fatal(err)
			}
			messages = append(messages, own...)
			if text := said(t, turn.Answer); text != nil {
				messages = append(messages, message{"assistant", *text})
			}
			turns++
		}
		got = append(got, chat{Messages: messages})
	}
	if a, b := asJSON(got), asJSON(want.Kept); string(a) != string(b) {
		t.Errorf("got  %s\nwant %s", a, b)
	}
	requests := 0
	for _, n := range want.Requests {
		requests += n
	}
	if turns != requests {
		t.Errorf("%d turns, want %d", turns, requests)
	}
	if want := "of 4 conversations, 1 are left out because their roles do not alternate, and 0 because they have fewer than 1 turn"; !strings.Contains(log.String(), want) {
		t.Errorf("notice %q lacks %q", log.String(), want)
	}
}

func TestShareGPTLimits(t *testing.T) {
	path := "testdata/sharegpt-conversations.json"
	for _, row := range []struct {
		d    ShareGPT
		want string // turns of each session
	}{
		{ShareGPT{Options: dataset.Options{Num: 9, NoOversample: true}}, "3 1 1"},
		{ShareGPT{Options: dataset.Options{Num: 5}, MinTurns: 2}, "3 3 3 3 3"},
		{ShareGPT{Options: dataset.Options{Num: 9, NoOversample: true}, MaxTurns: 2}, "2 1 1"},
		// q1 a1 q2 a2 q3 a3: the second turn has 3 tokens and its answer 1.
		{ShareGPT{Options: dataset.Options{Num: 9, NoOversample: true}, MaxModelLen: 4}, "2 1 1"},
		{ShareGPT{Options: dataset.Options{Num: 9, NoOversample: true}, MaxModelLen: 4, MinTurns: 2}, "2"},
		{ShareGPT{Options: dataset.Options{Num: 9, NoOversample: true}, OutputLen: 7, MaxModelLen: 8}, "1 1 1"},
	} {
		row.d.Path, row.d.Tokenizer, row.d.DisableShuffle = path, stub, true
		var got []string
		for _, c := range all(t, row.d) {
			got = append(got, fmt.Sprint(len(c.Turns)))
		}
		if strings.Join(got, " ") != row.want {
			t.Errorf("%+v: turns %v, want %s", row.d, got, row.want)
		}
	}
	_, _, err := ShareGPT{Options: dataset.Options{Path: path, Num: 1, Tokenizer: stub}, MinTurns: 4}.Open()
	if want := path + ": it has no conversation of at least 4 turns whose roles alternate"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestShareGPTOrderIsTheSeeds(t *testing.T) {
	orders := map[string]bool{}
	for seed := range int64(20) {
		d := ShareGPT{Options: dataset.Options{Path: "testdata/sharegpt-conversations.json", Num: 3, Seed: seed, Tokenizer: stub}}
		order := func() (order string) {
			for _, c := range all(t, d) {
				order += c.Turns[0].Prompt + " "
			}
			return order
		}
		if a, b := order(), order(); a != b {
			t.Errorf("seed %d gives %s and %s", seed, a, b)
		}
		orders[order()] = true
	}
	if len(orders) < 3 {
		t.Errorf("20 seeds give %d orders", len(orders))
	}
}

func FuzzShareGPT(f *testing.F) {
	text, err := os.ReadFile("testdata/sharegpt-conversations.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	folder := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(folder, "f.json")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		wellFormed(t, path, ShareGPT{Options: dataset.Options{Path: path, Num: 5, Tokenizer: stub}})
	})
}
