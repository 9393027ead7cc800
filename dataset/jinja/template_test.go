package jinja

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var hi = []Message{{Role: "user", Content: "hi"}}

// folder writes the given files to a new folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a [model]*")
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestOpenTakesTheTemplateThatTransformersTakes(t *testing.T) {
	const named = `{"chat_template": [{"name": "rag", "template": "{{"}, {"name": "default", "template": "D"}, {"name": "tool_use", "template": "T"}]}`
	tests := []struct {
		name   string
		files  map[string]string
		kwargs string
		want   string
	}{
		{"a text", map[string]string{"tokenizer_config.json": `{"chat_template": "A"}`}, "{}", "A"},
		{"the default of several", map[string]string{"tokenizer_config.json": named}, "{}", "D"},
		{"that for tools", map[string]string{"tokenizer_config.json": named}, `{"tools": []}`, "T"},
		{"a file before the configuration", map[string]string{"tokenizer_config.json": `{"chat_template": "A"}`, "chat_template.jinja": "F\n"}, "{}", "F"},
		{"further files", map[string]string{"chat_template.jinja": "F", "additional_chat_templates/tool_use.jinja": "G"}, `{"tools": []}`, "G"},
		{"that of the processor last", map[string]string{"tokenizer_config.json": `{"chat_template": null}`, "chat_template.json": `{"chat_template": "P"}`}, "{}", "P"},
		{"tokens of all spellings", map[string]string{
			"tokenizer_config.json":   `{"chat_template": "{{ bos_token }}|{{ eos_token }}|{{ pad_token }}|{{ unk_token }}|{{ additional_special_tokens }}", "bos_token": {"content": "<s>", "lstrip": false}, "eos_token": "</s>", "unk_token": null, "additional_special_tokens": ["a", {"content": "b"}]}`,
			"special_tokens_map.json": `{"bos_token": "no", "pad_token": {"content": "<pad>"}, "unk_token": "no"}`,
		}, "{}", "<s>|</s>|<pad>||['a', 'b']"},
		{"arguments before tokens", map[string]string{"tokenizer_config.json": `{"chat_template": "{{ bos_token }}", "bos_token": "<s>"}`}, `{"bos_token": "x"}`, "x"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			template, err := Open(folder(t, test.files))
			if err != nil {
				t.Fatal(err)
			}
			kwargs, err := ParseKwargs(test.kwargs)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := template.Render(hi, kwargs); err != nil || got != test.want {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	tests := []struct{ file, text, want string }{
		{"tokenizer_config.json", `{}`, "has no chat template"},
		{"tokenizer_config.json", `{`, "reading"},
		{"tokenizer_config.json", `{"chat_template": 3}`, "neither a text nor a list"},
		{"tokenizer_config.json", `{"chat_template": [{"name": "b", "template": ""}, {"name": "a", "template": ""}]}`, "none is the default: a, b"},
		{"tokenizer_config.json", `{"chat_template": "", "bos_token": 3}`, "bos_token"},
		{"chat_template.jinja", "a\n{% if %}", "line 2"},
		{"chat_template.jinja", "\n\n{% import 'x' as y %}", `line 3: the tag "import" is not supported`},
	}
	for _, test := range tests {
		_, err := Open(folder(t, map[string]string{test.file: test.text}))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %s: %v, want %q", test.file, test.text, err, test.want)
		}
	}
}

func TestRenderNamesTheLine(t *testing.T) {
	tests := []struct{ source, want string }{
		{"a\n{{ messages|wordwrap }}", "line 2: the filter wordwrap is not supported"},
		{"\n{% if true %}\n{{ raise_exception('no ' ~ 3) }}\n{% endif %}", "line 3: the template refuses: no 3"},
		{"{{ messages.nosuch.more }}", "line 1: 'list' has no attribute or item 'nosuch'"},
		{"{{ strftime_now('%Y') }}", "there is no clock"},
		{"{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "too much work"},
		{"{% set ns = namespace(s='x') %}{% for a in range(99) %}{% set ns.s = ns.s + ns.s %}{% endfor %}", "too much work"},
		{"{% set ns = namespace(l=[1], m=[1]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% set ns.m = [ns.m, ns.m] %}{% endfor %}{{ ns.l == ns.m }}", "too much work"},
		{"{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l }}", "too long to print"},
		{"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "too deeply"},
		{"{{ " + strings.Repeat("not ", 10_000) + "1 }}", "too deeply"},
	}
	for _, test := range tests {
		template, err := Parse(test.source, nil)
		if err == nil {
			_, err = template.Render(hi, nil)
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.60q: %v, want %q", test.source, err, test.want)
		}
	}
}

func TestParseKwargsRefusesWhatIsNoVariable(t *testing.T) {
	for _, text := range []string{`[]`, `{`, `{} x`, `{"messages": []}`, `{"add_generation_prompt": false}`, `{"n": 1e999}`, `{"n": 99999999999999999999}`} {
		if _, err := ParseKwargs(text); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	source := "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content | trim + '<|im_end|>' + '\n' }}{% endfor %}{{ '<|im_start|>assistant\n' }}"
	template, err := Parse(source, nil)
	if err != nil {
		b.Fatal(err)
	}
	messages := []Message{{"user", strings.Repeat("word ", 8000)}}
	b.SetBytes(int64(len(messages[0].Content)))
	for b.Loop() {
		if _, err := template.Render(messages, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func TestRenderJSONTakesMessagesWithMoreThanText(t *testing.T) {
	template, err := Parse("{% for m in messages %}{{ m.role }}:{{ m.content }}{{ m.tool_calls[0].id if m.tool_calls }};{% endfor %}{{ tools|length }}", nil)
	if err != nil {
		t.Fatal(err)
	}
	kwargs, err := ParseKwargs(`{"tools": [{}, {}]}`)
	if err != nil {
		t.Fatal(err)
	}
	text, err := template.RenderJSON([]byte(`[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", "tool_calls": [{"id": "c"}]}]`), kwargs)
	if want := "user:a;assistant:bc;2"; err != nil || text != want {
		t.Errorf("%s, %v; want %s", text, err, want)
	}
	for _, wrong := range []string{"", "[", "[]", "{}"} {
		if _, err := template.RenderJSON([]byte(wrong), nil); err == nil {
			t.Errorf("no error for %q", wrong)
		}
	}
}
