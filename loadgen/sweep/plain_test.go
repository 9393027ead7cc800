package sweep

import (
	"strings"
	"testing"
)

// A text for the shell that starts one program is read as its words.
func TestPlainTextsAreWords(t *testing.T) {
	for text, want := range map[string]string{
		"servebench sim --port ${port}":                                "servebench|sim|--port|${port}",
		"exec /bin/servebench sim --port=${port2} --step-base \"7ms\"": "/bin/servebench|sim|--port=${port2}|--step-base|7ms",
		"X='a b' vllm serve 'my model' \\\n  --port 8000":              "vllm|serve|my model|--port|8000",
		"servebench sim; rm x":                                         "",
		"sleep 1 && servebench sim":                                    "",
		"servebench sim >log":                                          "",
		"servebench sim &":                                             "",
		"servebench sim --port $PORT":                                  "",
		"servebench sim --port $(cat port)":                            "",
		"servebench sim --port `cat port`":                             "",
		"if true; then servebench sim; fi":                             "",
		"servebench sim --port ${port:-8000}":                          "servebench|sim|--port|${port}",
		"servebench 'sim":                                              "",
		"! servebench sim":                                             "",
	} {
		s := Server{Command: []string{"sh", "-c", text}}
		if got := strings.Join(s.words(), "|"); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if s := (Server{Command: []string{"servebench", "sim", "$X"}}); !s.simulated() || len(s.words()) != 3 {
		t.Errorf("a list of words: %q", s.words())
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
			continue
		}
		p := parse(t, string(text))
		for i, a := range p.Arms {
			name, server, err := CutArm(row.options[len(row.options)-1].Values[i])
			if err != nil || a.Name != name || IsURL(server) != (a.Servers == nil) || a.Servers != nil && a.Servers[0].Command[2] != server {
				t.Errorf("%v became %+v", row.options, a)
			}
		}
	}
}

// FuzzArm reads an arm of a command line as the file that says the same.
func FuzzArm(f *testing.F) {
	for _, text := range []string{"old=vllm serve --port ${port}", "a=http://h:1", "x=y\nz: {", "=", "a/b=c", "1=true", "a=- # 'x\" \\"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		document, err := Document([]Option{{armOption, []string{text}, true}})
		if err != nil {
			return
		}
		name, server, _ := CutArm(text)
		p, err := Parse("", strings.NewReader(string(document)), &Flags{Words: anyFlag, Load: anyLoad})
		if err != nil {
			return // a URL that is none, or a name of control characters
		}
		if a := p.Arms[0]; a.Name != name || a.Servers != nil && a.Servers[0].Command[2] != server {
			t.Errorf("%q became %+v by\n%s", text, a, document)
		}
		(&p.Arms[0]).whyNotSimulated()
	})
}
