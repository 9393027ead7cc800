package sweep

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/servebench/servebench/loadgen"
)

// anyFlag takes a few flags, as the tests need them, also with underscores and as
// a prefix.
func anyFlag(name string, value *yaml.Node) (string, []string, error) {
	for _, flag := range []string{"num-prompts", "request-rate", "random-input-len", "max-concurrency", "seed", "header", "base-url"} {
		if len(name) >= 3 && strings.HasPrefix(flag, strings.ReplaceAll(name, "_", "-")) {
			return flag, []string{"--" + flag + "=" + value.Value}, nil
		}
	}
	return "", nil, fmt.Errorf("there is no flag %s", name)
}

// anyLoad takes any command line, for a load of ten seconds on a server of its own.
func anyLoad(_, _ []string) (*Load, error) {
	p := &loadgen.Plan{Workload: loadgen.Workload{NumPrompts: 1e6}, Traffic: loadgen.Traffic{RequestRate: 1}, Limits: loadgen.Limits{Deadline: 10 * time.Second}}
	p.Server.BaseURL = fmt.Sprintf("http://%p", p)
	return &Load{Plan: p}, nil
}

func parse(t *testing.T, text string) *Plan {
	t.Helper()
	p, err := Parse("plan.yaml", strings.NewReader(text), &Flags{Words: anyFlag, Load: anyLoad})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// points are a plan's, as text.
func points(p *Plan) []string {
	var texts []string
	for _, point := range p.Points {
		var words []string
		for _, s := range point.Settings {
			words = append(words, s.Args...)
		}
		texts = append(texts, strings.ReplaceAll(strings.Join(words, " "), "--", ""))
	}
	return texts
}

func TestGrid(t *testing.T) {
	for _, row := range []struct {
		name, grid string
		want       []string
	}{
		{"none", "seed: 1", []string{""}},
		{"the last key changes fastest", "grid: {random-input-len: [8, 9], num-prompts: [1, 2]}", []string{
			"random-input-len=8 num-prompts=1", "random-input-len=8 num-prompts=2",
			"random-input-len=9 num-prompts=1", "random-input-len=9 num-prompts=2"}},
		{"one value", "grid: {request-rate: inf}", []string{"request-rate=inf"}},
		{"zipped", "grid: {random-input-len: [8, 9], zip: {request-rate: [1, 2], num-prompts: [60, 120]}}", []string{
			"random-input-len=8 request-rate=1 num-prompts=60", "random-input-len=8 request-rate=2 num-prompts=120",
			"random-input-len=9 request-rate=1 num-prompts=60", "random-input-len=9 request-rate=2 num-prompts=120"}},
		{"several", "grid: [{random-input-len: 80, num-prompts: [1, 2]}, {random-input-len: 900, num-prompts: [1]}]", []string{
			"random-input-len=80 num-prompts=1", "random-input-len=80 num-prompts=2", "random-input-len=900 num-prompts=1"}},
		{"aliases", "load: {num-prompts: &n 7}\ngrid: {num-prompts: [*n, 8]}", []string{"num-prompts=7", "num-prompts=8"}},
	} {
		if got := points(parse(t, row.grid)); !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

// An arm may be one before it but for what it has of its own.
func TestMappingsAreMerged(t *testing.T) {
	p := parse(t, `
load: &load {num-prompts: 7, request-rate: 1}
arms:
  - &a {name: a, url: "http://h", command: [x], env: {A: b}, stop-timeout: 3}
  - {<<: *a, name: b, env: {A: c}, load: {<<: *load, request-rate: 2}}
  - {<<: [{name: c}, *a], log: l}
grid: {<<: {random-input-len: [8, 9]}, num-prompts: 1}
`)
	same := parse(t, `
load: {num-prompts: 7, request-rate: 1}
arms:
  - {name: a, url: "http://h", command: [x], env: {A: b}, stop-timeout: 3}
  - {name: b, url: "http://h", command: [x], env: {A: c}, stop-timeout: 3, load: {request-rate: 2, num-prompts: 7}}
  - {name: c, url: "http://h", command: [x], env: {A: b}, stop-timeout: 3, log: l}
grid: {num-prompts: 1, random-input-len: [8, 9]}
`)
	if p.digest() != same.digest() {
		t.Errorf("%+v\nwant\n%+v", p, same)
	}
}

func TestBadFilesAreRefusedWithTheirLine(t *testing.T) {
	for _, row := range []struct{ text, says string }{
		{"", "plan.yaml: it is empty"},
		{"- 1", "plan.yaml:1: an experiment must be a mapping"},
		{"seed: 1\nrepeat: 2", "plan.yaml:2: repeat: an experiment has no such key; it has against, arms, between, grid"},
		{"\nrepeats: many", "plan.yaml:2: repeats must be a whole number"},
		{"repeats: 0", "repeats: 0: it must be from 1 to"},
		{"repeats: 50001\ngrid: {num-prompts: [1, 2]}", "plan.yaml:1: its arms, points and repeats make 100002 runs: there may be 100000"},
		{"repeats: 1000000000", "repeats: 1000000000: it must be from 1 to"},
		{"grid:\n  header: [X-Key=a, X-Key=b]", "plan.yaml:2: header: its values are never shown"},
		{"repeats: 2\ngrid:\n  see: [1, 2]", "plan.yaml:3: seed: with repeats each run needs another seed"},
		{"load:\n  see: 3", "plan.yaml:2: seed: put it next to load"},
		{"load:\n  num-prompts: 3\n  num_prompts: 4", "plan.yaml:3: num-prompts: it is there twice"},
		{"grid:\n  num_prompts: [3]\n  num-prompts: [4]", "plan.yaml:3: num-prompts: the grid has it twice"},
		{"grid:\n  num-prompts: [3]\n  zip: {random-input-len: [1], num_prompts: [4]}", "plan.yaml:3: num-prompts: the grid has it twice"},
		{"grid:\n  zip:\n    request_rate: [1]\n    request-rate: [1]", "plan.yaml:4: request-rate: the grid has it twice"},
		{"seed: 1\n---\nseed: 2", "plan.yaml:2: a second document"},
		{"seed: 1\n---\nseed: {", "plan.yaml:3: "},
		{"seed: 1\nload: {base-url: 'http://h:${port}'}", "plan.yaml:1: arm server: ${port} is in no command"},
		{"arms:\n  - name: a\n    url: http://h:${port}\n  - name: b", "plan.yaml:2: arm a: ${port} is in no command or env of its servers"},
		{"arms:\n  - {name: a, url: 'http://h:${port}', command: 'x ${port}'}\n  - {name: b, url: 'http://h:${port}', command: 'x ${port2}'}", "plan.yaml:3: arm b: ${port} is in"},
		{"arms:\n  - {name: a, url: 'http://h', command: x, stop: 'y ${port}'}", "plan.yaml:2: arm a: ${port} is in"},
		{"between: {command: 'x ${port}'}\narms:\n  - {name: a}", "plan.yaml:3: arm a: ${port} is in"},
		{"grid: {base-url: ['http://h:${port}']}\narms:\n  - {name: a}", "plan.yaml:3: arm a: ${port} is in"},
		{"order: shuffled", `"shuffled": it must be abba, random or given`},
		{"seed: -1", "seed: -1: it must not be negative"},
		{"seed: 1\nseed: 2", "plan.yaml:2: mapping key \"seed\" already defined"},
		{"load:\n  num-promts: 3", "plan.yaml:2: there is no flag num-promts"},
		{"load:\n  seed: 3", "plan.yaml:2: seed: put it next to load"},
		{"load:\n  <<: 3", "plan.yaml: "},
		{"load:\n  num-prompts: 1\n  <<: [{num_prompts: 2}]", "plan.yaml:3: num-prompts: it is there twice"},
		{"load: 3", "plan.yaml:1: load must be a mapping"},
		{"grid:\n  num-prompts: []", "plan.yaml:2: num-prompts has no values"},
		{"grid:\n  num-prompts:\n    - 1\n  rate: [2]", "plan.yaml:4: there is no flag rate"},
		{"grid: []", "plan.yaml:1: grid has no values"},
		{"grid:\n  zip:\n    num-prompts: [1, 2]\n    request-rate: [1]", "plan.yaml:4: request-rate has 1 values and num-prompts 2"},
		{"grid:\n  zip: {}", "plan.yaml:2: zip has no values"},
		{"repeats: 2\ngrid:\n  seed: [1, 2]", "plan.yaml:3: seed: with repeats each run needs another seed"},
		{"arms: {}", "plan.yaml:1: arms must be a list"},
		{"arms:\n  - url: http://h", "plan.yaml:2: name: \"\": an arm must have a name"},
		{"arms:\n  - name: \"a\\nb\"", `plan.yaml:2: name: "a\nb": an arm must have a name, on one line`},
		{"arms:\n  - name: " + strings.Repeat("模", 30), "not too long to name its log"},
		{"arms:\n  - {name: a, url: 'http://h', command: x, env: {A=B: c}}", `plan.yaml:2: arm a: env: "A=B" cannot be in an environment`},
		{"arms:\n  - {name: a, url: 'http://h', command: x, env: {A: \"b\\0\"}}", `plan.yaml:2: arm a: env: "A" cannot be in an environment`},
		{"arms:\n  - name: a\n  - name: a", `plan.yaml:3: two arms are named "a"`},
		{"arms:\n  - name: a\n    comand: x", "plan.yaml:3: comand: an arm has no such key; it has command, env"},
		{"arms:\n  - name: a\n    command: []", "plan.yaml:3: a command must be a list of words"},
		{"arms:\n  - name: a\n    command: [x]", "plan.yaml:2: arm a: \"\": url, or else ready, must be"},
		{"arms:\n  - name: a\n    url: http://h\n    env: {A: b}", "plan.yaml:2: arm a: a server must have a command"},
		{"arms:\n  - name: a\n    command: [x]\n    servers: [{command: [y]}]", "arm a: its commands stand in servers"},
		{"arms:\n  - name: a\n    url: http://h\n    servers:\n      - ready: http://h", "plan.yaml:5: arm a: a server must have a command"},
		{"arms:\n  - name: a\n    url: http://h\n    command: [x]\n    ready-timeout: soon", `plan.yaml:5: "soon": it must be seconds`},
		{"between:\n  pause: -1", "plan.yaml:2: \"-1\": it must be seconds"},
		{"between:\n  reset-prefix-cache: 7", "plan.yaml:2: reset-prefix-cache must be true or false"},
		{"until:\n  flag: burstiness", `until: flag: "burstiness": it must be request-rate or max-concurrency`},
		{"until:\n  flag: request-rate\n  from: 1\n  to: 9", "until must have an slo"},
		{"until:\n  flag: request-rate\n  from: 9\n  to: 1\n  slo: {p99-ttft: 1}", "to above from"},
		{"until:\n  flag: max-concurrency\n  from: 1\n  to: 3\n  step: 0.5\n  slo: {p99-ttft: 1}", "must be whole numbers"},
		{"grid:\n  request_rate: [1]\nuntil: {flag: request-rate, from: 1, to: 9, slo: {p99-ttft: 1}}", "plan.yaml:2: request-rate: the grid has it"},
		{"grid:\n  request-rate: [1]\nuntil: {flag: request-rate, from: 1, to: 9, slo: {p99-ttft: 1}}", "plan.yaml:2: request-rate: the grid has it"},
		{"until:\n  slo:\n    ttft: 1", "plan.yaml:3: ttft: a limit must be a statistic and a latency"},
		{"until:\n  slo:\n    p99-ttft: fast", "plan.yaml:3: p99-ttft must be a number of milliseconds"},
		{"until:\n  slo:\n    p99-ttft: .inf", "plan.yaml:3: p99-ttft must be a number of milliseconds"},
		{"until:\n  flag: request-rate\n  from: 1\n  to: 9\n  step: .inf\n  slo: {p99-ttft: 1}", "to above from"},
	} {
		_, err := Parse("plan.yaml", strings.NewReader(row.text), &Flags{Words: anyFlag, Load: anyLoad})
		if err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%q: %v, want it to say %q", row.text, err, row.says)
		}
	}
}

func TestPlanIsKnownByWhatItMeans(t *testing.T) {
	plan := "seed: 1\narms: [{name: a, url: 'http://h'}]\ngrid: {num-prompts: [1, 2]}"
	same := "# as before\ngrid:\n  num-prompts:\n  - 1\n  - 2\n\narms:\n- {url: http://h, name: a}\nseed: 1\nrepeats: 1"
	if a, b := parse(t, plan).digest(), parse(t, same).digest(); a != b {
		t.Errorf("%s and %s for the same plan", a, b)
	}
	for _, other := range []string{"seed: 2", "order: given", "load: {num-prompts: 3}", "between: {pause: 1}"} {
		key, _, _ := strings.Cut(other, ":")
		text := strings.Replace(plan, "seed: 1", other, 1)
		if key != "seed" {
			text = "seed: 1\n" + text
		}
		if parse(t, text).digest() == parse(t, plan).digest() {
			t.Errorf("%s makes no difference", other)
		}
	}
	if a, b := parse(t, plan).digest(), parse(t, plan+"\nrepeats: 2").digest(); a != b {
		t.Errorf("%s and %s with another number of repeats", a, b)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"grid: {zip: {num-prompts: [1]}}", "arms: [{name: a, url: 'http://h', command: x}]", "load: &a {num-prompts: *a}",
		"until: {flag: request-rate, from: 1, to: 9, slo: {p99-ttft: 1}}",
		"arms: [&a {name: a, url: 'http://h', servers: [&s {command: [x, 1e3]}, *s], labels: {x: 0.10}}, {<<: *a, name: b, grid: {see: 1}}]",
		"needs: {programs: [jq], python: [torch], vllm: {from: 0.29}, gpu: {memory: 40}}\nvllm-folders: true\norder: random",
		"between: {command: x, timeout: 10m, pause: 1}\nagainst: {blocks: 'doc.md:2', arm: a, load: {num-prompts: 1}}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse("plan.yaml", strings.NewReader(text), &Flags{Words: anyFlag, Load: anyLoad})
		if err == nil && (len(p.Arms) == 0 || len(p.Points) == 0 || p.Repeats < 1) {
			t.Errorf("an empty plan: %+v", p)
		}
	})
}
