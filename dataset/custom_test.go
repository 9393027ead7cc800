package dataset

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset/tokenizer"
)

// letters is a file of five rows.
const letters = `{"prompt":"a","output_tokens":1}
{"prompt":"b b","output_tokens":2.0, "other":[1]}

{"prompt":"c c c","output_tokens":"3"}
{"prompt":"d","output_tokens":4}
{"prompt":"e","output_tokens":5.9}`

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// The orders are those of CPython 3.11's random.shuffle and random.choice.
func TestCustomOrdersRowsAsTheRealProgram(t *testing.T) {
	path := writeFile(t, "rows.jsonl", letters)
	for _, row := range []struct {
		num                          int
		disableShuffle, noOversample bool
		want                         string
	}{
		{0, false, false, "c b a e d"},
		{-1, true, false, "a b c d e"},
		{3, false, false, "c b a"},
		{8, false, false, "c b a e d e e c"},
		{8, true, false, "a b c d e d d a"},
		{8, false, true, "c b a e d"},
	} {
		d := Custom{
			Options:   Options{Path: path, Num: row.num, IDPrefix: "r", DisableShuffle: row.disableShuffle, NoOversample: row.noOversample},
			OutputLen: 9,
		}
		source, n, err := d.Open()
		if err != nil {
			t.Fatal(err)
		}
		var got, ids []string
		for _, turn := range turns(t, source, &ids) {
			got = append(got, turn.Prompt[:1])
			if turn.PromptLen != 1 || turn.OutputLen != 9 {
				t.Errorf("%+v, want the lengths 1, as there is no tokenizer, and 9", turn)
			}
		}
		if order := strings.Join(got, " "); order != row.want || n != len(got) {
			t.Errorf("%+v: %d rows %s", row, n, order)
		}
		if want := fmt.Sprintf("r%d", n-1); ids[n-1] != want {
			t.Errorf("the last id is %s, want %s", ids[n-1], want)
		}
	}
}

func TestCustomCountsTokens(t *testing.T) {
	d := Custom{
		Options:   Options{Path: writeFile(t, "rows.jsonl", letters), DisableShuffle: true, Tokenizer: tokenizer.Stub{Size: 10, BOS: []int{0}}},
		OutputLen: -1,
	}
	source, _, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	var lens, outs []int
	for _, turn := range turns(t, source, nil) {
		lens = append(lens, turn.PromptLen)
		outs = append(outs, turn.OutputLen)
	}
	if want := []int{2, 3, 4, 2, 2}; !slices.Equal(lens, want) {
		t.Errorf("prompt lengths %v, want %v", lens, want)
	}
	if want := []int{1, 2, 3, 4, 5}; !slices.Equal(outs, want) {
		t.Errorf("output lengths %v, want %v", outs, want)
	}
}

func TestBadCustomFileIsNamedWithItsLine(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"{\"prompt\":\"a\",\"output_tokens\":1}\n\n{\"prompt\":", "f.jsonl:3: unexpected end of JSON input"},
		{"{\"prompt\":\"a\"}{}", "f.jsonl:1: invalid character '{' after top-level value"},
		{"{\"prompt\":\"a\",\"output_tokens\":1}\n{\"text\":\"b\"}", `f.jsonl:2: no "prompt"`},
		{`{"prompt":5}`, "f.jsonl:1: prompt: unexpected JSON number"},
		{`[]`, "f.jsonl:1: unexpected JSON array"},
		{`{"prompt":"a"}`, `f.jsonl:1: no "output_tokens", and no output length given`},
		{`{"prompt":"a","output_tokens":0}`, `f.jsonl:1: "output_tokens" is 0: must be at least 1`},
		{`{"prompt":"a","output_tokens":"many"}`, `f.jsonl:1: "output_tokens" is "many", not a number`},
		{`{"prompt":"a","output_tokens":[]}`, `f.jsonl:1: "output_tokens" is [], not a number`},
	} {
		_, err := Custom{Options: Options{Path: "f.jsonl"}, OutputLen: -1}.rows(strings.NewReader(row.text))
		if err == nil || err.Error() != row.want {
			t.Errorf("%s\nerror %v\nwant  %s", row.text, err, row.want)
		}
	}
}

func TestCustomRefusesWhatItCannotDo(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.jsonl")
	empty := writeFile(t, "empty.jsonl", "\n \n")
	for _, row := range []struct {
		dataset Custom
		want    string
	}{
		{Custom{Options: Options{Path: missing}}, "output length 0: must be at least 1, or -1 for the length in each row"},
		{Custom{Options: Options{Path: "x.json"}, OutputLen: 1}, "x.json: the name of a custom dataset must end in .jsonl"},
		{Custom{Options: Options{Path: empty}, OutputLen: 1}, empty + ": the file is empty"},
		{Custom{Options: Options{Path: missing}, OutputLen: 1}, "open " + missing + ": no such file or directory"},
	} {
		if _, _, err := row.dataset.Open(); err == nil || err.Error() != row.want {
			t.Errorf("error %v, want %s", err, row.want)
		}
	}
}

func FuzzCustom(f *testing.F) {
	f.Add(letters)
	f.Add("{\"prompt\":null}\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := Custom{Options: Options{Path: "f.jsonl"}, OutputLen: -1}.rows(strings.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.jsonl:") {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		for _, row := range rows {
			if row.outputLen < 1 {
				t.Errorf("a row asks for %d tokens", row.outputLen)
			}
		}
	})
}

func TestCustomIsThatOfTheRealProgram(t *testing.T) {
	for _, c := range goldenCases(t, "custom") {
		c.check(t, Custom{
			Options:   Options{Path: c.path("custom.jsonl"), Tokenizer: c.tokenizer, Template: c.template(), Num: c.Num, Seed: c.Seed, DisableShuffle: c.DisableShuffle, NoOversample: c.NoOversample, IDPrefix: "b-"},
			OutputLen: c.OutputLen,
		})
	}
}

// pandas 2.2.3 reads these columns as float64, int64 and object; int() of what
// comes of it is as here.
func TestOutputTokensAreReadAsPandasReadsTheirColumn(t *testing.T) {
	for _, row := range []struct {
		text string
		want int
	}{{"3", 3}, {"3.0", 3}, {"3.9", 3}, {`"3"`, 3}, {`"3.7"`, 3}, {"1e2", 100}} {
		if got, err := OutputTokens([]byte(row.text)); err != nil || got != row.want {
			t.Errorf("%s is %d (%v), want %d", row.text, got, err, row.want)
		}
	}
}

func TestCustomSendsNumbersInQuotesAsWritten(t *testing.T) {
	path := writeFile(t, "rows.jsonl", `{"prompt":"007"}`+"\n"+`{"prompt":"1.50"}`)
	source, _, err := Custom{Options: Options{Path: path, DisableShuffle: true}, OutputLen: 1}.Open()
	if err != nil {
		t.Fatal(err)
	}
	if got := turns(t, source, nil); got[0].Prompt != "007" || got[1].Prompt != "1.50" {
		t.Errorf("%+v", got)
	}
}

func TestTemplateThatFailsIsToldWithTheLine(t *testing.T) {
	path := writeFile(t, "rows.jsonl", letters)
	source, _, err := Custom{
		Options: Options{Path: path, DisableShuffle: true, Template: func(prompt string) (string, error) {
			if prompt == "c c c" {
				return "", errors.New("no c")
			}
			return prompt, nil
		}},
		OutputLen: 1,
	}.Open()
	if err != nil {
		t.Fatal(err)
	}
	sent := 0
	for c, err := range source {
		if err == nil {
			sent++
		} else if want := path + ":4: chat template: no c"; err.Error() != want || c != nil {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if sent != 2 {
		t.Errorf("%d conversations before the error, want 2", sent)
	}
}
