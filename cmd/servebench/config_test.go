package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics/pyjson"
)

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "bench.yaml")
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestCommandLineWinsOverConfigFile(t *testing.T) {
	name := writeConfig(t, `
# a run of last week
num-prompts: 10
request_rate: 1e1
seed: 1_000
label: yes
save-result: yes
save-detailed: false
goodput: [ttft:100, "e2el:400"]
header:
  - A=1, 2
metadata: []
extra-body:
  n: 0x10
  stop: [é, null, 1.0, true]
  deep: {a: &a {b: c}, d: *a}
`)
	for _, args := range [][]string{
		{"--config", name, "--num-prompts", "20", "--goodput", "tpot:5"},
		{"--num-prompts=20", "--goodput", "tpot:5", "--config=" + name},
		{"--num-prompts", "20", "--conf", name, "--goodput", "tpot:5"},
	} {
		o, err := parseRun(args)
		if err != nil {
			t.Fatal(err)
		}
		if o.Plan.Workload.NumPrompts != 20 || o.Plan.Traffic.RequestRate != 10 || o.Plan.Workload.Seed != 1000 || o.Plan.Report.Label != "yes" ||
			!o.Results.Save || o.Results.SaveDetailed || len(o.Plan.Report.Goodput) != 1 || o.Plan.Server.Headers[0].Value != "1, 2" {
			t.Errorf("%v gave %+v", args, o)
		}
		const body = `{"n": 16, "stop": ["\u00e9", null, 1.0, true], "deep": {"a": {"b": "c"}, "d": {"b": "c"}}}`
		if got := string(pyjson.Append(nil, o.Plan.Sampling.ExtraBody)); got != body {
			t.Errorf("extra body %s, want %s", got, body)
		}
	}
}

func TestDottedKeysOfConfigFileAddUp(t *testing.T) {
	o := mustParse(t, "--config "+writeConfig(t, "extra-body.top_p: 0.5\nextra-body.a.b: 1\n"))
	if got := string(pyjson.Append(nil, o.Plan.Sampling.ExtraBody)); got != `{"top_p": 0.5, "a": {"b": 1}}` {
		t.Errorf("extra body %s", got)
	}
}

func TestConfigFileErrorsNameTheLine(t *testing.T) {
	for text, want := range map[string]string{
		"seed: 1\nnum-prompts: x\n":  "bench.yaml:2: argument --num-prompts: invalid int value: 'x'",
		"seed: 1\n\nnum-promts: 5\n": "bench.yaml:3: unknown flag --num-promts: did you mean --num-prompts?",
		"save-result: 5\n":           "bench.yaml:1: save-result must be true or false, not '5'",
		"label:\n":                   "bench.yaml:1: label has no value",
		"seed: [1, 2]\n":             "bench.yaml:1: unrecognized arguments: 2",
		"seed: 1\nlabel: [\n":        "bench.yaml:",
		"seed: 1\nlabel: {a\n":       "bench.yaml:",
		"seed: 1\nseed: 2\n":         "bench.yaml:2: mapping key \"seed\" already defined at line 1",
		"- seed\n":                   "bench.yaml:1: it must be a mapping from flag names to values",
		"config: x.yaml\n":           "bench.yaml:1: a configuration file cannot name another one",
		"conf: x.yaml\n":             "bench.yaml:1: a configuration file cannot name another one",
		"extra-body: &x {a: *x}\n":   "anchor 'x' value contains itself",
	} {
		_, err := parseRun([]string{"--config", writeConfig(t, text)})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q\n got %v\nwant %s", text, err, want)
		}
	}
	if _, err := parseRun([]string{"--config", writeConfig(t, "")}); err != nil {
		t.Errorf("an empty file: %v", err)
	}
}
