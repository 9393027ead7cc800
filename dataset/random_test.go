package dataset

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/tokenizer"
)

type randomCase struct {
	Tokenizer  string
	Seed       int64
	InputLen   int         `json:"input_len"`
	OutputLen  int         `json:"output_len"`
	PrefixLen  int         `json:"prefix_len"`
	RangeRatio goldenRatio `json:"range_ratio"`
	Num        int

	AfterRuns   [][][2]int `json:"after_runs"`
	InputLens   []int      `json:"input_lens"`
	Mismatch    []int      `json:"mismatch"`
	PromptLen   []int      `json:"prompt_len"`
	OutputLens  []int      `json:"expected_output_len"`
	RequestID   []string   `json:"request_id"`
	FirstPrompt string     `json:"first_prompt"`
	PromptWords []int      `json:"prompt_words"`
}

// A goldenRatio is one number for both lengths, or an object with one for each.
type goldenRatio RangeRatio

func (r *goldenRatio) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, &r.Input); err == nil {
		r.Output = r.Input
		return nil
	}
	return json.Unmarshal(text, (*RangeRatio)(r))
}

func (c randomCase) dataset(t *testing.T) Random {
	t.Helper()
	return Random{
		Options: Options{Tokenizer: stubNamed(t, c.Tokenizer), Num: c.Num, Seed: c.Seed, IDPrefix: "b-"},
		Ratio:   RangeRatio(c.RangeRatio), InputLen: c.InputLen, OutputLen: c.OutputLen, PrefixLen: c.PrefixLen,
	}
}

func TestRandomPromptsAreThoseOfTheRealProgram(t *testing.T) {
	for i, c := range goldenRandom(t).Cases {
		d := c.dataset(t)
		source, n, err := d.Open()
		if err != nil || n != c.Num {
			t.Errorf("case %d: %d conversations (%v), want %d", i, n, err, c.Num)
			continue
		}
		var ids []string
		var lens, outs, words, surplus []int
		for k, turn := range turns(t, source, &ids) {
			if k == 0 && turn.Prompt != c.FirstPrompt {
				t.Errorf("case %d: first prompt %s\nwant %s", i, turn.Prompt, c.FirstPrompt)
			}
			final := expand(c.AfterRuns[k])
			if got := d.Tokenizer.Encode(turn.Prompt, false); !slices.Equal(got, final) {
				t.Errorf("case %d: prompt %d has the tokens %v\nwant %v", i, k, got, final)
			}
			lens = append(lens, turn.PromptLen)
			outs = append(outs, turn.OutputLen)
			words = append(words, len(strings.Fields(turn.Prompt)))
			surplus = append(surplus, turn.PromptLen-c.InputLens[k]-c.PrefixLen)
		}
		for what, pair := range map[string][2][]int{
			"prompt_len": {lens, c.PromptLen}, "output_len": {outs, c.OutputLens},
			"words": {words, c.PromptWords}, "mismatch": {surplus, c.Mismatch},
		} {
			if !slices.Equal(pair[0], pair[1]) {
				t.Errorf("case %d: %s %v, want %v", i, what, pair[0], pair[1])
			}
		}
		if !slices.Equal(ids, c.RequestID) {
			t.Errorf("case %d: ids %v, want %v", i, ids, c.RequestID)
		}
	}
}

func TestRandomRefusesPromptsWithoutTokensAsTheRealProgram(t *testing.T) {
	for _, row := range goldenRandom(t).Errors {
		var fields []json.RawMessage
		var c randomCase
		var want string
		decode(t, row[0], &fields)
		decode(t, row[1], &want)
		for i, into := range []any{&c.Tokenizer, &c.Seed, &c.InputLen, &c.OutputLen, &c.RangeRatio, &c.PrefixLen, &c.Num} {
			decode(t, fields[i], into)
		}
		_, _, err := c.dataset(t).Open()
		if err == nil || "ValueError: "+err.Error()+"." != want {
			t.Errorf("error:\n%v\nwant\n%s", err, want)
		}
	}
}

func TestRandomRefusesWhatCannotBeMade(t *testing.T) {
	good := Random{Options: Options{VocabSize: 10, Num: 1}, InputLen: 5}
	for _, row := range []struct {
		change func(d *Random)
		want   string
	}{
		{func(d *Random) { d.Num = 0 }, "number of prompts 0: must be at least 1"},
		{func(d *Random) { d.PrefixLen = -1 }, "prefix length -1: must not be negative"},
		{func(d *Random) { d.Seed = -1 }, "seed -1: must not be negative"},
		{func(d *Random) { d.VocabSize = 0 }, "a vocabulary of 0 tokens leaves none to make prompts of"},
		{func(d *Random) { d.Ratio.Output = 1 }, "range ratio: 1 is not at least 0 and below 1"},
		{func(d *Random) { d.Tokenizer = tokenizer.Stub{Size: 1, Special: []int{0}} }, "a vocabulary of 1 tokens leaves none to make prompts of"},
	} {
		d := good
		row.change(&d)
		if _, _, err := d.Open(); err == nil || err.Error() != row.want {
			t.Errorf("error %v, want %s", err, row.want)
		}
	}
}

func TestRandomWithoutTokenizerMakesTokenIDs(t *testing.T) {
	d := Random{Options: Options{VocabSize: 32000, Num: 3}, InputLen: 4, OutputLen: 2}
	source, _, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	// The offsets are those of the golden file's first case.
	want := [][]int{{27219, 27220, 27221, 27222}, {20383, 20384, 20385, 20386}, {16358, 16359, 16360, 16361}}
	for i, turn := range turns(t, source, nil) {
		if !slices.Equal(turn.TokenIDs, want[i]) || turn.Prompt != "" || turn.PromptLen != 4 || turn.OutputLen != 2 {
			t.Errorf("prompt %d: %+v, want the ids %v", i, turn, want[i])
		}
	}
}

func TestRandomIDsWrapAroundTheVocabulary(t *testing.T) {
	source, _, err := Random{Options: Options{VocabSize: 3, Num: 1}, InputLen: 7}.Open()
	if err != nil {
		t.Fatal(err)
	}
	for _, turn := range turns(t, source, nil) {
		for i := range turn.TokenIDs[1:] {
			if turn.TokenIDs[i+1] != (turn.TokenIDs[i]+1)%3 {
				t.Errorf("ids %v do not follow each other", turn.TokenIDs)
			}
		}
	}
}

func TestRandomIsTheSameEachTime(t *testing.T) {
	d := Random{Options: Options{Tokenizer: lossyStub{tokenizer.Stub{Size: 32000}}, Num: 4}, InputLen: 30, PrefixLen: 5, Ratio: RangeRatio{0.5, 0.5}}
	source, _, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	first, again := turns(t, source, nil), turns(t, source, nil)
	for i := range first {
		if first[i].Prompt != again[i].Prompt {
			t.Errorf("prompt %d differs the second time", i)
		}
	}
}

func TestRandomTellsOfLengthsOnce(t *testing.T) {
	var notices []string
	d := Random{
		Options:  Options{Tokenizer: lossyStub{tokenizer.Stub{Size: 32000}}, Num: 8, Log: func(format string, args ...any) { notices = append(notices, fmt.Sprintf(format, args...)) }},
		InputLen: 60, OutputLen: 10, PrefixLen: 12, Ratio: RangeRatio{0.5, 0.5},
	}
	source, _, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		turns(t, source, nil)
	}
	want := []string{
		"Sampling input_len from [30, 90] and output_len from [5, 15]",
		"random prefix: 1 tokens more than asked for, as encoding their text does not give back their tokens",
		"random prompts: 28 tokens more than asked for, as encoding their text does not give back their tokens",
	}
	if !slices.Equal(notices, want) {
		t.Errorf("notices %q, want %q", notices, want)
	}
}

type goldenRandomFile struct {
	Cases  []randomCase
	Errors [][2]json.RawMessage
}

func goldenRandom(t *testing.T) goldenRandomFile {
	t.Helper()
	data, err := os.ReadFile("../testdata/golden/random_dataset.json")
	if err != nil {
		t.Fatal(err)
	}
	var file goldenRandomFile
	decode(t, data, &file)
	if len(file.Cases) == 0 || len(file.Errors) == 0 {
		t.Fatal("the golden file lacks a section")
	}
	return file
}

// expand turns runs of consecutive ids, as [first, count], into the ids.
func expand(runs [][2]int) []int {
	var ids []int
	for _, run := range runs {
		for k := range run[1] {
			ids = append(ids, run[0]+k)
		}
	}
	return ids
}

// The lossy tokenizer's prompts and the large one's need draws to be fitted, one after the other.
func BenchmarkRandom(b *testing.B) {
	stub := tokenizer.Stub{Size: 128_000}
	for _, row := range []struct {
		name      string
		tokenizer tokenizer.Tokenizer
	}{{"exact", stub}, {"lossy", lossyStub{stub}}, {"llama3-sized", llamaSized(b)}, {"ids", nil}} {
		b.Run(row.name, func(b *testing.B) {
			d := Random{Options: Options{Tokenizer: row.tokenizer, VocabSize: stub.Size, Num: 200}, InputLen: 1024, OutputLen: 128}
			source, _, err := d.Open()
			if err != nil {
				b.Fatal(err)
			}
			tokens := 0
			for b.Loop() {
				for c, err := range source {
					if err != nil {
						b.Fatal(err)
					}
					tokens += c.Turns[0].PromptLen
				}
			}
			b.ReportMetric(float64(tokens)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
}

// Up to v0.9.2 the dataset drew from the generator that arrival times are drawn
// from: what has one value took nothing, each offset one draw or more.
func TestFormerDrawsLeaveNumPyBehindTheOffsets(t *testing.T) {
	after := func(d Random) uint64 {
		d.NumPy = new(nprand.RandomState)
		if _, _, err := d.Open(); err != nil {
			t.Fatal(err)
		}
		return d.NumPy.Drawn()
	}
	plain := Random{Options: Options{VocabSize: 1 << 15, Num: 200}, InputLen: 10, OutputLen: 10}
	if n := after(plain); n != 200 {
		t.Errorf("%d words drawn, want 200", n)
	}
	prefixed, varied := plain, plain
	if prefixed.PrefixLen = 16; after(prefixed) != 216 {
		t.Errorf("%d words drawn with a prefix, want 216", after(prefixed))
	}
	if varied.Ratio.Output = .8; after(varied) < 400 { // 2 to 18
		t.Errorf("%d words drawn with outputs that vary, want 400 or more", after(varied))
	}
}
