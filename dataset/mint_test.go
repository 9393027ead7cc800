package dataset

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset/tokenizer"
)

func minted(t *testing.T, m *Minter, blocks ...Block) Turn {
	t.Helper()
	turn := Turn{Blocks: blocks}
	if err := m.Mint(&turn); err != nil {
		t.Fatal(err)
	}
	return turn
}

func TestEqualBlocksHaveEqualTokens(t *testing.T) {
	m, err := NewMinter(&Options{VocabSize: 1000}, false)
	if err != nil {
		t.Fatal(err)
	}
	a := minted(t, m, Block{1, 16}, Block{2, 16}, Block{3, 5})
	b := minted(t, m, Block{9, 4}, Block{2, 16}, Block{3, 16})
	if a.PromptLen != 37 || len(a.TokenIDs) != 37 || b.PromptLen != 36 {
		t.Fatal(a.PromptLen, len(a.TokenIDs), b.PromptLen)
	}
	if !slices.Equal(a.TokenIDs[16:32], b.TokenIDs[4:20]) {
		t.Errorf("block 2 is %v and %v", a.TokenIDs[16:32], b.TokenIDs[4:20])
	}
	if slices.Equal(a.TokenIDs[32:], b.TokenIDs[20:25]) {
		t.Errorf("a part of block 3 is the beginning of the whole: %v", a.TokenIDs[32:])
	}
	tail := Turn{Blocks: []Block{{1, 16}, {2, 16}}, Tail: Block{3, 5}}
	if err := m.Mint(&tail); err != nil || !slices.Equal(tail.TokenIDs, a.TokenIDs) {
		t.Errorf("with a tail %v, want %v (%v)", tail.TokenIDs, a.TokenIDs, err)
	}
}

// Numpy draws these tokens, too. They must stay as they are: runs that are compared send them.
func TestTokensOfABlockStay(t *testing.T) {
	m, err := NewMinter(&Options{VocabSize: 50257}, false)
	if err != nil {
		t.Fatal(err)
	}
	id := BlockID(3, "scope", "46")
	got := minted(t, m, Block{id, 4}, Block{id, 2}).TokenIDs
	if want := []int{26502, 18254, 4733, 21755, 24192, 5141}; id != 10004560535238454300 || !slices.Equal(got, want) {
		t.Errorf("block %d is %v, want %v", id, got, want)
	}
}

// Texts of n tokens count n with BOS, and share tokens exactly where they share blocks.
func TestTextOfBlocksHasTheirTokens(t *testing.T) {
	for _, name := range []string{"tok-bos", "tok-plain", "stub"} {
		var tok tokenizer.Tokenizer = tokenizer.Stub{Size: 300, BOS: []int{1}, Special: []int{0, 1}}
		if name != "stub" {
			var err error
			if tok, err = tokenizer.Open(filepath.Join("..", "testdata", "golden", name)); err != nil {
				t.Fatal(err)
			}
		}
		m, err := NewMinter(&Options{Tokenizer: tok}, true)
		if err != nil {
			t.Fatal(name, err)
		}
		whole := make([]Block, 60)
		for i := range whole {
			whole[i] = Block{uint64(i), int32(16 + i%3)}
		}
		other := append(slices.Clone(whole[:40]), Block{99, 16})
		a, b := minted(t, m, whole...), minted(t, m, other...)
		for _, turn := range []Turn{a, b} {
			if n := tok.Count(turn.Prompt, true); n != turn.PromptLen {
				t.Errorf("%s: a prompt of %d tokens counts %d", name, turn.PromptLen, n)
			}
		}
		n := 0
		for _, block := range whole[:40] {
			n += int(block.Tokens)
		}
		x, y := tok.Encode(a.Prompt, true), tok.Encode(b.Prompt, true)
		if !slices.Equal(x[:n], y[:n]) || slices.Equal(x[n:n+16], y[n:n+16]) {
			t.Errorf("%s: the prompts do not share exactly their first %d tokens", name, n)
		}
	}
}

// A joining tokenizer makes n equal tokens of a text of more than two words.
type joining struct {
	tokenizer.Stub
	n int
}

func (j joining) Encode(text string, special bool) []int {
	ids := j.Stub.Encode(text, special)
	if len(ids) > 2 {
		return make([]int, j.n)
	}
	return ids
}

func TestMinterRefusesWhatItCannotMake(t *testing.T) {
	for want, o := range map[string]*Options{
		"need a tokenizer":               {VocabSize: 5},
		"has 15 words of one token":      {Tokenizer: tokenizer.Stub{Size: 15}},
		"makes 1 tokens of 20 words":     {Tokenizer: joining{tokenizer.Stub{Size: 20}, 1}},
		`not find the word "tok1" again`: {Tokenizer: joining{tokenizer.Stub{Size: 20}, 20}},
	} {
		if _, err := NewMinter(o, true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if _, err := NewMinter(&Options{}, false); err == nil {
		t.Error("a Minter without a vocabulary")
	}
}

func BenchmarkMint(b *testing.B) {
	turn := Turn{Blocks: make([]Block, 200_000/16)}
	for i := range turn.Blocks {
		turn.Blocks[i] = Block{uint64(i), 16}
	}
	stub := tokenizer.Stub{Size: 32000}
	for _, text := range []bool{false, true} {
		m, err := NewMinter(&Options{Tokenizer: stub}, text)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(map[bool]string{false: "ids", true: "text"}[text], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				turn := turn
				m.Mint(&turn)
			}
		})
	}
}
