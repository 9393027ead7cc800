package sessions

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset"
)

func weka(sample string) Weka {
	return Weka{Options: dataset.Options{Path: filepath.Join("testdata", sample), VocabSize: 1000, Seed: 7}}
}

func sampleText(t testing.TB, sample string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", sample))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestWekaExpandsAsWorkedOut(t *testing.T) {
	const sample = "weka-tricky.json"
	d := weka(sample)
	var said []string
	d.Log = func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	scope, _ := contents(strings.NewReader(sampleText(t, sample)))
	checkExpansion(t, sample, collect(t, d.Open), func(c *dataset.Conversation, id uint64) uint64 {
		return dataset.BlockID(7, scope+":"+c.ID, fmt.Sprint(id))
	})
	want := []string{
		d.Path + ": 1 of 8 requests have no duration: gaps after them contain the time of the recorded server",
		d.Path + ": 1 of 8 requests were recorded before what they wait for had ended: they follow it without a gap",
		d.Path + ": its requests are for 2 models: all go to the one of the run",
	}
	if !slices.Equal(said, want) {
		t.Errorf("notices %q, want %q", said, want)
	}
}

func TestBadWekaIsNamedWithItsLine(t *testing.T) {
	const good = `{"id": "g", "requests": [{"t": 0, "in": 4, "out": 1, "hash_ids": [1]}]}` + "\n"
	sample := good + sampleText(t, "weka-tricky.json")
	for _, row := range []struct {
		old, new string
		line     int
		want     string
	}{
		{`"in": 16`, `"in": 12`, 7, "4 hash ids of 4 tokens for a prompt of 12: at most 3 fit, so --trace-block-size may be smaller"},
		{`"in": 12`, `"in": 0`, 4, `"in" is 0: must be at least 1 and below 2²⁸`},
		{`"out": 50`, `"out": -1`, 11, `"out" is -1: must be at least 0 and below 2²⁸`},
		{`"api_time": 3.0`, `"api_time": -3`, 12, `"api_time" is -3: must be at least 0 and below 9.223372037e+09`},
		{`{"t": 310.5, `, `{`, 14, `no "t"`},
		{`{"t": 310.5, `, `{"t": -0.5, `, 14, `"t" is -0.5: must be at least 0 and below 9.223372037e+09`},
		{`{"t": 310.5, `, `{"t": NaN, `, 14, "requests.t: unexpected JSON object, or NaN"},
		{`"local"`, `"here"`, 2, `"hash_id_scope" is "here": may be "local" or "global"`},
		{`"block_size": 4`, `"block_size": 0`, 2, `"block_size" is 0: must be at least 1`},
		{`"id": "t1"`, `"id": "g"`, 2, "session g is in the file before"},
		{`"out": 6,`, `"out": "6",`, 12, "requests.out: unexpected JSON string"},
		{"}\n ]}", "}\n ]", 16, "unexpected EOF"},
	} {
		text := strings.Replace(sample, row.old, row.new, 1)
		_, _, err := Weka{Options: dataset.Options{Path: "f.json", VocabSize: 9}}.read(strings.NewReader(text))
		if want := fmt.Sprintf("f.json:%d: %s", row.line, row.want); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	for text, want := range map[string]string{
		" \n": "f.json: the file is empty", `{"id": "x"}`: "f.json:1: a session without requests",
		"[]": "f.json:1: unexpected JSON array",
		`{"requests": [{"t": 0, "type": "subagent"}]}`: "f.json:1: a session without requests",
	} {
		if _, _, err := (Weka{Options: dataset.Options{Path: "f.json", VocabSize: 9}}).read(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// An agent in an agent, spawned before any request, in a trace that begins late.
func TestWekaSpawnsWithinSpawns(t *testing.T) {
	const file = `{"requests": [
	{"t": 10, "type": "subagent", "requests": [
		{"t": 0, "in": 70, "out": 0, "api_time": 1},
		{"t": 2, "type": "subagent", "agent_id": "deep", "requests": [{"t": 0.5, "in": 64, "out": 1, "hash_ids": [8], "api_time": 9}]},
		{"t": 3, "in": 64, "out": 1, "hash_ids": [8], "api_time": 1}]},
	{"t": 11.5, "in": 64, "out": 1, "hash_ids": [8], "api_time": 1},
	{"t": 14, "in": 65, "out": 1, "hash_ids": [8, 9], "api_time": 1}]}
{"hash_id_scope": "global", "requests": [{"t": 0, "in": 64, "out": 1, "hash_ids": [8]}]}
{"hash_id_scope": "global", "requests": [{"t": 0, "in": 64, "out": 1, "hash_ids": [8]}]}`
	source, n, err := Weka{Options: dataset.Options{Path: "f.json", VocabSize: 9}}.read(strings.NewReader(file))
	if err != nil || n != 3 {
		t.Fatal(n, err)
	}
	list := pull(t, source)
	var got []string
	for i, turn := range list[0].Turns {
		got = append(got, fmt.Sprint(turn.Agent, " ", *turn.At, " ", turn.Gap, " ", list[0].WaitsOf(i), " ", turn.Tail.Tokens))
	}
	want := []string{"agent-1 0 0 [] 70", "deep 2.5 1.5 [{0 0}] 0", "agent-1 3 2 [{0 0}] 0", "main 1.5 1.5 [] 0", "main 4 0 [{3 0} {2 0}] 1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	a, b, c := list[0].Turns[1].Blocks, list[1].Turns[0].Blocks, list[2].Turns[0].Blocks
	if a[0].ID == b[0].ID || b[0] != c[0] || list[2].ID != "session-3" {
		t.Errorf("local and global blocks %v, %v and %v in %s", a, b, c, list[2].ID)
	}
}

func FuzzWeka(f *testing.F) {
	f.Add(sampleText(f, "weka-tricky.json"))
	f.Add(`{"block_size":1,"requests":[{"t":9e9,"in":1,"type":"subagent","requests":[{"t":1e9,"in":3,"out":1,"api_time":9e9,"hash_ids":[1]}]},{"t":1,"in":5}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		source, n, err := Weka{Options: dataset.Options{Path: "f.json", VocabSize: 9}}.read(strings.NewReader(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.json:") {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		checkSessions(t, source, n)
	})
}
