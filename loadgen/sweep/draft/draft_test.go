package draft

import (
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

// Arms of a command line are the arms of a file.
func TestDocumentsHaveArms(t *testing.T) {
	arm := func(values ...string) Option { return Option{armOption, values, true} }
	for _, row := range []struct {
		options []Option
		want    string
	}{
		{[]Option{{"num-prompts", []string{"1", "8"}, false}, arm("old=vllm serve M, --port ${port}", "new=https://h/x?a=b")},
			"grid:\n  num-prompts: [1, 8]\narms:\n  - name: old\n    url: http://127.0.0.1:${port}\n    command: vllm serve M, --port ${port}\n  - name: new\n    url: https://h/x?a=b\n"},
		{[]Option{arm("1=a: b # c", "null=x\ny")},
			"arms:\n  - name: 1\n    url: http://127.0.0.1:8000\n    command: 'a: b # c'\n  - name: \"null\"\n    url: http://127.0.0.1:8000\n    command: |-\n      x\n      y\n"},
		{[]Option{{"base-url", []string{"http://h:1"}, false}, arm("a=./serve --port ${port2}")},
			"arms:\n  - name: a\n    url: http://h:1\n    command: ./serve --port ${port2}\n"},
	} {
		text, err := Document(row.options)
		if want := "# " + documentHead + "\n" + row.want; err != nil || string(text) != want {
			t.Errorf("%v: %v\n%s\nwant\n%s", row.options, err, text, want)
		}
	}
}
