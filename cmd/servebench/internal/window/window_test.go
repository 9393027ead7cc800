package window

import (
	"strings"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/report"
)

func TestWindowIsSteadyOrTwoTimes(t *testing.T) {
	const s = time.Second
	for text, want := range map[string]report.WindowAsk{
		"steady":   {Steady: true},
		"20s:110s": {Window: metrics.Window{From: 20 * s, To: 110 * s}},
		"20:1m":    {Window: metrics.Window{From: 20 * s, To: 60 * s}},
		"1.5:":     {Window: metrics.Window{From: 1500 * time.Millisecond}, Open: true},
		":110s":    {Window: metrics.Window{To: 110 * s}},
	} {
		want.Text = text
		if got, err := Parse(text); err != nil || *got != want {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":       "it must be steady, or two times",
		":":      "it must be steady, or two times",
		"20s":    "it must be steady, or two times",
		"a:b":    "invalid duration: 'a'",
		"-1:5":   "must not be negative",
		"1:2:3":  "invalid duration: '2:3'",
		"20:20s": "it must end after it begins",
		"5:1":    "it must end after it begins",
		":0":     "it must end after it begins",
	} {
		if got, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want %q", text, got, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"steady", "20s:110s", "20s:", ":110s", ":", "1e400:", "nan:inf"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := Parse(text)
		if err != nil {
			return
		}
		if a.From < 0 || !a.Steady && !a.Open && a.From >= a.To {
			t.Errorf("%q: %+v", text, a)
		}
	})
}
