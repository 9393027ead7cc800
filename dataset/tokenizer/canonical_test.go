package tokenizer

import (
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
)

func TestLongRunsOfMarksAreNotBrokenUp(t *testing.T) {
	acutes, belows := strings.Repeat("\u0301", 40), strings.Repeat("\u0323", 40)
	for text, want := range map[string]string{
		"e" + acutes + belows:          "\u1eb9" + belows[2:] + acutes,
		"\u0344" + acutes:              "\u0308\u0301" + acutes,
		"ᄀ\u1161\u11a8" + belows + "Å": "각" + belows + "Å",
		"a\u0305" + acutes:             "a\u0305" + acutes,
		"x" + acutes + "A\u030a\u212b": "x" + acutes + "ÅÅ",
		"\u0958" + belows + "\u0915":   "क\u093c" + belows + "\u0915",
		"a\u0327\u0301\u0327" + acutes: "á\u0327\u0327" + acutes,
	} {
		if got := canonical(norm.NFC)(text); got != want {
			t.Errorf("%+q became %+q, want %+q", text, got, want)
		}
	}
	if got, want := canonical(norm.NFKC)("ﬁ"+acutes), "fi\u0301"+acutes[2:]; got != strings.Replace(want, "i\u0301", "í", 1) {
		t.Errorf("NFKC gives %+q", got)
	}
}

// Where package norm does not break up runs, the long way gives what it gives.
func FuzzComposeDoesWhatNormDoes(f *testing.F) {
	f.Add("A\u030a\u0323 ᄀ\u1161\u11a8 \u0344\u0958 ﬁ각\u11a7")
	f.Fuzz(func(t *testing.T, text string) {
		text = valid(text)
		for _, form := range []norm.Form{norm.NFC, norm.NFKC} {
			if longRun(form, text) {
				continue
			}
			if got, want := string(composed(decomposed(form, text))), form.String(text); got != want {
				t.Errorf("%+q became %+q, want %+q", text, got, want)
			}
		}
		for _, form := range []norm.Form{norm.NFD, norm.NFKD} {
			if got, want := string(decomposed(form, text)), form.String(text); !longRun(form, text) && got != want {
				t.Errorf("%+q became %+q, want %+q", text, got, want)
			}
		}
	})
}
