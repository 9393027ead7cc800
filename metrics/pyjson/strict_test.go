package pyjson

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
)

func strictly(t *testing.T, r io.Reader) string {
	t.Helper()
	text, err := io.ReadAll(Strict(r))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What Python's json.dumps writes with allow_nan, its default, can be decoded, and nothing moves.
func TestStrictReadsWhatPythonWrites(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": NaN, "b": [Infinity, -Infinity]}`:                `{"a": { }, "b": [9e999999, -9e999999]}`,
		`{"NaN": "Infinity and -Infinity"}`:                     `{"NaN": "Infinity and -Infinity"}`,
		`{"a": "\" NaN", "b\\": NaN}`:                           `{"a": "\" NaN", "b\\": { }}`,
		"\ufeff[-1, -0.5, null]\r\n":                            "   [-1, -0.5, null]\r\n",
		`NaN`:                                                   `{ }`,
		`"` + strings.Repeat("x", strictBuffer) + `", Infinity`: `"` + strings.Repeat("x", strictBuffer) + `", 9e999999`,
		strings.Repeat(" ", strictBuffer-4) + "-Infinity NaN":   strings.Repeat(" ", strictBuffer-4) + "-9e999999 { }",
		"Na": "Na", "-": "-", "": "", "I": "I", "\ufeff": "   ",
	} {
		for name, r := range map[string]io.Reader{
			"whole": strings.NewReader(text), "by bytes": iotest.OneByteReader(strings.NewReader(text)),
		} {
			if got := strictly(t, r); got != want {
				t.Errorf("%.50q %s: %.50q, not %.50q", text, name, got, want)
			}
		}
		if got, err := io.ReadAll(iotest.OneByteReader(Strict(strings.NewReader(text)))); string(got) != want || err != nil {
			t.Errorf("%.50q into single bytes: %.50q, %v", text, got, err)
		}
	}
}

func TestStrictInfinityIsInfinite(t *testing.T) {
	for text, want := range map[string]float64{"Infinity": math.Inf(1), "-Infinity": math.Inf(-1)} {
		if f, _ := strconv.ParseFloat(strictly(t, strings.NewReader(text)), 64); f != want {
			t.Errorf("%s is %v", text, f)
		}
	}
}

func TestStrictPassesErrorsOn(t *testing.T) {
	if _, err := io.ReadAll(Strict(iotest.ErrReader(io.ErrUnexpectedEOF))); err != io.ErrUnexpectedEOF {
		t.Error(err)
	}
}

// FuzzStrict holds that valid JSON stays as it is, and that no byte moves.
func FuzzStrict(f *testing.F) {
	f.Add([]byte(`{"a": [NaN, -Infinity, "\u00e9\"", -1e-5]}`))
	f.Add([]byte("\ufeff\"\\"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got := strictly(t, bytes.NewReader(text))
		if len(got) != len(text) || json.Valid(text) && got != string(text) {
			t.Errorf("%q became %q", text, got)
		}
		if again := strictly(t, iotest.OneByteReader(bytes.NewReader(text))); again != got {
			t.Errorf("%q by bytes became %q, whole %q", text, again, got)
		}
	})
}

// Files that begin with a byte order mark may be joined: the mark is then between values.
func TestMarksBetweenValuesAreSpace(t *testing.T) {
	const joined = "\ufeff{\"a\": \"\ufeff\"}\n\ufeff{\"a\": NaN}\ufeff"
	if got := string(StrictText([]byte(joined))); got != "   {\"a\": \"\ufeff\"}\n   {\"a\": { }}   " {
		t.Errorf("%q", got)
	}
}
