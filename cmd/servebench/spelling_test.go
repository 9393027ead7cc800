package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/servebench/servebench/cmd/servebench/internal/advice"
	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/naming"
)

// settingNames are the constants of package naming.
func settingNames(t *testing.T) (names []naming.Name) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../loadgen/naming/naming.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.ValueSpec); ok && len(s.Values) == 1 {
			text, err := strconv.Unquote(s.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, naming.Name(text))
		}
		return true
	})
	return names
}

// setting is the field of a plan that has a name.
func setting(t *testing.T, p *loadgen.Plan, name naming.Name) any {
	v := reflect.ValueOf(p).Elem()
	for field := range strings.SplitSeq(string(name), ".") {
		if v = v.FieldByName(field); !v.IsValid() {
			t.Fatalf("%s: a Plan has no such field", name)
		}
	}
	return v.Interface()
}

// Each name that messages use is a field of a Plan, and has a flag that sets this field.
func TestEachSettingIsSpelledAsTheFlagThatSetsIt(t *testing.T) {
	const sharegpt, trace, rate = "--dataset-name sharegpt --dataset-path x", "--dataset-name mooncake --dataset-path x", "--request-rate 1"
	values := map[naming.Name]struct{ value, needs string }{
		naming.Abort:   {"3", ""},
		naming.Backend: {"vllm", ""}, naming.Endpoint: {"/v2/completions", ""}, naming.Model: {"m", ""}, naming.Tokenizer: {"t", ""},
		naming.SkipTokenizer: {"", "--prompt-token-ids"},
		naming.Dataset:       {"sessions", ""}, naming.Path: {"y", sharegpt}, naming.NumPrompts: {"5", ""}, naming.TokenIDs: {"", ""},
		naming.VocabSize: {"7", ""}, naming.SkipTemplate: {"", ""}, naming.Adapters: {"a", ""}, naming.From: {"1", trace}, naming.To: {"2", trace},
		naming.GapCap: {"1", trace}, naming.MaxConcurrency: {"9", ""}, naming.Curve: {"steps:0=1,9=0", ""}, naming.Duration: {"9", rate},
		naming.WarmUp: {"1", rate}, naming.Warm: {"", ""}, naming.ProbeRate: {"1", ""}, naming.SleepFirst: {"1", ""}, naming.FirstByte: {"1", ""},
		naming.ExtraBody: {`{"a":1}`, ""}, naming.Deadline: {"1", ""}, naming.ServerMetrics: {"", ""}, naming.GPU: {"nvidia-smi", ""}, naming.Pool: {"p", ""},
		naming.Shard: {"0/2", ""}, naming.StartAt: {"1763777700", ""}, naming.RunID: {"r", ""},
	}
	names := settingNames(t)
	for _, name := range names {
		row, ok := values[name]
		if !ok {
			t.Errorf("%s: the test has no value for it", name)
			continue
		}
		flag := advice.Spelling[name]
		without, with := mustParse(t, row.needs), mustParse(t, row.needs+" "+flag+" "+row.value)
		if reflect.DeepEqual(setting(t, &without.Plan, name), setting(t, &with.Plan, name)) {
			t.Errorf("%q does not set %s", flag, name)
		}
		if emptyForm().flags.Lookup(strings.TrimPrefix(flag, "--")) == nil {
			t.Errorf("%s: run has no flag %q", name, flag)
		}
	}
	for name := range advice.Spelling {
		if !slices.Contains(names, name) {
			t.Errorf("%s is spelled, and no message can name it", name)
		}
	}
}

// All targets of a command line spell settings as flags.
func TestEachTargetSpellsSettingsAsFlags(t *testing.T) {
	o := mustParse(t, "--target a=http://a --target b=http://b,num-prompts=3")
	for _, each := range append([]*options{o}, o.Targets...) {
		if got := each.plan().Program.Spelling.Spell(naming.NumPrompts); got != "--num-prompts" {
			t.Errorf("target %q: %s", each.Plan.Target, got)
		}
	}
}
