package dataset

import (
	"testing"

	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/tokenizer"
)

// The values are those of CPython 3.11 after random.seed, random.shuffle of a list of that length, and
// what else the datasets of vLLM 0.33.0 draw.
func TestDatasetsLeavePythonsGenerator(t *testing.T) {
	rows := writeFile(t, "rows.jsonl", `{"prompt":"a"}`+"\n"+`{"prompt":"b"}`+"\n"+`{"prompt":"c"}`+"\n")
	bench := writeFile(t, "bench.jsonl", `{"turns":["a"]}`+"\n"+`{"turns":["b"]}`+"\n"+`{"turns":["c"]}`+"\n")
	said := `{"conversations":[{"value":"one two three four five"},{"value":"one two three four five"}]}`
	talks := writeFile(t, "talks.json", "["+said+","+said+","+said+"]")
	burst := writeFile(t, "burst.csv", burstHead+"5,GPT-4,4,7\n")
	words := tokenizer.Stub{Size: 1000}
	for _, row := range []struct {
		name string
		open func(Options) (Source, int, error)
		Options
		want float64
	}{
		{"random", func(o Options) (Source, int, error) { return Random{Options: o, InputLen: 4, OutputLen: 1}.Open() }, Options{Num: 3}, 0.32383276483316237},
		{"burstgpt", func(o Options) (Source, int, error) { return BurstGPT{o}.Open() }, Options{Path: burst, Num: 3}, 0.32383276483316237},
		{"timed_trace", func(o Options) (Source, int, error) {
			return TimedTrace{Options: o, ChunkSize: 16, Multiplier: 1}.Open()
		}, Options{Path: writeFile(t, "t.jsonl", trace), Num: 3}, 0.8444218515250481},
		{"custom", func(o Options) (Source, int, error) { return Custom{o, 1}.Open() }, Options{Path: rows, Num: 2}, 0.3948234964231735},
		{"custom in order", func(o Options) (Source, int, error) { return Custom{o, 1}.Open() }, Options{Path: rows, Num: 2, DisableShuffle: true}, 0.32383276483316237},
		{"custom, some again", func(o Options) (Source, int, error) { return Custom{o, 1}.Open() }, Options{Path: rows, Num: 6}, 0.6509344730398537},
		{"spec_bench", func(o Options) (Source, int, error) { return SpecBench{Options: o, OutputLen: 1}.Open() }, Options{Path: bench, Num: 2}, 0.04048437818077755},
		{"sharegpt", func(o Options) (Source, int, error) { return ShareGPT{Options: o}.Open() }, Options{Path: talks, Num: 2}, 0.3948234964231735},
		{"sharegpt, some again", func(o Options) (Source, int, error) { return ShareGPT{Options: o}.Open() }, Options{Path: talks, Num: 6}, 0.6509344730398537},
		{"prefix_repetition", func(o Options) (Source, int, error) {
			return PrefixRepetition{Options: o, PrefixLen: 2, SuffixLen: 2, NumPrefixes: 1, OutputLen: 1}.Open()
		}, Options{Num: 3}, 0.3948234964231735},
	} {
		row.Seed, row.Tokenizer, row.Python = 7, words, new(nprand.Python)
		if _, _, err := row.open(row.Options); err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		if got := row.Python.Random(); got != row.want {
			t.Errorf("%s: the next draw is %v, want %v", row.name, got, row.want)
		}
	}
}
