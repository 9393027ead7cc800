package words

import (
	"slices"
	"testing"

	"github.com/servebench/servebench/dataset/tokenizer"
	"github.com/servebench/servebench/loadgen/sim/speed"
)

// What the simulator says is tokens again when it comes back, whatever the tokenizer.
func TestTextEncodesToTheTokensThatItWasMadeOf(t *testing.T) {
	for _, name := range []string{"stub-500", "../../../testdata/golden/tok-plain", "../../../testdata/golden/tok-bos"} {
		tokens, err := tokenizer.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		vocabulary := New(tokens)
		for _, asked := range []Asked{
			{MaxTokens: 300, IgnoreEOS: true},
			{MaxTokens: 3000, Lengths: new(speed.Lengths), Mean: 128},
		} {
			asked.Prompt, asked.Chat = tokens.Encode("tok5", false), true
			text := vocabulary.Text(asked)
			ids := slices.Clone(text.IDs(-1))
			if text.Stops() {
				ids = ids[:len(ids)-1]
			}
			if got := tokens.Encode(string(text.Append(nil, text.Left())), false); !slices.Equal(got, ids) {
				t.Errorf("%s: %v became %v", name, ids, got)
			}
		}
	}
}
