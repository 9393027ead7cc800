package sweep

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestDocumentsSayWhatTheirOptionsSay(t *testing.T) {
	for _, row := range []struct {
		options []Option
		want    string
	}{
		{[]Option{{"base-url", []string{"http://h:1"}, false}, {"num-prompts", []string{"1", "8", "64"}, false}, {"random-input-len", []string{"80", "10000"}, false}, {"repeat", []string{"3"}, false}},
			"repeats: 3\nload:\n  base-url: http://h:1\ngrid:\n  random-input-len: [80, 10000]\n  num-prompts: [1, 8, 64]\n"},
		{[]Option{{"seed", []string{"7"}, false}, {"goodput", []string{"ttft:100", "tpot:20"}, true}, {"extra-body", []string{`{"a": 1}`}, false}},
			"seed: 7\nload:\n  goodput: ['ttft:100', 'tpot:20']\n  extra-body: '{\"a\": 1}'\n"},
		{[]Option{{"seed", []string{"1", "2"}, false}}, "grid:\n  seed: [1, 2]\n"},
		{[]Option{{"base-url", []string{"http://h:1", "https://i/x/"}, false}, {"request-rate", []string{"inf"}, false}, {"ignore-eos", []string{"true"}, false}},
			"load:\n  request-rate: inf\n  ignore-eos: true\narms:\n  - name: h:1\n    url: http://h:1\n  - name: i/x\n    url: https://i/x/\n"},
		// An arm's name has no password and no key of its URL.
		{[]Option{{"base-url", []string{"https://me:<redacted>@h:1", "h/a?b=1"}, false}},
			"arms:\n  - name: h:1\n    url: https://me:<redacted>@h:1\n  - name: h/a\n    url: h/a?b=1\n"},
		{[]Option{{"base-url", []string{"me:s3cret@h:1", "h:2?api-key=s3cret", "http:/me:s3cret@h:1"}, false}},
			"arms:\n  - name: h:1\n    url: me:s3cret@h:1\n  - name: h:2\n    url: h:2?api-key=s3cret\n  - name: URL 3\n    url: http:/me:s3cret@h:1\n"},
		// What YAML would take for something else is quoted.
		{[]Option{{"model", []string{"null"}, false}, {"label", []string{"0x10"}, false}, {"served-model-name", []string{"yes: no"}, false}, {"tokenizer", []string{""}, false}},
			"load:\n  model: \"null\"\n  label: \"0x10\"\n  served-model-name: 'yes: no'\n  tokenizer: \"\"\n"},
	} {
		text, err := Document(row.options)
		if want := "# " + documentHead + "\n" + row.want; err != nil || string(text) != want {
			t.Errorf("%v: %v\n%s\nwant\n%s", row.options, err, text, want)
			continue
		}
	}
	if text, err := Document([]Option{{"repeat", []string{"1", "2"}, false}}); err == nil {
		t.Errorf("%s", text)
	}
}

// The first option with several values changes fastest, as in documents of results.
func TestTheFirstOptionChangesFastest(t *testing.T) {
	text, err := Document([]Option{{"num-prompts", []string{"1", "8"}, false}, {"random-input-len", []string{"80", "10000"}, false}})
	if err != nil {
		t.Fatal(err)
	}
	p := parse(t, string(text))
	var names []string
	for _, c := range p.cells() {
		names = append(names, p.describe(c))
	}
	const want = "random-input-len 80, num-prompts 1; random-input-len 80, num-prompts 8; random-input-len 10000, num-prompts 1; random-input-len 10000, num-prompts 8"
	if got := strings.Join(names, "; "); got != want {
		t.Errorf("%s", got)
	}
}

// What was not read from a file is not said to be on one of its lines.
func TestErrorsOfDocumentsNameNoLine(t *testing.T) {
	for text, want := range map[string]string{
		"repeats: 0":                 "repeats: 0: it must be from 1 to 100000",
		"load: {wrong: 2}":           "there is no flag wrong",
		"a: [":                       "did not find expected node content",
		"load:\n  num-prompts: fail": "server: it fails",
	} {
		flags := &Flags{Words: anyFlag, Load: func(args, varied []string) (*Load, error) {
			if slices.Contains(args, "--num-prompts=fail") {
				return nil, errors.New("it fails")
			}
			return anyLoad(args, varied)
		}}
		if _, err := Parse("", strings.NewReader(text), flags); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
