package sessions

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset"
)

func mooncake(sample string) Mooncake {
	return Mooncake{Options: dataset.Options{Path: filepath.Join("testdata", sample), VocabSize: 1000, Seed: 7}, BlockSize: 4}
}

// inFile finds the block of an id whose scope is the file.
func inFile(t *testing.T, path string) func(*dataset.Conversation, uint64) uint64 {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	scope, err := contents(file)
	if err != nil {
		t.Fatal(err)
	}
	return func(_ *dataset.Conversation, id uint64) uint64 { return dataset.BlockID(7, scope, fmt.Sprint(id)) }
}

func TestMooncakeExpandsAsWorkedOut(t *testing.T) {
	for _, sample := range []string{"mooncake-oneshot.jsonl", "mooncake-sessions-tricky.jsonl", "mooncake-delta.jsonl"} {
		t.Run(sample, func(t *testing.T) {
			d := mooncake(sample)
			d.Text = sample == "mooncake-delta.jsonl"
			if d.Text {
				d.VocabSize = 0 // messages need no tokens
			}
			checkExpansion(t, sample, collect(t, d.Open), inFile(t, d.Path))
		})
	}
}

func TestMooncakeSessionsComeInTheOrderOfTheirStarts(t *testing.T) {
	d := mooncake("mooncake-sessions-tricky.jsonl")
	var said []string
	d.Log = func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	d.IDPrefix = "x-"
	var ids []string
	for _, c := range collect(t, d.Open) {
		ids = append(ids, fmt.Sprint(c.ID, " ", *c.Due))
	}
	if want := []string{"x-a 0", "x-b 1.5", "x-row-6 1.5"}; !slices.Equal(ids, want) {
		t.Errorf("sessions %q, want %q", ids, want)
	}
	if len(said) != 1 || !strings.Contains(said[0], "it has no durations: 1 gaps are") {
		t.Errorf("notices %q", said)
	}
	d.Num = 2
	if list := collect(t, d.Open); len(list) != 2 || list[1].ID != "x-b" {
		t.Errorf("%d sessions, want 2", len(list))
	}
}

// Every line of the sample is opened with the lines that are right, in its place.
func TestBadMooncakeIsNamedWithItsLine(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "mooncake-bad.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	wrong := map[int]string{
		3: `no "input_length", "text_input", "messages" or "payload"`,
		5: "3 hash ids of 4 tokens for a prompt of 4: at most 1 fit, so --trace-block-size may be smaller",
		6: `"timestamp" is -1 ms: must be at least 0 and below 9.223372037e+09 s`,
		7: "timestamp: unexpected JSON object, or NaN",
		8: "a session starts without a timestamp in a file with timestamps",
	}
	for number := range len(lines) + 1 {
		if number > 0 && wrong[number] == "" {
			continue
		}
		kept := slices.Clone(lines)
		for i := range kept {
			if wrong[i+1] != "" && i+1 != number {
				kept[i] = ""
			}
		}
		d := mooncake("mooncake-bad.jsonl")
		var said []string
		d.Log = func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
		source, _, err := d.read(strings.NewReader(strings.Join(kept, "\n")))
		if number > 0 {
			if want := fmt.Sprintf("%s:%d: %s", d.Path, number, wrong[number]); err == nil || err.Error() != want {
				t.Errorf("error %v, want %s", err, want)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		list := pull(t, source)
		names := requestNames(list, true)
		if a := names["a/1"].c.Turns[1]; a.Gap != 0.005 || *a.At != 0.005 {
			t.Errorf("a turn with a timestamp and a delay has the gap %v and the time %v", a.Gap, *a.At)
		}
		if turn := names["row-4/0"].c.Turns[0]; len(turn.Blocks) != 1 || turn.Tail.Tokens != 36 {
			t.Errorf("a prompt of 40 tokens with one id has %d blocks and a tail of %d", len(turn.Blocks), turn.Tail.Tokens)
		}
		if d := names["d/0"].c; d.Turns[0].Gap != 0 || *d.Due != 0.04 {
			t.Errorf("a first turn with a delay has the gap %v and is due at %v", d.Turns[0].Gap, *d.Due)
		}
		if len(said) != 1 || !strings.Contains(said[0], "mooncake-bad.jsonl:9: a delay before the first turn") {
			t.Errorf("notices %q", said)
		}
	}
}

func TestMooncakeRefusesWhatCannotBeSent(t *testing.T) {
	const good = `{"session_id": 5, "input_length": 8, "output_length": 4}` + "\n"
	for line, want := range map[string]string{
		`{"input_length": 8, "text_input": "x"}`:                                     `"input_length" and "text_input": a request has one of them`,
		`{"payload": {}}`:                                                            `"payload": whole bodies are not supported`,
		`{"input_length": 0}`:                                                        `"input_length" is 0: must be at least 1 and below 2²⁸`,
		`{"input_length": 1, "output_length": 268435456}`:                            `"output_length" is 268435456: must be at least 1 and below 2²⁸`,
		`{"messages": {}}`:                                                           `"messages" is not a list`,
		`{"input_length": 1, "message_mode": "delta"}`:                               `"message_mode" is "delta": may be "delta", with "messages"`,
		`{"messages": [], "message_mode": "all"}`:                                    `"message_mode" is "all": may be "delta", with "messages"`,
		`{"session_id": "5", "text_input": "x"}`:                                     "session 5 has another kind of prompt before: lengths, texts, messages and deltas do not mix",
		`{"session_id": {}, "input_length": 1}`:                                      "session_id: unexpected JSON object, or NaN",
		`{"input_length": 1, "delay": 1e30}`:                                         `"delay" is 1e+30 ms: must be at least 0 and below 9.223372037e+09 s`,
		`{"input_length": 1, "hash_ids": [1, "x"]}`:                                  `hash id "x" is not a number`,
		`{"input_length": 1, "hash_ids": [1, "]"]}`:                                  `hash id "]" is not a number`,
		`{"input_length": 1, "hash_ids": [[1, 2]]}`:                                  `hash id [1 is not a number`,
		`{"input_length": 1, "hash_ids": 5}`:                                         "hash ids are not a list",
		`{"session_id": 6, "timestamp": 1, "input_length": 1}`:                       "",
		`{"session_id": 5, "timestamp": 1, "input_length": 1, "message_mode": null}`: "",
	} {
		_, _, err := mooncake("f.jsonl").read(strings.NewReader(good + "\n" + line))
		number := 3
		if want == "" { // the first line has no timestamp
			number, want = 1, "a session starts without a timestamp in a file with timestamps"
		}
		if want = fmt.Sprintf("%s:%d: %s", filepath.Join("testdata", "f.jsonl"), number, want); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	for want, change := range map[string]func(*Mooncake){
		"block size -1: must be at least 1":                       func(d *Mooncake) { d.BlockSize = -1 },
		"a vocabulary of 0 tokens leaves none to make prompts of": func(d *Mooncake) { d.VocabSize = 0 },
		"prompts of blocks need a tokenizer to be sent as text":   func(d *Mooncake) { d.Text = true },
	} {
		d := mooncake("f.jsonl")
		change(&d)
		if _, _, err := d.read(strings.NewReader(good)); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if _, _, err := mooncake("f.jsonl").read(strings.NewReader("\n")); err == nil || !strings.HasSuffix(err.Error(), "the file is empty") {
		t.Errorf("error %v", err)
	}
	d := mooncake("")
	if _, _, err := d.Open(); err == nil || !strings.Contains(err.Error(), "must be a regular file") {
		t.Errorf("error %v", err)
	}
}

func TestMooncakeTextsAreAddedToTheHistory(t *testing.T) {
	const file = `{"session_id": "s", "text_input": "Hello", "output_length": 3}
{"session_id": "s", "text_input": "And?", "delay": 250}`
	for _, text := range []bool{false, true} {
		d := mooncake("f.jsonl")
		d.Text = text
		source, _, err := d.read(strings.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		c := pull(t, source)[0]
		turn, err := c.Prompted(1, []json.RawMessage{[]byte(`{"role": "assistant", "content": " you."}`), nil})
		if err != nil {
			t.Fatal(err)
		}
		got, want := turn.Prompt, "Hello you.And?"
		if text {
			got = string(turn.Messages)
			want = `[{"content":"Hello","role":"user"}, {"role": "assistant", "content": " you."}, {"content":"And?","role":"user"}]`
		}
		if got != want || turn.Gap != 0.25 || c.Due != nil || c.Turns[0].OutputLen != 3 {
			t.Errorf("sends %s after %v, want %s", got, turn.Gap, want)
		}
	}
}

// Turns whose prompts extend each other share an array, also if parts of blocks end them.
func TestTurnsShareTheirBlocks(t *testing.T) {
	var file strings.Builder
	ids := []string{"0"}
	for i := range 50 {
		ids = append(ids, fmt.Sprint(i+1))
		fmt.Fprintf(&file, `{"session_id": "s", "input_length": %d, "hash_ids": [%s]}`+"\n", 4*(i+1)+1, strings.Join(ids, ","))
	}
	source, _, err := mooncake("f.jsonl").read(strings.NewReader(file.String()))
	if err != nil {
		t.Fatal(err)
	}
	c := pull(t, source)[0]
	for i := range c.Turns {
		turn := &c.Turns[i]
		if len(turn.Blocks) != i+1 || turn.Tail.Tokens != 1 || &turn.Blocks[0] != &c.Turns[49].Blocks[0] {
			t.Errorf("turn %d has %d blocks and a tail of %d, or an array for itself", i, len(turn.Blocks), turn.Tail.Tokens)
		}
	}
}

func FuzzMooncake(f *testing.F) {
	for _, sample := range []string{"mooncake-oneshot.jsonl", "mooncake-sessions-tricky.jsonl", "mooncake-delta.jsonl", "mooncake-bad.jsonl"} {
		text, err := os.ReadFile(filepath.Join("testdata", sample))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(`{"session_id":"s","timestamp":1e12,"delay":9e15,"input_length":5,"hash_ids":[1,-1e9]}` + "\n" + `{"session_id":"s","timestamp":0,"input_length":5}`)
	f.Fuzz(func(t *testing.T, text string) {
		d := Mooncake{Options: dataset.Options{Path: "f.jsonl", VocabSize: 9}, BlockSize: 4}
		source, n, err := d.read(strings.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.jsonl:") {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		checkSessions(t, source, n)
	})
}

// checkSessions makes sure that sessions keep what their types promise.
func checkSessions(t *testing.T, source dataset.Source, n int) {
	t.Helper()
	list := pull(t, source)
	if len(list) != n {
		t.Errorf("%d sessions, want %d", len(list), n)
	}
	var before *dataset.Conversation
	for _, c := range list {
		if before != nil && ((c.Due == nil) != (before.Due == nil) || c.Due != nil && *c.Due < *before.Due) {
			t.Errorf("session %s is due at %v after %v", c.ID, show(c.Due), show(before.Due))
		}
		before = c
		for i := range c.Turns {
			turn, tokens := &c.Turns[i], 0
			for b := range turn.AllBlocks() {
				tokens += int(b.Tokens)
			}
			texts := turn.Prompt != "" || turn.Messages != nil // whose tokens may be known
			if !(turn.Gap >= 0) || !texts && tokens != turn.PromptLen || turn.OutputLen < 0 || turn.Took < 0 {
				t.Errorf("turn %d of %s: %+v", i, c.ID, turn)
			}
			for _, wait := range c.WaitsOf(i) {
				if wait.Turn < 0 || wait.Turn >= i {
					t.Errorf("turn %d of %s waits for %d", i, c.ID, wait.Turn)
				}
			}
		}
	}
}
