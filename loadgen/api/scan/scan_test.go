package scan

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestAListHasWhatCanBeDecoded(t *testing.T) {
	for raw, want := range map[string][]int{
		`[1, 2, 3]`: {1, 2, 3}, `[1, "x", 3]`: {1, 0, 3}, `[]`: nil, `{"a": 1}`: nil, `null`: nil, `"12"`: nil,
	} {
		list := Few[int]{9}
		if err := json.Unmarshal([]byte(raw), &list); err != nil || !slices.Equal(list, want) {
			t.Errorf("%s: %v, %v; want %v", raw, list, err, want)
		}
	}
}

func TestCountsAreBounded(t *testing.T) {
	for raw, want := range map[string]struct {
		n     int
		there bool
	}{
		"": {0, false}, "null": {0, false}, "7": {7, true}, "-1": {0, false}, "999999999": {999999999, true}, "1000000000": {0, false},
		"1e3": {0, false}, `"7"`: {0, false},
	} {
		var value []byte
		if raw != "" {
			value = []byte(raw)
		}
		if n, there := CountOf(value); n != want.n || there != want.there {
			t.Errorf("%q: %d, %v; want %+v", raw, n, there, want)
		}
	}
}

// What is found for sure is what encoding/json finds.
func FuzzFoundValuesAreDecodedValues(f *testing.F) {
	for _, text := range []string{
		`{"a": 1, "b": "x"}`, `{"b": "\u00e9\n", "a": [1, {"a": 2}]}`, `{"A": 1, "a": 2}`, `{"a": 1, "a": 2}`, `{"\u0061": 3}`, `[1]`, `{}`,
		`{"a": "\ud83d\ude00"}`, `{"a": "\ud83d"}`, `{"b": 12345678901}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		names, found := []string{"a", "b"}, make([][]byte, 2)
		if !json.Valid(data) || !Members(data, names, found) {
			return
		}
		want := make([][]byte, 2)
		if err := Decoded(data, names, want); err != nil {
			t.Fatal(err)
		}
		for i := range names {
			if string(found[i]) != string(want[i]) {
				t.Errorf("%s of %s is %s, want %s", names[i], data, found[i], want[i])
			}
			raw := found[i]
			if raw == nil {
				continue
			}
			var text string
			unquoted, sure := AppendUnquoted(nil, raw)
			if err := json.Unmarshal(raw, &text); sure && (err != nil || string(unquoted) != text) {
				t.Errorf("%s is %q, want %q, %v", raw, unquoted, text, err)
			}
			n, m := 0, 0
			if Count(raw, &n) && !IsNull(raw) && (json.Unmarshal(raw, &m) != nil || n != m) {
				t.Errorf("%s is %d, want %d", raw, n, m)
			}
		}
	})
}
