package dataset

import (
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset/tokenizer"
)

func TestBurstGPTIsThatOfTheRealProgram(t *testing.T) {
	for _, c := range goldenCases(t, "burstgpt") {
		c.check(t, BurstGPT{Options: Options{Path: c.path("burst.csv"), Tokenizer: c.tokenizer, Num: c.Num, Seed: c.Seed, IDPrefix: "b-"}})
	}
}

const burstHead = "Timestamp,Model,Request tokens,Response tokens\n"

func TestBurstGPTWithoutTokenizerMakesTokenIDs(t *testing.T) {
	path := writeFile(t, "b.csv", burstHead+"5,GPT-4,4.0,7.0\n5,ChatGPT,9,9\n5,GPT-4,3,0\n5,GPT-4,3,\n")
	source, _, err := BurstGPT{Options: Options{Path: path, VocabSize: 3, Num: 2}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	got := turns(t, source, nil)
	if want := []int{1, 2, 0, 1}; !slices.Equal(got[1].TokenIDs, want) || got[1].PromptLen != 4 || got[1].OutputLen != 7 {
		t.Errorf("%+v, want the ids %v", got[1], want)
	}
}

func TestBadBurstGPTFileIsNamedWithItsLine(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"a,b\n", `f.csv:1: the first line must name at least four columns, "Model" and "Response tokens" among them`},
		{burstHead, "f.csv: no row has the model GPT-4 and response tokens"},
		{burstHead + "\n5,GPT-4,x,1\n", `f.csv:3: "x" is not a number of tokens`},
		{burstHead + "5,GPT-4,0,1\n", `f.csv:2: "0" is not a number of tokens`},
		{burstHead + "5,GPT-4,1\n", "f.csv:2: wrong number of fields"},
		{burstHead + "5,GPT-4,\"1\n", "f.csv:2: extraneous or missing \" in quoted-field"},
	} {
		if _, err := (BurstGPT{Options: Options{Path: "f.csv"}}).rows(strings.NewReader(row.text)); err == nil || err.Error() != row.want {
			t.Errorf("%s\nerror %v\nwant  %s", row.text, err, row.want)
		}
	}
}

func TestBurstGPTRefusesWhatCannotBeMade(t *testing.T) {
	path := writeFile(t, "empty.csv", "")
	for _, row := range []struct {
		dataset BurstGPT
		want    string
	}{
		{BurstGPT{Options: Options{VocabSize: 5}}, "number of prompts 0: must be at least 1"},
		{BurstGPT{Options: Options{Num: 1}}, "a vocabulary of 0 tokens leaves none to make prompts of"},
		{BurstGPT{Options: Options{Num: 1, VocabSize: 5, Seed: -1}}, "seed -1: must be between 0 and 4294967295"},
		{BurstGPT{Options: Options{Path: path, Num: 1, Tokenizer: tokenizer.Stub{Size: 5}}}, path + ": the file is empty"},
	} {
		if _, _, err := row.dataset.Open(); err == nil || err.Error() != row.want {
			t.Errorf("error %v, want %s", err, row.want)
		}
	}
}

func FuzzBurstGPT(f *testing.F) {
	f.Add(burstHead + "5,GPT-4,4.0,7.0\n5,ChatGPT,9,9\n")
	f.Add(burstHead + "5,GPT-4,1e9,\"7\n\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := BurstGPT{Options: Options{Path: "f.csv"}}.rows(strings.NewReader(text))
		if err != nil && !strings.HasPrefix(err.Error(), "f.csv:") {
			t.Errorf("the error does not name the file: %v", err)
		}
		for _, row := range rows {
			if row.prompt < 1 || row.output < 1 {
				t.Errorf("row %+v", row)
			}
		}
	})
}
