package sweep

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/servebench/servebench/loadgen"
)

func TestTailIsReadable(t *testing.T) {
	for printed, want := range map[string]string{
		"\x1b[1;36m(EngineCore pid=7)\x1b[0;0m out of memory\n": "(EngineCore pid=7) out of memory",
		"loading:   0%|  |\rloading: 100%|##|\r\ndone":          "loading:   0%|  |\n  loading: 100%|##|\n  done",
		"\x1b]0;title\x07a\x00\x07b\tc\x1b[2J":                  "ab\tc",
		"caf\xe9 \x9b31m模型":                                     "caf\uFFFD \uFFFD31m模型",
	} {
		p := &process{log: filepath.Join(t.TempDir(), "log")}
		if err := os.WriteFile(p.log, []byte(printed), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, got, _ := strings.Cut(p.tail(), " ends:\n  "); got != want {
			t.Errorf("%q: %q, want %q", printed, got, want)
		}
	}
}

// However much is printed, the end is short, and of whole letters.
func TestTailOfMegabytesIsShort(t *testing.T) {
	p := &process{log: filepath.Join(t.TempDir(), "log")}
	if err := os.WriteFile(p.log, []byte(strings.Repeat("模型", 1<<19)+"!"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := p.tail(); len(got) > tailBytes+len(p.log)+100 || !utf8.ValidString(got) || !strings.HasSuffix(got, "模型!") {
		t.Errorf("%d bytes, from %.200q", len(got), got)
	}
}

// Of the servers of an arm, a target has the one that is ready at its address.
func TestATargetHasTheEnvironmentOfItsServer(t *testing.T) {
	j := &Job{servers: []*process{
		{server: &Server{Ready: "http://127.0.0.1:8100/v1/models", Env: map[string]string{"B": "2", "A": "1"}}},
		{server: &Server{Ready: "http://127.0.0.1:8101/v1/models", Env: map[string]string{"A": "other"}}},
	}}
	for url, want := range map[string][]string{"http://127.0.0.1:8100": {"A=1", "B=2"}, "http://127.0.0.1:8102": nil, "::": nil} {
		if got := j.environmentOf(&loadgen.Plan{Server: loadgen.Server{BaseURL: url}}); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}
