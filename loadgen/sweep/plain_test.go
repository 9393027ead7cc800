package sweep

import (
	"strings"
	"testing"

	"github.com/servebench/servebench/loadgen/sweep/draft"
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
	arm := func(values ...string) draft.Option { return draft.Option{Flag: "arm", Values: values, Words: true} }
	for _, options := range [][]draft.Option{
		{{Flag: "num-prompts", Values: []string{"1", "8"}}, arm("old=vllm serve M, --port ${port}", "new=https://h/x?a=b")},
		{arm("1=a: b # c", "null=x\ny")},
		{{Flag: "base-url", Values: []string{"http://h:1"}}, arm("a=./serve --port ${port2}")},
	} {
		text, err := draft.Document(options)
		if err != nil {
			t.Errorf("%v: %v", options, err)
			continue
		}
		p := parse(t, string(text))
		for i, a := range p.Arms {
			name, server, err := draft.CutArm(options[len(options)-1].Values[i])
			if err != nil || a.Name != name || draft.IsURL(server) != (a.Servers == nil) || a.Servers != nil && a.Servers[0].Command[2] != server {
				t.Errorf("%v became %+v", options, a)
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
		document, err := draft.Document([]draft.Option{{Flag: "arm", Values: []string{text}, Words: true}})
		if err != nil {
			return
		}
		name, server, _ := draft.CutArm(text)
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
