package tokenizer

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	llama3 = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	o200k  = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	spaces = `\t-\r \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}`
)

func mustCompile(t testing.TB, source string) *pattern {
	t.Helper()
	p, err := compile(source)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// split gives the words that p cuts text into.
func (p *pattern) split(text string) (words []string) {
	finder(p.find).matches(text, func(part string, _ bool) { words = append(words, part) })
	return words
}

func TestPatternMatchesAsBacktrackingDoes(t *testing.T) {
	for _, row := range []struct {
		source, text string
		want         []string
	}{
		{gpt2, "I've  GOT'S x12y\n\n z  ", []string{"I", "'ve", " ", " GOT", "'", "S", " x", "12", "y", "\n\n", " z", "  "}},
		{llama3, "I'VE 12345\r\n\n  a'ſ", []string{"I", "'VE", " ", "123", "45", "\r\n\n", " ", " a", "'ſ"}},
		{llama3, " \u00a0x \u2003\u3000", []string{" ", "\u00a0x", " \u2003\u3000"}},
		{o200k, "fooBarBAZ's a/b//\nÀé中文x", []string{"foo", "Bar", "BAZ's", " a", "/b", "//\n", "Àé中文x"}},
		{`a{2}b?`, "aaabaab", []string{"aa", "ab", "aab"}},
		{` {2,}`, "a b  c     d ", []string{"a b", "  ", "c", "     ", "d "}},
		{`[a\-\]]+|\.`, "x-a].y", []string{"x", "-a]", ".", "y"}},
		{`(?:ab|a)c`, "abcac", []string{"abc", "ac"}},
		{`\s*[\r\n]+`, "a  \n  b", []string{"a", "  \n", "  b"}},
	} {
		if got := mustCompile(t, row.source).split(row.text); !slices.Equal(got, row.want) {
			t.Errorf("%s cuts %q into %q, want %q", row.source, row.text, got, row.want)
		}
	}
}

func TestUnknownPatternsAreRefusedWithTheirText(t *testing.T) {
	for source, why := range map[string]string{
		`\w+`:          `the escape \w`,
		`\p{Han}+`:     `the class \p{Han}`,
		`\pL`:          `the class \p{L}`,
		`[\p{L}&&[a]]`: `the class before "&&[a]]"`,
		`[a[b]]`:       `"[" here`,
		`[a`:           `the class before ""`,
		`[z-a]`:        `a range before "]"`,
		`a++`:          `a quantifier before "+"`,
		`a+?`:          `a quantifier before "?"`,
		`a{,2}`:        `the count {,2}`,
		`a{}`:          `the count {}`,
		`(?:a)+`:       `a repeated group`,
		`(?:a`:         `a group is not closed`,
		`(?=a)`:        `"(" here`,
		`a(?!bc)`:      `a look-ahead for more than one class`,
		`^a`:           `"^" here`,
		`.`:            `"." here`,
		`a)`:           `an unmatched )`,
		`a*`:           `it matches the empty text`,
		``:             `it matches the empty text`,
		`(?i:é)`:       `"é" without regard to case`,
		`\`:            `the escape \`,
		`(?i:[a-z])`:   `"[a-z]" without regard to case`,
	} {
		_, err := compile(source)
		if err == nil || !strings.HasSuffix(err.Error(), " is not supported yet: "+why) {
			t.Errorf("%q: %v, want %s", source, err, why)
		}
	}
}

// oracle makes of a pattern one for package regexp, which knows neither \s of
// Unicode nor look-aheads. What \s+ takes is then in the group.
func oracle(source string) *regexp.Regexp {
	source = strings.TrimSuffix(source, `|\s+(?!\S)|\s+`)
	source = strings.ReplaceAll(source, `[^\s`, `[^`+spaces)
	source = strings.ReplaceAll(source, `\s`, `[`+spaces+`]`)
	return regexp.MustCompile(`^(?:` + source + `|([` + spaces + `]+))`)
}

func FuzzPatternCutsAsRegexpDoes(f *testing.F) {
	f.Add("I've  GOT'S x12y\n\n z  \u00a0\u3000中文\u0301 ǅ'ſ/")
	sources := []string{gpt2, llama3, o200k}
	patterns, oracles := make([]*pattern, len(sources)), make([]*regexp.Regexp, len(sources))
	for i, source := range sources {
		patterns[i], oracles[i] = mustCompile(f, source), oracle(source)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = valid(text)
		for i, re := range oracles {
			rest := text
			for _, word := range patterns[i].split(text) {
				at := re.FindStringSubmatchIndex(rest)
				want := rest[:at[1]]
				if _, last := utf8.DecodeLastRuneInString(want); at[2] >= 0 && at[1] < len(rest) && last < len(want) {
					want = want[:len(want)-last] // the look-ahead leaves one space to the word
				}
				if word != want {
					t.Fatalf("%s cuts %q off %q, want %q", sources[i], word, rest, want)
				}
				rest = rest[len(word):]
			}
		}
	})
}
