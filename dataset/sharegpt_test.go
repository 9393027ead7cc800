package dataset

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/rows"
	"github.com/servebench/servebench/dataset/tokenizer"
)

const shareGPTFile = "../testdata/golden/sharegpt_input.json"

type shareGPTCase struct {
	Tokenizer      string
	Seed           int64
	Num            int
	DisableShuffle bool     `json:"disable_shuffle"`
	OutputLen      int      `json:"sharegpt_output_len"`
	NoOversample   bool     `json:"no_oversample"`
	ShuffledOrder  []string `json:"shuffled_order"`
	Selected       []int
	PromptLen      []int    `json:"prompt_len"`
	OutputLens     []int    `json:"output_len"`
	RequestID      []string `json:"request_id"`
	RNGAfter       float64  `json:"rng_after"`
}

func (c shareGPTCase) dataset(t *testing.T) ShareGPT {
	t.Helper()
	return ShareGPT{
		Options:   Options{Path: shareGPTFile, Tokenizer: stubNamed(t, c.Tokenizer), Num: c.Num, Seed: c.Seed, DisableShuffle: c.DisableShuffle, NoOversample: c.NoOversample, IDPrefix: "b-"},
		OutputLen: c.OutputLen,
	}
}

// shareGPTEntry is a conversation of the golden input.
type shareGPTEntry struct {
	ID            string
	Conversations []struct{ Value string }
}

func readShareGPT(t *testing.T) (input []byte, entries []shareGPTEntry, cases []shareGPTCase) {
	t.Helper()
	input, err := os.ReadFile(shareGPTFile)
	if err != nil {
		t.Fatal(err)
	}
	decode(t, input, &entries)
	data, err := os.ReadFile("../testdata/golden/sharegpt.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct{ Cases []shareGPTCase }
	decode(t, data, &golden)
	if len(golden.Cases) == 0 {
		t.Fatal("the golden file has no cases")
	}
	return input, entries, golden.Cases
}

func TestShareGPTChoosesAsTheRealProgram(t *testing.T) {
	_, entries, cases := readShareGPT(t)
	for i, c := range cases {
		source, n, err := c.dataset(t).Open()
		if err != nil || n != len(c.Selected) {
			t.Errorf("case %d: %d conversations (%v), want %d", i, n, err, len(c.Selected))
			continue
		}
		var ids []string
		var lens, outs []int
		for k, turn := range turns(t, source, &ids) {
			if want := entries[c.Selected[k]]; turn.Prompt != want.Conversations[0].Value {
				t.Errorf("case %d: prompt %d is not that of %s", i, k, want.ID)
			}
			lens = append(lens, turn.PromptLen)
			outs = append(outs, turn.OutputLen)
		}
		if !slices.Equal(lens, c.PromptLen) || !slices.Equal(outs, c.OutputLens) {
			t.Errorf("case %d: lengths %v and %v, want %v and %v", i, lens, outs, c.PromptLen, c.OutputLens)
		}
		if !slices.Equal(ids, c.RequestID) {
			t.Errorf("case %d: ids %v, want %v", i, ids, c.RequestID)
		}
	}
}

func TestShareGPTLeavesTheGeneratorAsTheRealProgram(t *testing.T) {
	input, entries, cases := readShareGPT(t)
	byQuestion := make(map[string]string)
	for _, e := range entries {
		if len(e.Conversations) > 0 {
			byQuestion[e.Conversations[0].Value] = e.ID
		}
	}
	for i, c := range cases {
		rng := nprand.NewPython(c.Seed)
		if _, _, err := c.dataset(t).choose(bytes.NewReader(input), rng); err != nil {
			t.Fatal(err)
		}
		if got := rng.Random(); got != c.RNGAfter {
			t.Errorf("case %d: the next number is %v, want %v", i, got, c.RNGAfter)
		}
		list, err := readExchanges(rows.Array{Name: shareGPTFile, File: bytes.NewReader(input)})
		if err != nil {
			t.Fatal(err)
		}
		if !c.DisableShuffle {
			nprand.NewPython(c.Seed).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		}
		order := make([]string, len(list))
		for k, e := range list {
			order[k] = byQuestion[*e.question]
		}
		if !slices.Equal(order, c.ShuffledOrder) {
			t.Errorf("case %d: order %v, want %v", i, order, c.ShuffledOrder)
		}
	}
}

// fits has lengths of 4 and 5 tokens, which are within the limits.
const fits = `{"conversations":[{"value":"a b c d"},{"value":"e f g h i"}]}`

func TestBadShareGPTFileIsNamedWithItsLine(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"", "f.json:1: the file is empty"},
		{"\n\n", "f.json:3: the file is empty"},
		{"{}", "f.json:1: not a JSON array"},
		{"\n[" + fits, "f.json:2: unexpected EOF"},
		{"[\n" + fits + ",\n{\"conversations\":\n[,]}]", "f.json:4: invalid character ',' looking for beginning of value"},
		{"[\n" + fits + ",\n\n{\"conversations\":\n[", "f.json:5: unexpected EOF"},
		{"[\n" + fits + "\n" + fits + "]", "f.json:3: expected comma after array element"},
		{"[\n" + fits + ",\n{\"conversations\":\n{}}]", "f.json:4: conversations: unexpected JSON object, or NaN"},
		{"[\n" + fits + ",\n{\"conversations\":\n[\n{\"value\":5}]}]", "f.json:5: conversations.value: unexpected JSON number"},
		{"[\n" + fits + ",\n\n\n\n\n{\"conversations\":5\n,\n\"x\":1}]", "f.json:7: conversations: unexpected JSON number"},
		{"[\n5]", "f.json:2: unexpected JSON number"},
		{"[\n" + fits + ",\n\n{\"conversations\":[{\"value\":\"a\"},\n{}]}]", `f.json:4: one of the first two messages has no "value"`},
		{"[\n" + strings.Replace(fits, "{", `{"image":["x.png"],`, 1) + "]", "f.json:2: image: unexpected JSON array"},
		{"[\n" + fits + "]\n]", "f.json:3: something follows the array"},
		{"[\n" + fits + "]{}", "f.json:2: something follows the array"},
		{"[{\"conversations\":[]}]", "f.json: none of its 0 conversations of two or more messages is within the limits of length"},
	} {
		d := ShareGPT{Options: Options{Path: "f.json", Tokenizer: tokenizer.Stub{Size: 10}, Num: 5, DisableShuffle: true}}
		_, _, err := d.choose(strings.NewReader(row.text), nprand.NewPython(0))
		if err == nil || err.Error() != row.want {
			t.Errorf("%s\nerror %v\nwant  %s", row.text, err, row.want)
		}
	}
}

// A conversation without an answer would be refused.
func TestShareGPTLooksAtNoMoreThanItNeeds(t *testing.T) {
	text := "[" + fits + "," + fits + `,{"conversations":[{"value":"a b c d"},{}]}]`
	for num, want := range map[int]string{2: "", 3: `f.json:1: one of the first two messages has no "value"`} {
		d := ShareGPT{Options: Options{Path: "f.json", Tokenizer: tokenizer.Stub{Size: 10}, Num: num, DisableShuffle: true}}
		chosen, _, err := d.choose(strings.NewReader(text), nprand.NewPython(0))
		if want == "" && (err != nil || len(chosen) != num) || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%d wanted: %d chosen, error %v, want %q", num, len(chosen), err, want)
		}
	}
}

func TestShareGPTKeepsToTheLimitsOfLength(t *testing.T) {
	words := func(n int) string { return strings.Repeat("tok1 ", n) }
	for _, row := range []struct {
		prompt, answer, outputLen int
		want                      bool
	}{
		{4, 4, 0, true}, {3, 4, 0, false}, {4, 3, 0, false}, {4, 3, 1, true},
		{1024, 1024, 0, true}, {1024, 1025, 0, false}, {1025, 4, 0, false}, {1024, 5, 1025, false},
	} {
		text := `[{"conversations":[{"value":"` + words(row.prompt) + `"},{"value":"` + words(row.answer) + `"}]}]`
		d := ShareGPT{Options: Options{Path: "f.json", Tokenizer: tokenizer.Stub{Size: 10}, Num: 1}, OutputLen: row.outputLen}
		if _, _, err := d.choose(strings.NewReader(text), nprand.NewPython(0)); (err == nil) != row.want {
			t.Errorf("%+v: %v", row, err)
		}
	}
}

func TestShareGPTRefusesWhatItCannotDo(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.json")
	stub := tokenizer.Stub{Size: 10}
	for _, row := range []struct {
		dataset ShareGPT
		want    string
	}{
		{ShareGPT{Options: Options{Path: missing, Num: 1}}, "sharegpt: needs a tokenizer, to choose conversations by length"},
		{ShareGPT{Options: Options{Path: missing, Tokenizer: stub}}, "number of prompts 0: must be at least 1"},
		{ShareGPT{Options: Options{Path: missing, Tokenizer: stub, Num: 1}, OutputLen: -1}, "output length -1: must not be negative"},
		{ShareGPT{Options: Options{Path: missing, Tokenizer: stub, Num: 1}}, "open " + missing + ": no such file or directory"},
	} {
		if _, _, err := row.dataset.Open(); err == nil || err.Error() != row.want {
			t.Errorf("error %v, want %s", err, row.want)
		}
	}
}

func FuzzShareGPT(f *testing.F) {
	f.Add([]byte("[\n" + fits + ",\n" + fits + "]\n"))
	f.Add([]byte(`[{"conversations":[{"value":"a b c d"},{}]},{"id":1},{"conversations":null}]`))
	f.Add([]byte("[\n1\n2"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := ShareGPT{Options: Options{Path: "f.json", Tokenizer: tokenizer.Stub{Size: 10}, Num: 3}, OutputLen: 1}
		chosen, order, err := d.choose(bytes.NewReader(data), nprand.NewPython(0))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.json:") {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		if len(order) != 3 || len(chosen) == 0 {
			t.Errorf("%d conversations in the order %v, want 3", len(chosen), order)
		}
	})
}
