package pyjson

import (
	"strings"
	"testing"
)

func TestSpelledIsWhatAppendWrites(t *testing.T) {
	for _, text := range []string{
		`null`, `true`, `false`, `{}`, `[]`, `""`, `0`, `-1`, `12345678901234567890`, `1.5`, `1e+16`, `-0.0`, `1e-05`,
		`[1, "a", [], {}, null, {"b": [2]}]`,
		`{"role": "user", "content": [{"type": "text", "text": "a\n\"b\"\\\t\u00e9\ud83d\ude00\u007f\u0000\ufffd 0123456789 long enough for words"}]}`,
		`{"a": {"a": 1}, "b": {"a": 1}}`,
		`"` + strings.Repeat("x", 100) + `"`,
	} {
		if !Spelled([]byte(text)) {
			t.Errorf("%s: not taken as it is", text)
		}
	}
	for _, text := range []string{
		``, ` `, `{`, `[`, `"`, `nul`, `{"a":1}`, `{"a": 1,"b": 2}`, `[1,2]`, `[ 1]`, ` 1`, `1 `, `1 2`, `01`, `-0`, `-`, `+1`, `1.50`, `1E5`, `1e5`, `1.`, `.5`, `1-2`,
		`"é"`, `"\u00E9"`, `"\u0041"`, `"\u000a"`, `"\/"`, `"\ud83d"`, `"\ud83dx"`, `"\ude00\ud83d"`, `"\ud83d\u0041"`, `"\u12"`, `"\x"`, "\"a\tb\"", "\"12345678\x7f\"", "\"1234567\x1f\"", `"\`, `"\u`,
		`{"a": 1, "a": 2}`, `{"a"}`, `{"a": }`, `{1: 2}`, `{"a": 1, }`, `[1, ]`, `[, 1]`, `nullx`, `[1]]`,
	} {
		if Spelled([]byte(text)) {
			t.Errorf("%s: taken as it is", text)
		}
	}
	if deep := strings.Repeat("[", 100_000); Spelled([]byte(deep)) {
		t.Error("an open list is taken as it is")
	}
}

func FuzzSpelled(f *testing.F) {
	f.Add(`{"a": [1, 2.5, "x\u00e9\n", null, true], "b": {"c": -1000000000.0}}`)
	f.Add(`[{"role": "user", "content": "\ud83d\ude00 and \"more\""}]`)
	f.Add(`{"a":1,"a":2}`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := Parse(text)
		if err != nil {
			if Spelled([]byte(text)) {
				t.Fatalf("%q is spelled as JSON, and is none: %v", text, err)
			}
			return
		}
		written := Append(nil, v)
		if Spelled([]byte(text)) && string(written) != text {
			t.Fatalf("%q is taken as it is, and Append writes %q", text, written)
		}
		if again, err := Parse(string(written)); err == nil && !Spelled(written) && small(again, 0) {
			t.Fatalf("%q is what Append writes, and is not taken", written)
		}
	})
}

// small says that no object of v has more members than Spelled looks at, and that it is not deep.
func small(v any, depth int) bool {
	if depth > mostDepth {
		return false
	}
	switch v := v.(type) {
	case Object:
		for _, m := range v {
			if !small(m.Value, depth+1) {
				return false
			}
		}
		return len(v) <= mostKeys
	case []any:
		for _, one := range v {
			if !small(one, depth+1) {
				return false
			}
		}
	}
	return true
}

func BenchmarkSpelled(b *testing.B) {
	text := []byte(`[{"role": "user", "content": "` + strings.Repeat(`The quick brown fox\njumps over the lazy dog, and then it says \"well\". `, 6000) + `"}]`)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if !Spelled(text) {
			b.Fatal("not spelled")
		}
	}
}
