package sessions

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"github.com/servebench/servebench/dataset"
)

func TestMultiTurnIsAsAIPerfMeansIt(t *testing.T) {
	type parent struct{ ID, Kind string }
	type request struct {
		ID, Session string
		Turn        int
		Parents     []parent
		At          *float64 `json:"at_s"`
		Gap         *float64 `json:"gap_s"`
		OutputLen   *int     `json:"output_len"`
		Adds        string
	}
	want := about[struct {
		Requests []request
		System   map[string]string
	}](t, "aiperf-multi-turn.jsonl")
	var got []request
	system := map[string]string{}
	for _, c := range all(t, MultiTurn{Options: dataset.Options{Path: "testdata/aiperf-multi-turn.jsonl", Tokenizer: stub}, Chat: true}) {
		if c.Due != nil {
			t.Errorf("%s has a time, and another session has none", c.ID)
		}
		for i, turn := range c.Turns {
			var own []message
			if err := json.Unmarshal(turn.Messages, &own); err != nil {
				t.Fatal(err)
			}
			if len(own) == 2 && own[0].Role == "system" {
				system[c.ID] = own[0].Content
			}
			r := request{ID: fmt.Sprintf("%s/%d", c.ID, i), Session: c.ID, Turn: i, Parents: []parent{}, At: turn.At, Adds: own[len(own)-1].Content}
			for _, wait := range c.WaitsOf(i) {
				if wait.History != dataset.Everything {
					t.Errorf("%s waits for %+v", r.ID, wait)
				}
				r.Parents = append(r.Parents, parent{fmt.Sprintf("%s/%d", c.ID, wait.Turn), "chain"})
				r.Gap = new(turn.Gap)
			}
			if turn.OutputLen > 0 {
				r.OutputLen = new(turn.OutputLen)
			}
			got = append(got, r)
		}
	}
	order := func(a, b request) int { return slices.Compare([]byte(a.ID), []byte(b.ID)) }
	slices.SortFunc(got, order)
	slices.SortFunc(want.Requests, order)
	if !reflect.DeepEqual(got, want.Requests) || !reflect.DeepEqual(system, want.System) {
		t.Errorf("got  %s %v\nwant %s %v", asJSON(got), system, asJSON(want.Requests), want.System)
	}
	_, _, err := MultiTurn{Options: dataset.Options{Path: "testdata/aiperf-multi-turn.jsonl"}, Timed: true}.Open()
	if text := "testdata/aiperf-multi-turn.jsonl: 1 of 2 sessions begin with a timestamp and the others do not: give all of them one, or send them without their times"; err == nil || err.Error() != text {
		t.Errorf("error %v, want %s", err, text)
	}
}

func TestTimedSessionsStartInTheirOrder(t *testing.T) {
	path := saved(t, "f.jsonl", `{"session_id":"late","turns":[{"timestamp":2000,"text":"a b","output_length":3}]}
{"session_id":"b","turns":[{"timestamp":500,"text":"c"}]}
{"turns":[{"timestamp":500,"texts":["d","e"]}]}
{"session_id":"late","turns":[{"timestamp":1500,"text":"f g h"}]}`)
	var got string
	for _, c := range all(t, MultiTurn{Options: dataset.Options{Path: path, Tokenizer: stub}, Timed: true}) {
		got += fmt.Sprintf("%s %v:", c.ID, *c.Due)
		for _, turn := range c.Turns {
			got += fmt.Sprintf(" %q %d %v", turn.Prompt, turn.PromptLen, turn.Gap)
		}
		got += "\n"
	}
	want := "b 0.5: \"c\" 1 0\nsession-3 0.5: \"d\\ne\" 2 0\nlate 2: \"a b\" 2 0 \"\\nf g h\" 8 0\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestBadMultiTurnIsNamedWithItsLine(t *testing.T) {
	good := `{"session_id":"a","turns":[{"text":"x"}]}` + "\n"
	for _, row := range []struct{ text, want string }{
		{"", ": the file is empty"},
		{good + "\n{", ":3: unexpected end of JSON input"},
		{good + `{"session_id":"a"}`, `:2: no "turns"`},
		{good + `{"session_id":"b","turns":[{"role":"system","text":"x"}]}`, `: session 2 of 2 has no turn to send`},
		{good + `{"session_id":"a","turns":[{"role":"system","text":"x"}]}`, `:2: turn 1: the "role" is "system", and the session has begun`},
		{`{"turns":[{"role":"assistant","text":"x"}]}`, `:1: turn 1: the "role" is "assistant": must be user, or system before the first turn`},
		{`{"turns":[{"text":"x"},{}]}`, `:1: turn 2: needs "text" or "texts", and not both`},
		{`{"turns":[{"text":"x","image":"x.png"}]}`, `:1: turn 1: "image": only texts are supported`},
		{`{"turns":[{"text":"x","delay":1,"timestamp":1}]}`, `:1: turn 1: has a "delay" and a "timestamp"`},
		{`{"turns":[{"text":"x","delay":-1}]}`, `:1: turn 1: the "delay" is -1 ms: must not be negative`},
		{`{"turns":[{"text":"x","output_length":0}]}`, `:1: turn 1: the "output_length" is 0: must be at least 1`},
	} {
		path := saved(t, "f.jsonl", row.text)
		if _, _, err := (MultiTurn{Options: dataset.Options{Path: path}}).Open(); err == nil || err.Error() != path+row.want {
			t.Errorf("%s\nerror %v\nwant  %s", row.text, err, row.want)
		}
	}
}

func FuzzMultiTurn(f *testing.F) {
	text, err := os.ReadFile("testdata/aiperf-multi-turn.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	folder := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(folder, "f.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		wellFormed(t, path, MultiTurn{Options: dataset.Options{Path: path, Tokenizer: stub}, Chat: true})
	})
}
