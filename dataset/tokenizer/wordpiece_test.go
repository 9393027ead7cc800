package tokenizer

import (
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// saved reads one of the small tokenizers of testdata/train.py, without added tokens that text may
// hold, and with another part.
func saved(t testing.TB, name, change string) *pipeline {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return mustParse(t, string(merged(t, data, []byte(change))))
}

// longestFirst tries each part of a word, from the longest on.
func longestFirst(m *wordPiece, text string) (ids []int32) {
	if utf8.RuneCountInString(text) > m.longest {
		return []int32{m.unknown}
	}
	head := ""
	for text != "" {
		end := len(text)
		for ; end > 0; end-- {
			if id, ok := m.vocab.id(head + text[:end]); ok {
				ids = append(ids, id)
				break
			}
		}
		if end == 0 {
			return []int32{m.unknown}
		}
		text, head = text[end:], m.prefix
	}
	return ids
}

func FuzzWordPieceRoundTrip(f *testing.F) {
	f.Add("The server isn't done: 12,345 ms… Größe 服务器 [UNK] don't##x \u0301\x00")
	tok := saved(f, "words", `{"added_tokens":[{"id":0,"content":"[UNK]"}],"decoder":{"type":"WordPiece","prefix":"##","cleanup":false}}`)
	model := tok.model.(*wordPiece)
	f.Fuzz(func(t *testing.T, text string) {
		ids := tok.Encode(text, false)
		if again := tok.Encode(tok.Decode(ids), false); !slices.Equal(again, ids) {
			t.Errorf("%q becomes %v, and its text %q becomes %v", text, ids, tok.Decode(ids), again)
		}
		if n := tok.Count(text, false); n != len(ids) {
			t.Errorf("%q: Count = %d, Encode gives %d", text, n, len(ids))
		}
		for one := range strings.FieldsSeq(valid(text)) {
			if got, want := model.tokens(new(word), one), longestFirst(model, one); !slices.Equal(got, want) {
				t.Errorf("%q becomes %v, want %v", one, got, want)
			}
		}
	})
}

func TestWordsAreUnknownAsAWhole(t *testing.T) {
	tok := mustParse(t, `{"pre_tokenizer":{"type":"WhitespaceSplit"},"model":{"type":"WordPiece","unk_token":"?","continuing_subword_prefix":"##",
"max_input_chars_per_word":4,"vocab":{"?":0,"a":1,"##b":2,"##bé":3,"bé":4,"éééé":5}}}`)
	for text, want := range map[string][]int{
		"ab": {1, 2}, "abé": {1, 3}, "abéb": {1, 3, 2}, "abx": {0}, "b": {0}, "béb a": {4, 2, 1}, "éééé": {5}, "ééééé": {0}, "abbbb": {0}, "": nil,
	} {
		if got := tok.Encode(text, false); !slices.Equal(got, want) {
			t.Errorf("%q becomes %v, want %v", text, got, want)
		}
	}
}
