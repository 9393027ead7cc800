package dataset

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestFileGivesBackWhatWasWritten(t *testing.T) {
	due := []float64{0, 0.1, 1e-9, 86400.123456789}
	want := []*Conversation{
		{ID: "a", Turns: []Turn{{Prompt: "<é\u2028\n\x00 & \U0001f600", PromptLen: 3, OutputLen: 4}}, Due: &due[0]},
		{Turns: []Turn{{TokenIDs: []int{5, 0, 7}, PromptLen: 3, OutputLen: 1}}, Due: &due[1]},
		{ID: "c", Turns: []Turn{{Prompt: "x", TokenIDs: []int{1}, OutputLen: 1}}, Due: &due[2]},
		{ID: "d", Turns: []Turn{{Messages: json.RawMessage(`[{"role":"user"}]`), OutputLen: 1}}, Due: &due[3]},
	}
	var text bytes.Buffer
	for i, c := range want {
		if err := WriteLine(&text, c, due[i]); err != nil {
			t.Fatal(err)
		}
	}
	path := writeFile(t, "f.jsonl", text.String())
	for _, num := range []int{0, 2, 4, 9} {
		source, n, err := File{Path: path, Num: num}.Open()
		if err != nil {
			t.Fatal(err)
		}
		var got []*Conversation
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
	source, _, err := File{Path: writeFile(t, "f.jsonl", `{"prompt":"x","output_len":1}`)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	for c := range source {
		if c.Due != nil {
			t.Errorf("due at %v", *c.Due)
		}
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
		if _, _, err := (File{Path: path}).Open(); err == nil || err.Error() != path+row.want {
			t.Errorf("%s\nerror %v\nwant  %s", row.text, err, row.want)
		}
	}
	folder := t.TempDir()
	if _, _, err := (File{Path: folder}).Open(); err == nil || err.Error() != folder+": is read twice, so it must be a regular file" {
		t.Errorf("error %v", err)
	}
}

func FuzzFile(f *testing.F) {
	f.Add(`{"id":"a","prompt":"x","prompt_len":1,"output_len":1,"due":0.5}`)
	f.Add(`{"token_ids":[1,2],"output_len":3}` + "\n\n" + `{"messages":[],"output_len":3}`)
	f.Fuzz(func(t *testing.T, text string) {
		for c, err := range (File{Path: "f.jsonl"}).read(strings.NewReader(text)) {
			if err != nil {
				if !strings.HasPrefix(err.Error(), "f.jsonl:") {
					t.Errorf("the error does not name the file: %v", err)
				}
				return
			}
			if err := WriteLine(&bytes.Buffer{}, c, 0); err != nil {
				t.Errorf("what was read cannot be written: %v", err)
			}
		}
	})
}
