package dataset

import (
	"slices"
	"testing"

	"github.com/servebench/servebench/dataset/nprand"
	"github.com/servebench/servebench/dataset/tokenizer"
)

func TestPrefixRepetitionIsThatOfTheRealProgram(t *testing.T) {
	for _, c := range goldenCases(t, "prefix_repetition") {
		numpy := new(nprand.RandomState)
		c.check(t, PrefixRepetition{
			Options:   Options{Tokenizer: c.tokenizer, Num: c.Num, Seed: c.Seed, DisableShuffle: c.DisableShuffle, NumPy: numpy},
			PrefixLen: c.PrefixLen, SuffixLen: c.SuffixLen, NumPrefixes: c.NumPrefixes, OutputLen: 5,
		})
		c.checkNumPy(t, numpy)
	}
}

// Without a tokenizer ids are not fitted, as they are not with one that loses
// nothing.
func TestPrefixRepetitionWithoutTokenizerMakesTokenIDs(t *testing.T) {
	stub := tokenizer.Stub{Size: 500}
	d := PrefixRepetition{Options: Options{Tokenizer: stub, VocabSize: 500, Num: 6}, PrefixLen: 3, SuffixLen: 4, NumPrefixes: 2, OutputLen: 1}
	text, _, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	d.Tokenizer = nil
	ids, _, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	with := turns(t, text, nil)
	for i, turn := range turns(t, ids, nil) {
		if turn.Prompt != "" || !slices.Equal(turn.TokenIDs, stub.Encode(with[i].Prompt, false)) {
			t.Errorf("prompt %d: %v, want the ids of %s", i, turn, with[i].Prompt)
		}
	}
}

func TestPrefixRepetitionRefusesWhatCannotBeMade(t *testing.T) {
	good := PrefixRepetition{Options: Options{VocabSize: 10, Num: 7}, PrefixLen: 1, SuffixLen: 1, NumPrefixes: 2, OutputLen: 1}
	for _, row := range []struct {
		change func(d *PrefixRepetition)
		want   string
	}{
		{func(d *PrefixRepetition) { d.NumPrefixes = 10 }, "num_requests (7) must be greater than or equal to num_prefixes (10)"},
		{func(d *PrefixRepetition) { d.NumPrefixes = 0 }, "number of prefixes 0: must be at least 1"},
		{func(d *PrefixRepetition) { d.SuffixLen = -1 }, "prefix length 1 and suffix length -1: must not be negative"},
		{func(d *PrefixRepetition) { d.PrefixLen, d.SuffixLen = 0, 0 }, "prefix and suffix length are 0: prompts would be empty"},
		{func(d *PrefixRepetition) { d.OutputLen = 0 }, "output length 0: must be at least 1"},
		{func(d *PrefixRepetition) { d.Seed = 1 << 32 }, "seed 4294967296: must be between 0 and 4294967295"},
		{func(d *PrefixRepetition) { d.VocabSize = 0 }, "a vocabulary of 0 tokens leaves none to make prompts of"},
	} {
		d := good
		row.change(&d)
		if _, _, err := d.Open(); err == nil || err.Error() != row.want {
			t.Errorf("error %v, want %s", err, row.want)
		}
	}
}

func TestTrailLeadsBackToEveryPosition(t *testing.T) {
	rng := nprand.NewRandomState(3)
	var way trail
	var drawn []uint64
	var next []int64
	for range 300 {
		way.pass(rng)
		drawn = append(drawn, rng.Drawn())
		ahead := *rng
		next = append(next, ahead.Intn(1<<30))
		rng.Skip(1000)
	}
	if len(way.marks) < 4 || len(way.marks) > 5 {
		t.Errorf("%d marks over %d words", len(way.marks), rng.Drawn())
	}
	for i, at := range drawn {
		if got := way.at(at).Intn(1 << 30); got != next[i] {
			t.Errorf("after %d words comes %d, want %d", at, got, next[i])
		}
	}
}
