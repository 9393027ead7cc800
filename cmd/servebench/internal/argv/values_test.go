package argv

import (
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
)

// The values were printed by int() and float() of Python 3.11.
func TestNumbersAreReadAsPythonReadsThem(t *testing.T) {
	for text, want := range map[string]string{
		"5": "5", " 5 ": "5", "+5": "5", "-5": "-5", "1_000": "1000", "00012": "12", "-0": "0", "9223372036854775807": "9223372036854775807",
		"1__0": "error", "_1": "error", "1_": "error", "5.0": "error", "1e3": "error", "0x10": "error", "": "error",
	} {
		n, err := parseInt64(text)
		if got := string(pyjson.Append(nil, int(n))); err == nil && got != want || err != nil && want != "error" {
			t.Errorf("int(%q): got %s, %v, want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"5": "5.0", "1.": "1.0", ".5": "0.5", "-.5": "-0.5", "1e3": "1000.0", "1E+3": "1000.0", "1_0.0_1": "10.01",
		"inf": "inf", "-Infinity": "-inf", "NaN": "nan", "-nan": "nan", "1e400": "inf", "-1e400": "-inf", "5e-324": "5e-324", "1e-400": "0.0",
		"0x1p-2": "error", "1e": "error", ".": "error", "": "error", "1__0": "error", "1_.0": "error", "1._0": "error", "infinit": "error",
	} {
		f, err := ParseFloat(text)
		if got := metrics.FormatFloat(f); err == nil && got != want || err != nil && want != "error" {
			t.Errorf("float(%q): got %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestTimeLimitsAreSecondsOrDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30": 30 * time.Second, "30s": 30 * time.Second, "5m": 5 * time.Minute, "0.25": 250 * time.Millisecond,
		"1e3": 1000 * time.Second, "0": 0, "inf": 0, "1h30m": 90 * time.Minute,
	} {
		if got, err := ParseSeconds(text); err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "-5s", "nan", "soon", "5 m", "-inf"} {
		if got, err := ParseSeconds(text); err == nil {
			t.Errorf("%q gave %v", text, got)
		}
	}
}

// The wanted texts were printed by repr of Python 3.11.
func TestQuotedIsPythonsRepr(t *testing.T) {
	for text, want := range map[string]string{
		`a`: `'a'`, `it's`: `"it's"`, `say "x"`: `'say "x"'`, `it's "x"`: `'it\'s "x"'`, "a\nb": `'a\nb'`, `é`: `'é'`, `\`: `'\\'`,
	} {
		if got := pyjson.Quote(text); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
