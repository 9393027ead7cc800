package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset"
)

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// turns gives the only turn of each conversation, and adds their ids to ids.
func turns(t *testing.T, source dataset.Source, ids *[]string) []dataset.Turn {
	t.Helper()
	var list []dataset.Turn
	for c, err := range source {
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Turns) != 1 {
			t.Fatalf("conversation %s has %d turns, want 1", c.ID, len(c.Turns))
		}
		list = append(list, c.Turns[0])
		if ids != nil {
			*ids = append(*ids, c.ID)
		}
	}
	return list
}

func TestFileGivesBackWhatWasWritten(t *testing.T) {
	due := []float64{0, 1e-9, 0.1, 86400.123456789}
	want := []*dataset.Conversation{
		{ID: "a", Turns: []dataset.Turn{{Prompt: "<é\u2028\n\x00 & \U0001f600", PromptLen: 3, OutputLen: 4}}, Due: &due[0]},
		{Turns: []dataset.Turn{{TokenIDs: []int{5, 0, 7}, PromptLen: 3, OutputLen: 1}}, Due: &due[1]},
		{ID: "c", Turns: []dataset.Turn{{Prompt: "x", TokenIDs: []int{1}, OutputLen: 1}}, Due: &due[2]},
		{ID: "d", Turns: []dataset.Turn{{Messages: json.RawMessage(`[{"role":"user"}]`), OutputLen: 1}}, Due: &due[3]},
	}
	var text bytes.Buffer
	for i, c := range want {
		if err := WriteLine(&text, c, due[i]); err != nil {
			t.Fatal(err)
		}
	}
	path := writeFile(t, "f.jsonl", text.String())
	for _, num := range []int{0, 2, 4, 9} {
		source, n, err := File{Options: dataset.Options{Path: path, Num: num}}.Open()
		if err != nil {
			t.Fatal(err)
		}
		for range source {
			break // as who looks at the first does
		}
		var got []*dataset.Conversation
		for c, err := range source {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, c)
		}
		keep := len(want)
		if num > 0 {
			keep = min(num, keep)
		}
		if n != keep || !reflect.DeepEqual(got, want[:keep]) {
			t.Errorf("with Num %d: %d conversations", num, n)
		}
	}
}

func TestFileWithoutTimesHasNone(t *testing.T) {
	source, _, err := File{Options: dataset.Options{Path: writeFile(t, "f.jsonl", `{"prompt":"x","output_len":1}`)}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	for c := range source {
		if c.Due != nil {
			t.Errorf("due at %v", *c.Due)
		}
	}
}

func TestFileOutOfOrderIsSentInTime(t *testing.T) {
	path := writeFile(t, "f.jsonl", `{"id": "a", "prompt": "x", "output_len": 1, "due": 7.5}
{"id": "b", "prompt": "x", "output_len": 1, "due": 0.25}

{"id": "c", "prompt": "x", "output_len": 1, "due": 9}
{"id": "d", "prompt": "x", "output_len": 1, "due": 0.25}`)
	var said []string
	source, n, err := File{Options: dataset.Options{Path: path, Log: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }}}.Open()
	if err != nil || n != 4 {
		t.Fatal(n, err)
	}
	var ids []string
	turns(t, source, &ids)
	if want := []string{"b", "d", "a", "c"}; !slices.Equal(ids, want) {
		t.Errorf("conversations %q, want %q", ids, want)
	}
	if want := []string{path + ": 2 conversations stand behind a later one: all are sent in the order of their times"}; !slices.Equal(said, want) {
		t.Errorf("notices %q, want %q", said, want)
	}
}

func TestBadFileIsNamedWithItsLine(t *testing.T) {
	good := `{"prompt":"x","output_len":1,"due":1}` + "\n"
	for _, row := range []struct{ text, want string }{
		{good + "\n{", ":3: unexpected end of JSON input"},
		{`{"output_len":1}`, `:1: no "prompt", "token_ids" or "messages"`},
		{`{"prompt":"x"}`, `:1: "output_len" is 0: must be at least 1`},
		{`{"prompt":"x","output_len":1,"prompt_len":-1}`, `:1: "prompt_len" is -1: must not be negative`},
		{`{"prompt":"x","output_len":1,"due":-1}`, `:1: "due" is -1: must be at least 0 and below 9.223372037e+09 seconds`},
		{`{"prompt":"x","output_len":1,"due":1e10}`, `:1: "due" is 1e+10: must be at least 0 and below 9.223372037e+09 seconds`},
		{`{"prompt":"x","output_len":1,"due":"1"}`, ":1: due: unexpected JSON string"},
		{good + `{"prompt":"x","output_len":1}`, `:2: some lines have a time "due" and some have none`},
		{"\n", ": the file is empty"},
	} {
		path := writeFile(t, "f.jsonl", row.text)
		if _, _, err := (File{Options: dataset.Options{Path: path}}).Open(); err == nil || err.Error() != path+row.want {
			t.Errorf("%s\nerror %v\nwant  %s", row.text, err, row.want)
		}
	}
	folder := t.TempDir()
	if _, _, err := (File{Options: dataset.Options{Path: folder}}).Open(); err == nil || err.Error() != folder+": is read twice, so it must be a regular file" {
		t.Errorf("error %v", err)
	}
}

// graph is a session with a sub-agent that is joined, and with all that a line can hold.
func graph() *dataset.Conversation {
	blocks := []dataset.Block{{ID: 1 << 63, Tokens: 4}, {ID: 2, Tokens: 4}, {ID: 3, Tokens: 2}}
	at := 1.5
	return &dataset.Conversation{ID: "s", Due: new(0.25), Turns: []dataset.Turn{
		{Blocks: blocks[:1:1], PromptLen: 4, OutputLen: 2, Agent: "main", Answer: json.RawMessage(`{"role":"assistant","content":"ok"}`)},
		{Blocks: blocks[:2:2], Tail: dataset.Block{ID: 9, Tokens: 1}, PromptLen: 9, OutputLen: 2, Agent: "a", Waits: []dataset.Wait{{Turn: 0, History: dataset.Nothing}}, Gap: 0.1, Tool: true, At: &at, Took: 2},
		{Messages: json.RawMessage(`[{"role":"user","content":"<&>"}]`), Agent: "b", Waits: []dataset.Wait{{Turn: 0, History: dataset.Everything}}, PromptLen: 3},
		{Blocks: blocks, PromptLen: 10, OutputLen: 7, Agent: "main", Waits: []dataset.Wait{{Turn: 0, History: dataset.Nothing}, {Turn: 1, History: dataset.Nothing}, {Turn: 2, History: dataset.AnswerOnly}}},
		{Prompt: "more", OutputLen: 1, Gap: 1e-9},
	}}
}

func TestSessionsAreGivenBackAsTheyWereWritten(t *testing.T) {
	want := []*dataset.Conversation{
		graph(),
		{ID: "single", Turns: []dataset.Turn{{Prompt: "x", OutputLen: 1}}, Due: new(0.5)},
		{ID: "t", Turns: []dataset.Turn{{Prompt: "a", OutputLen: 1}, {Prompt: "b", OutputLen: 2, Waits: []dataset.Wait{}}}, Due: new(0.75)},
	}
	var text bytes.Buffer
	for _, c := range want {
		if err := WriteLine(&text, c, *c.Due); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.SplitAfter(strings.TrimSuffix(text.String(), "\n"), "\n")
	if len(lines) != 8 {
		t.Fatalf("%d lines:\n%s", len(lines), text.String())
	}
	lines[7] += "\n"
	read := func(lines ...string) []*dataset.Conversation {
		t.Helper()
		path := writeFile(t, "f.jsonl", strings.Join(lines, ""))
		source, n, err := File{Options: dataset.Options{Path: path, VocabSize: 100}}.Open()
		if err != nil {
			t.Fatal(err)
		}
		var got []*dataset.Conversation
		for c, err := range source {
			if err != nil {
				t.Fatal(err)
			}
			blocks := slices.ContainsFunc(c.Turns, func(t dataset.Turn) bool { return t.Blocks != nil })
			if blocks != (c.Mint != nil) {
				t.Errorf("%s: blocks %v, a mint %v", c.ID, blocks, c.Mint != nil)
			}
			c.Mint = nil
			got = append(got, c)
		}
		if len(got) != n {
			t.Errorf("%d conversations, and Open says %d", len(got), n)
		}
		return got
	}
	if got := read(lines...); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s", asLines(t, got))
	}
	// Lines of a session need be neither adjacent nor in order, and the times order sessions.
	mixed := []string{lines[1], "\n", lines[6], lines[5], lines[0], lines[4], lines[7], lines[3], lines[2]}
	if got := read(mixed...); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s", asLines(t, got))
	}
}

func asLines(t *testing.T, list []*dataset.Conversation) string {
	t.Helper()
	var text bytes.Buffer
	for _, c := range list {
		if err := WriteLine(&text, c, *c.Due); err != nil {
			t.Fatal(err)
		}
	}
	return text.String()
}

func TestBlocksOfASessionShareAnArray(t *testing.T) {
	c := &dataset.Conversation{ID: "s", Due: new(0.)}
	var all []dataset.Block
	for i := range 100 {
		for range 100 {
			all = append(all, dataset.Block{ID: uint64(len(all)), Tokens: 16})
		}
		c.Turns = append(c.Turns, dataset.Turn{Blocks: all[:len(all):len(all)], OutputLen: 1})
		if i > 0 {
			c.Turns[i].Waits = []dataset.Wait{{Turn: i - 1, History: dataset.Nothing}}
		}
	}
	text := asLines(t, []*dataset.Conversation{c})
	if len(text) > 300_000 { // 10,000 blocks once
		t.Errorf("%d bytes", len(text))
	}
	source, _, err := File{Options: dataset.Options{Path: writeFile(t, "f.jsonl", text), VocabSize: 10}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	for got, err := range source {
		if err != nil {
			t.Fatal(err)
		}
		arrays := map[*dataset.Block]bool{}
		for i, turn := range got.Turns {
			if !slices.Equal(turn.Blocks, c.Turns[i].Blocks) {
				t.Errorf("turn %d has other blocks", i)
			}
			arrays[&turn.Blocks[0]] = true
		}
		if len(arrays) > 30 { // an array doubles now and then
			t.Errorf("%d arrays for %d turns", len(arrays), len(got.Turns))
		}
	}
}

func TestBadSessionIsNamedWithItsLine(t *testing.T) {
	turn := func(session string, number int, more string) string {
		return fmt.Sprintf(`{"session":%q,"turn":%d,"prompt":"x"%s}`+"\n", session, number, more)
	}
	for _, row := range []struct{ text, want string }{
		{turn("a", 0, "") + turn("a", 0, ""), `:2: turn 0 of session "a" is there twice`},
		{turn("a", 0, "") + turn("b", 1, ""), `:2: the session has no turn 0`},
		{turn("a", 2, "") + turn("a", 0, ""), `:1: turn 2 of session "a" needs turn 1, which is not there`},
		{turn("a", 0, "") + turn("a", 1, `,"due":1`), `:2: only turn 0 of a session has a time "due": others have "gap" or "at"`},
		{turn("a", 0, `,"due":1`) + turn("b", 0, ""), `:2: some lines have a time "due" and some have none`},
		{turn("a", 0, "") + turn("a", 1, `,"waits":[[1,1]]`), `:2: "waits" has [1 1]: must be an earlier turn, and 0, 1 or 2`},
		{turn("a", 0, "") + turn("a", 1, `,"waits":[[0,0],[0,1]]`), `:2: "waits" has turn 0 twice`},
		{turn("a", 0, "") + turn("a", 1, "") + turn("a", 2, `,"waits":[[0,1],[1,1]]`), `:3: "waits" has 2 turns with their whole history: at most one may have it`},
		{turn("a", 0, "") + turn("a", 1, `,"begins":[0,1]`), `:2: "begins" is [0 1]: turn 0 has 0 blocks`},
		{turn("a", 0, `,"gap":-1`), `:1: "gap" is -1: must be at least 0 and below 9.223372037e+09 seconds`},
		{turn("a", 0, `,"blocks":["x:1"]`), `:1: "x:1" is not a block, such as 9f:512`},
		{`{"turn":1,"prompt":"x"}`, `:1: a "turn" without a "session"`},
	} {
		path := writeFile(t, "f.jsonl", row.text)
		source, _, err := File{Options: dataset.Options{Path: path, VocabSize: 10}}.Open()
		if err == nil { // what one line alone does not show
			for _, err = range source {
			}
		}
		if err == nil || err.Error() != path+row.want {
			t.Errorf("%s\nerror %v\nwant  %s", row.text, err, row.want)
		}
	}
}

func TestReplayWithoutIgnoreEOSIsNoticed(t *testing.T) {
	const sent = `{"v":3,"k":"req","run":"r","asked":{"prompt":"a","output_len":1}}` + "\n"
	for _, row := range []struct {
		config string
		full   bool
		want   string
	}{
		{`{"ignore_eos":true}`, false, ": the recorded run had --ignore-eos and this one has not: answers may be shorter"},
		{`{"ignore_eos":true}`, true, ""},
		{`{}`, false, ""},
	} {
		path := writeFile(t, "run.jsonl", `{"v":3,"k":"run","run":"r","config":`+row.config+"}\n"+sent)
		var said string
		d := File{Options: dataset.Options{Path: path, Log: func(format string, args ...any) { said += fmt.Sprintf(format, args...) }}, IgnoreEOS: row.full}
		if _, n, err := d.Open(); err != nil || n != 1 || strings.TrimPrefix(said, path) != row.want {
			t.Errorf("%s, %v: %d conversations, notice %q, want %q; %v", row.config, row.full, n, said, row.want, err)
		}
	}
}

func TestRecordedRunIsReadAsWhatItSent(t *testing.T) {
	req := func(i int, sent, lag, queue int64, more, asked string) string {
		return fmt.Sprintf(`{"v":3,"k":"req","run":"r","i":%d,"sent":%d,"lag":%d,"queue":%d,"end":2000000000%s,"asked":{"output_len":1,"prompt":"%d",%s}}`+"\n",
			i, sent, lag, queue, more, i, asked)
	}
	text := `{"v":3,"k":"run","run":"r","config":{"i":7}}` + "\n" +
		req(3, 9e8, 0, 0, `,"phase":"warm-up"`, `"session":"w","turn":0`) +
		req(1, 4e9, 1e9, 5e8, "", `"id":"one"`) + // due at 2.5 s
		req(3, 3e9, 0, 0, `,"step":{"early":true}`, `"session":"w","turn":1,"waits":[[0,0]]`) +
		req(0, 1e9, 0, 0, "", `"session":"s","turn":0`) +
		// Turn 2 was never sent; turn 3 is of another agent.
		req(0, 8e9, 1e9, 0, `,"class":"timeout"`, `"session":"s","turn":3,"waits":[[1,0]],"agent":"b"`) +
		req(0, 5e9, 0, 0, "", `"session":"s","turn":1,"waits":[[0,0]],"gap":0.5`) +
		`{"v":3,"k":"end","run":"r"}` + "\n"
	path := writeFile(t, "run.jsonl", text)
	source, n, err := File{Options: dataset.Options{Path: path}}.Open()
	if err != nil || n != 2 {
		t.Fatal(n, err)
	}
	var got []*dataset.Conversation
	for c, err := range source {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, c)
	}
	want := []*dataset.Conversation{
		{ID: "s", Due: new(1.), Turns: []dataset.Turn{
			{Prompt: "0", OutputLen: 1, At: new(1.), Took: 2},
			{Prompt: "0", OutputLen: 1, At: new(5.), Took: 2, Waits: []dataset.Wait{{Turn: 0, History: dataset.Nothing}}, Gap: 0.5},
			{Prompt: "0", OutputLen: 1, At: new(7.), Took: 2, Waits: []dataset.Wait{{Turn: 1, History: dataset.Nothing}}, Agent: "b"},
		}},
		{ID: "one", Due: new(2.5), Turns: []dataset.Turn{{Prompt: "1", OutputLen: 1, At: new(2.5), Took: 2}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%swant\n%s", asLines(t, got), asLines(t, want))
	}
	for text, want := range map[string]string{
		strings.ReplaceAll(text, `"k":"req"`, `"k":"sample"`):                                                         ": the recorded run has no requests",
		text + strings.ReplaceAll(req(9, 0, 0, 0, "", `"id":"x"`), `"run":"r"`, `"run":"q"`):                          ":9: requests of more than one run or target (r and q): only one can be sent again",
		`{"v":3,"k":"req","run":"r","m":0,"p":0,"of":3,"json":"x"}`:                                                   ":1: the run was recorded through a pipe, with requests in several lines: record it to a file",
		`{"v":3,"k":"req","run":"r","i":0}`:                                                                           ":1: the run was recorded without its prompts: record it with --record prompts",
		req(0, 0, 0, 0, "", `"session":"s","turn":0`) + req(0, 0, 0, 0, "", `"session":"s","turn":2,"waits":[[1,0]]`): `:2: turn 2 of session "s" needs turn 1, which is not there`,
	} {
		path := writeFile(t, "run.jsonl", text)
		if _, _, err := (File{Options: dataset.Options{Path: path}}).Open(); err == nil || err.Error() != path+want {
			t.Errorf("error %v\nwant  %s", err, want)
		}
	}
}

func TestTextsWithAHistoryAreNoChat(t *testing.T) {
	const first, second = `{"session":"a","prompt":"x"}` + "\n", `{"session":"a","turn":1,"prompt":"y"`
	for more, refused := range map[string]bool{``: true, `,"waits":[[0,1]]`: true, `,"waits":[[0,0]]`: false, `,"messages":[{"role":"user","content":"y"}]`: false} {
		path := writeFile(t, "f.jsonl", first+second+more+"}")
		_, _, err := File{Options: dataset.Options{Path: path}, Text: true}.Open()
		if want := path + ":2: the prompt is a text that goes on after an answer, and a chat takes messages: " +
			"print the dataset with --backend openai-chat --endpoint /v1/chat/completions"; refused != (err != nil && err.Error() == want) {
			t.Errorf("%s: error %v", more, err)
		}
	}
}

func FuzzFile(f *testing.F) {
	f.Add(`{"id":"a","prompt":"x","prompt_len":1,"output_len":1,"due":0.5}`)
	f.Add(`{"token_ids":[1,2],"output_len":3}` + "\n\n" + `{"messages":[],"output_len":3}`)
	var text bytes.Buffer
	if err := WriteLine(&text, graph(), 1); err != nil {
		f.Fatal(err)
	}
	f.Add(text.String())
	f.Add(`{"v":3,"k":"run","run":"r"}` + "\n" + `{"v":3,"k":"req","run":"r","i":1,"sent":5,"lag":1,"queue":2,"asked":{"id":"x","prompt":"x","output_len":1}}`)
	folder := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(folder, "f.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		source, _, err := File{Options: dataset.Options{Path: path, VocabSize: 10}}.Open()
		if err != nil {
			if !strings.HasPrefix(err.Error(), path+":") {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		for c, err := range source {
			if err != nil {
				if !strings.HasPrefix(err.Error(), path+":") {
					t.Errorf("the error does not name the file: %v", err)
				}
				return
			}
			if err := WriteLine(io.Discard, c, 0); err != nil {
				t.Errorf("what was read cannot be written: %v", err)
			}
		}
	})
}
