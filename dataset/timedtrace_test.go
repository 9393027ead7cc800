package dataset

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/tokenizer"
)

// trace is a file of six requests that share their beginnings.
const trace = `{"timestamp": 1000.0, "input_length": 20, "output_length": 2, "hash_ids": [1, 2]}
{"timestamp": 2500.5, "input_length": 27, "output_length": 3, "hash_ids": [1, 2]}
{"timestamp": 4001.0, "input_length": 34, "output_length": 4, "hash_ids": [1, 2, 5]}
{"timestamp": 5501.5, "input_length": 41, "output_length": 5, "hash_ids": [1, 2, 6]}
{"timestamp": 7002.0, "input_length": 32, "output_length": 6, "hash_ids": [1, 2, 7]}
{"timestamp": 8502.5, "input_length": 40, "output_length": 7, "hash_ids": [1]}
`

// The lengths and times are those of vLLM 0.33.0.
func TestTimedTraceHasTheLengthsAndTimesOfTheRealProgram(t *testing.T) {
	numpy := nprand.NewRandomState(9)
	source, n, err := TimedTrace{
		Options:   Options{Path: writeFile(t, "t.jsonl", trace), VocabSize: 1000, Num: 9, Seed: 4, IDPrefix: "b-", NumPy: numpy},
		ChunkSize: 16, Multiplier: 0.001,
	}.Open()
	if err != nil || n != 6 {
		t.Fatal(n, err)
	}
	var got []string
	var prompts [][]int
	for c, err := range source {
		if err != nil {
			t.Fatal(err)
		}
		turn := c.Turns[0]
		prompts = append(prompts, turn.TokenIDs)
		got = append(got, fmt.Sprint(c.ID, " ", *c.Due, " ", turn.PromptLen, " ", len(turn.TokenIDs), " ", turn.OutputLen))
	}
	want := []string{"b-0 1 20 20 2", "b-1 2.5005 27 27 3", "b-2 4.001 34 34 4", "b-3 5.5015 41 41 5", "b-4 7.002 32 32 6", "b-5 8.5025 16 16 7"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	for i, pair := range [][3]int{{0, 1, 16}, {1, 2, 16}, {2, 3, 32}, {3, 4, 32}, {4, 5, 16}} {
		a, b, n := prompts[pair[0]], prompts[pair[1]], pair[2]
		if !slices.Equal(a[:n], b[:n]) || len(a) > n && len(b) > n && a[n] == b[n] {
			t.Errorf("pair %d: %v and %v do not share just their first %d tokens", i, a, b, n)
		}
	}
	if numpy.Random() != nprand.NewRandomState(0).Random() {
		t.Error("numpy's generator was not seeded with 0")
	}
}

func TestTimedTraceKeepsOffSpecialTokensAndSendsText(t *testing.T) {
	stub := tokenizer.Stub{Size: 6, Special: []int{0, 1, 2}}
	d := TimedTrace{Options: Options{Path: writeFile(t, "t.jsonl", trace), Tokenizer: stub, Num: 2}, ChunkSize: 16, Multiplier: 1}
	ids, n, err := d.Open()
	if err != nil || n != 2 {
		t.Fatal(n, err)
	}
	d.Text = true
	text, _, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	texts := turns(t, text, nil)
	for i, turn := range turns(t, ids, nil) {
		if slices.Min(turn.TokenIDs) < 3 || texts[i].Prompt != stub.Decode(turn.TokenIDs) || texts[i].TokenIDs != nil {
			t.Errorf("prompt %d: %v and %q", i, turn.TokenIDs, texts[i].Prompt)
		}
	}
}

func TestTimedTracePromptsDependOnTheSeed(t *testing.T) {
	path := writeFile(t, "t.jsonl", trace)
	var seen [][]int
	for _, seed := range []int64{1, 2, 1} {
		source, _, err := TimedTrace{Options: Options{Path: path, VocabSize: 1000, Num: 1, Seed: seed}, ChunkSize: 16, Multiplier: 1}.Open()
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, turns(t, source, nil)[0].TokenIDs)
	}
	if slices.Equal(seen[0], seen[1]) || !slices.Equal(seen[0], seen[2]) {
		t.Errorf("prompts of the seeds 1, 2 and 1: %v", seen)
	}
}

func TestBadTraceIsNamedWithItsLine(t *testing.T) {
	good := strings.SplitAfter(trace, "\n")[0]
	for _, row := range []struct{ old, new, want string }{
		{"timestamp", "ts", `no "timestamp"`},
		{`"timestamp"`, `"delay": 5, "ts"`, `no "timestamp": the mooncake dataset reads lines with a session_id or a delay`},
		{"20", "0", `"input_length" and "output_length" are 0 and 2: must be at least 1`},
		{`: 2,`, `: "2",`, `"output_length": unexpected JSON string`},
		{`[1, 2]`, `[]`, `no "hash_ids"`},
		{`[1, 2]`, `7`, `"hash_ids": unexpected JSON number`},
		{"1000", "-1", `"timestamp" is -1 seconds: must be at least 0 and below 9.223372037e+09`},
		{"}", "", "unexpected end of JSON input"},
	} {
		text := good + "\n" + strings.Replace(good, row.old, row.new, 1)
		_, err := TimedTrace{Options: Options{Path: "f.jsonl"}, ChunkSize: 16, Multiplier: 1}.rows(strings.NewReader(text))
		if want := "f.jsonl:3: " + row.want; err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestTimedTraceRefusesWhatCannotBeMade(t *testing.T) {
	good := TimedTrace{Options: Options{Path: writeFile(t, "t.jsonl", "\n"), VocabSize: 5, Num: 1}, ChunkSize: 16, Multiplier: 1}
	for _, row := range []struct {
		change func(d *TimedTrace)
		want   string
	}{
		{func(d *TimedTrace) { d.Num = 0 }, "number of prompts 0: must be at least 1"},
		{func(d *TimedTrace) { d.ChunkSize = 0 }, "chunk size 0: must be at least 1"},
		{func(d *TimedTrace) { d.Multiplier = -1 }, "multiplier -1: must not be negative"},
		{func(d *TimedTrace) { d.Text = true }, "timed_trace: needs a tokenizer to send text"},
		{func(d *TimedTrace) { d.VocabSize = 0 }, "a vocabulary of 0 tokens leaves none to make prompts of"},
		{func(*TimedTrace) {}, good.Path + ": the file is empty"},
	} {
		d := good
		row.change(&d)
		if _, _, err := d.Open(); err == nil || err.Error() != row.want {
			t.Errorf("error %v, want %s", err, row.want)
		}
	}
}

func FuzzTimedTrace(f *testing.F) {
	f.Add(trace)
	f.Add(`{"timestamp":1e300,"input_length":9e9,"output_length":1,"hash_ids":["a",null,{}]}`)
	d := TimedTrace{Options: Options{Path: "f.jsonl", VocabSize: 9}, ChunkSize: 16, Multiplier: 1}
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := d.rows(strings.NewReader(text))
		if err != nil && !strings.HasPrefix(err.Error(), "f.jsonl:") {
			t.Errorf("the error does not name the file: %v", err)
		}
		for _, row := range rows {
			if turn := d.turn(row, []int{1, 2}); turn.PromptLen != row.input || turn.PromptLen < 1 {
				t.Errorf("%d tokens for %d", turn.PromptLen, row.input)
			}
		}
	})
}

// The lines of this trace are in no order. VLLM's client would send the second one 7.25 seconds late.
const scattered = `{"timestamp": 7.5, "input_length": 24, "output_length": 5, "session_id": "a", "hash_ids": [3, 4]}
{"timestamp": 0.25, "input_length": 16, "output_length": 7, "hash_ids": [3, 9, 9]}
{"timestamp": 9.0, "input_length": 30, "output_length": 5, "hash_ids": [3]}
{"timestamp": 0.25, "input_length": 32, "output_length": 2, "hash_ids": [3, 8]}
`

func TestTimedTraceOutOfOrderIsSentInTime(t *testing.T) {
	path := writeFile(t, "t.jsonl", scattered)
	for fileOrder, want := range map[bool][]string{
		false: {"1 0.25", "3 0.25", "0 7.5", "2 9"},
		true:  {"0 7.5", "1 0.25", "2 9", "3 0.25"},
	} {
		var said []string
		source, _, err := TimedTrace{
			Options:   Options{Path: path, VocabSize: 1000, Num: 9, Log: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }},
			ChunkSize: 16, Multiplier: 1, FileOrder: fileOrder,
		}.Open()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for c, err := range source {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint(c.ID, " ", *c.Due))
		}
		if !slices.Equal(got, want) {
			t.Errorf("requests %q, want %q", got, want)
		}
		notices := []string{
			path + ": 2 of 4 lines stand behind a later one: requests are sent in the order of their times. VLLM's client sends them in the order of the file, those 2 late",
			path + ": 2 hash ids are more than their lines have chunks of 16 tokens: they have no effect, as in vLLM's client",
			path + ": the hash ids of some lines stand for 14 tokens fewer than their input_length: their prompts are shorter by that, as in vLLM's client. The mooncake dataset keeps the lengths",
			path + ": 1 lines have a session_id, which has no effect here: the mooncake dataset sends sessions",
		}
		if fileOrder {
			notices = notices[1:]
		}
		if !slices.Equal(said, notices) {
			t.Errorf("notices %q\nwant %q", said, notices)
		}
	}
}
