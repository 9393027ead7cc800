package dataset

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/servebench/servebench/dataset/tokenizer"
)

func TestSonnetIsThatOfTheRealProgram(t *testing.T) {
	for _, c := range goldenCases(t, "sonnet") {
		c.check(t, Sonnet{
			Options: Options{Path: c.path("poem.txt"), Tokenizer: c.tokenizer, Template: goldenTemplate, Num: c.Num, Seed: c.Seed, IDPrefix: "b-"},
			Bare:    c.Chat, InputLen: c.InputLen, PrefixLen: c.PrefixLen, OutputLen: 3,
		})
	}
}

func TestSonnetRefusesWhatCannotBeMade(t *testing.T) {
	path, empty := writeFile(t, "poem.txt", "one two\r\nthree\n"), writeFile(t, "empty.txt", "")
	good := Sonnet{
		Options:  Options{Path: path, Tokenizer: tokenizer.Stub{Size: 9}, Template: goldenTemplate, Num: 1},
		InputLen: 30, OutputLen: 1,
	}
	for _, row := range []struct {
		change func(d *Sonnet)
		want   string
	}{
		{func(d *Sonnet) { d.Template = nil }, "sonnet: needs a tokenizer with a chat template, to measure prompts"},
		{func(d *Sonnet) { d.Num = 0 }, "number of prompts 0: must be at least 1"},
		{func(d *Sonnet) { d.OutputLen = 0 }, "output length 0: must be at least 1"},
		{func(d *Sonnet) { d.Path = empty }, empty + ": the file is empty"},
		{func(d *Sonnet) { d.InputLen = 13 }, "'input_len' must be higher than the base prompt length (13)"},
		{func(d *Sonnet) { d.Path = writeFile(t, "blank.txt", "\n\n") }, "blank.txt: its lines have no tokens"},
		{func(d *Sonnet) { d.Template = func(string) (string, error) { return "", errors.New("no") } }, "chat template: no"},
	} {
		d := good
		row.change(&d)
		if _, _, err := d.Open(); err == nil || !strings.HasSuffix(err.Error(), row.want) {
			t.Errorf("error %v, want %s", err, row.want)
		}
	}
}

func TestSonnetGivesUpOnPromptsThatAreAllTooLong(t *testing.T) {
	path := writeFile(t, "poem.txt", "one two three four five six\n")
	source, _, err := Sonnet{
		Options:  Options{Path: path, Tokenizer: tokenizer.Stub{Size: 9}, Template: goldenTemplate, Num: 1},
		InputLen: 15, OutputLen: 1,
	}.Open()
	if err != nil {
		t.Fatal(err)
	}
	for c, err := range source {
		if want := path + ": of 1000 prompts in a row, none has at most 15 tokens"; c != nil || err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestSonnetNamesTheLineThatCannotBeRead(t *testing.T) {
	r := iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("one")))
	if _, err := (Sonnet{Options: Options{Path: "f.txt"}}).lines(r); err == nil || err.Error() != "f.txt:1: timeout" {
		t.Errorf("error %v", err)
	}
}

func FuzzSonnet(f *testing.F) {
	f.Add("one\r\ntwo")
	f.Fuzz(func(t *testing.T, text string) {
		lines, err := Sonnet{Options: Options{Path: "f.txt"}}.lines(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(lines, ""); got != strings.ReplaceAll(text, "\r\n", "\n") {
			t.Errorf("%q was read from %q", got, text)
		}
	})
}

// Half of a line too much is rounded to an even number of lines: of vLLM 0.11.2,
// with two tokens a line and room for five.
func TestSonnetRoundsHalvesToEven(t *testing.T) {
	path := writeFile(t, "poem.txt", "tok1 tok2\ntok3 tok4\ntok5 tok6\n")
	source, _, err := Sonnet{
		Options:  Options{Path: path, Tokenizer: tokenizer.Stub{Size: 1000}, Template: goldenTemplate, Num: 2, Seed: 5},
		InputLen: 18, OutputLen: 3,
	}.Open()
	if err != nil {
		t.Fatal(err)
	}
	for i, turn := range turns(t, source, nil) {
		if turn.PromptLen != 17 {
			t.Errorf("prompt %d has %d tokens, want 17: %s", i, turn.PromptLen, turn.Prompt)
		}
	}
}
