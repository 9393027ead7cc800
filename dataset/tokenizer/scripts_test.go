package tokenizer

import (
	"slices"
	"testing"
)

// From tokenizers 0.23.3: UnicodeScripts().pre_tokenize_str(text). U+20C0 came with Unicode 14, U+20BF and U+0560 with
// 10 and 11, U+1C90 with 11, U+9FFF with 14; U+9FD5 is older.
func TestRunesThatAreTooNewHaveNoScript(t *testing.T) {
	for text, want := range map[string][]string{
		"a\u20c0b": {"a\u20c0b"}, "\u20c0a": {"a"}, "я\u1c90!\u0560": {"я\u1c90", "!\u0560"}, "\u9fff漢": {"漢"},
		"漢\u9fd5\u9fff。": {"漢\u9fd5\u9fff", "。"}, "a\u20bfя": {"a\u20bf", "я"},
	} {
		var got []string
		byScript(text, 0, func(word string, _ int) { got = append(got, word) })
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
