package pyjson

import (
	"encoding/json"
	"slices"
	"testing"
)

// The second strings were made by json.dumps(json.loads(first)) of Python 3.11.
func TestJSONIsReadAndWrittenAsPythonDoes(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"b": 1, "a": 2.0, "b": 3}`, `{"b": 3, "a": 2.0}`},
		{`[1.0, 1e-3, 1e16, 123456789012345678901234567890, -0, -0.0, 1E400, 1e15, 0.0001, 0.00001, 1.5e300, 5e-324]`,
			`[1.0, 0.001, 1e+16, 123456789012345678901234567890, 0, -0.0, Infinity, 1000000000000000.0, 0.0001, 1e-05, 1.5e+300, 5e-324]`},
		{`"\u00e9\ud83d\ude00 é😀 \u007f \b\f\n\r\t\"\\/ \u0001"`,
			`"\u00e9\ud83d\ude00 \u00e9\ud83d\ude00 \u007f \b\f\n\r\t\"\\/ \u0001"`},
		{`{}`, `{}`},
		{`[]`, `[]`},
		{` null `, `null`},
		{`{"x":{"y":[true,false,null,{"z":""}]}}`, `{"x": {"y": [true, false, null, {"z": ""}]}}`},
		{`{"": 0}`, `{"": 0}`},
		{`9.999999999999999e22`, `1e+23`},
		{`123456.789e3`, `123456789.0`},
	} {
		v, err := Parse(c.in)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if got := string(Append(nil, v)); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestMergeKeepsThePlaceOfAKey(t *testing.T) {
	base := Object{{"model", "m"}, {"max_tokens", 16}, {"stream", true}}
	over := Object{{"top_p", 0.9}, {"max_tokens", 1}}
	got := string(Append(nil, base.Merge(over)))
	if want := `{"model": "m", "max_tokens": 1, "stream": true, "top_p": 0.9}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := string(Append(nil, base)); got != `{"model": "m", "max_tokens": 16, "stream": true}` {
		t.Errorf("merging changed its receiver: %s", got)
	}
}

func TestMalformedJSONIsRefused(t *testing.T) {
	for _, text := range []string{``, ` `, `{`, `{"a"}`, `{"a":1,}`, `[1,]`, `[1 2]`, `{"a":1} x`, `{} {}`, `{a: 1}`, `'a'`, `01`, `]`} {
		if v, err := Parse(text); err == nil {
			t.Errorf("%q gave %v", text, v)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"a": [1, 2.5, "x", null, true], "b": {"c": -1e9}}`)
	f.Add(`{"a":1,"a":2}`)
	f.Add(`[[[]]]`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := Parse(text)
		if valid := json.Valid([]byte(text)); valid != (err == nil) {
			t.Fatalf("encoding/json says valid = %v, we say %v", valid, err)
		}
		if err != nil {
			return
		}
		once := Append(nil, v)
		again, err := Parse(string(once))
		if err != nil {
			return // Infinity, which JSON does not have
		}
		if twice := Append(nil, again); !slices.Equal(once, twice) {
			t.Fatalf("%s became %s", once, twice)
		}
	})
}

func TestPromptsAreWrittenWithoutAllocations(t *testing.T) {
	ids := []int{70_000, 80_000, 90_000}
	b := make([]byte, 0, 1<<10)
	for _, v := range []any{"naïve \"日本語\"\n\U0001f600", ids} {
		if n := testing.AllocsPerRun(10, func() { b = Append(b[:0], v) }); n > 0 {
			t.Errorf("%v takes %v allocations", v, n)
		}
	}
}
