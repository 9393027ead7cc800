package main

import (
	"bytes"
	goflag "flag"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

var update = goflag.Bool("update", false, "rewrite the golden files")

// printedAt is when the tests print.
func printedAt() time.Time { return time.Date(2026, 11, 22, 2, 10, 40, 300e6, time.UTC) }

// printShards is what servebench shard prints.
func printShards(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := newShardCommand(printedAt)
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(io.Discard)
	err := cmd.Execute()
	return out.String(), err
}

func TestShardsArePrintedForSchedulers(t *testing.T) {
	run := []string{"--", "run", "--base-url", "http://gpu1:8000", "--num-prompts", "1000", "--goodput", "ttft:100", "e2el:2000",
		"--extra-body", `{"stop": "it's"}`, "--metadata", "price=$(COST)", "shown=yes"}
	for _, c := range []struct {
		golden string
		args   []string
	}{
		{"slurm.sh", []string{"slurm"}},
		{"slurm-options.sh", []string{"slurm", "--shards", "64", "--start-in", "90.5s", "--name", "night-7",
			"--sbatch", "--nodes=4", "--sbatch", `--comment="a b"`}},
		{"kubernetes.yaml", []string{"kubernetes", "--image", "registry/servebench:1"}},
		{"kubernetes-options.yaml", []string{"kubernetes", "--image", "registry:5000/servebench@sha256:0123", "--shards", "64",
			"--start-in", "300", "--name", "night-7", "--namespace", "load", "--secret", "vllm.key"}},
	} {
		t.Run(c.golden, func(t *testing.T) {
			got, err := printShards(t, append(c.args, run...)...)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Join("testdata/shard", c.golden)
			if *update {
				if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s: -want +got:\n%s", name, diff)
			}
		})
	}
}

// A run that asks for its exit code has the report asked, too.
func TestStrictRunHasStrictReport(t *testing.T) {
	got, err := printShards(t, "slurm", "--", "run", "--strict")
	if err != nil || !strings.Contains(got, "\nservebench report --strict ") {
		t.Errorf("printed %v\n%s", err, got)
	}
}

func TestShardRefusesWhatItCannotPrint(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-hushhush")
	config := filepath.Join(t.TempDir(), "shared.yaml")
	if err := os.WriteFile(config, []byte("shard: 0/4\nheader: [x-key=hush]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	pods := "kubernetes --image i -- run "
	for line, want := range map[string]string{
		"":                          "shard needs one of kubernetes, slurm",
		"nomad -- run":              "unknown command .nomad.: .*kubernetes, slurm",
		"slurm --base-url http://h": "--base-url: it is a flag of the run: put -- run in front",
		"slurm":                     "^the run must follow a --",
		"slurm run":                 "must follow a --",
		"slurm -- sweep e.yaml":     "must follow a --",
		"slurm run -- --seed 1":     "must follow a --",
		"slurm --shards 1 -- run":   "argument --shards: 1: .*from 2",
		"slurm --name Night -- run": "argument --name: 'Night': .*small letters",
		"slurm --name a-234567890-234567890-234567890-234567890 -- run": "at most 40",
		"slurm --start-in soon -- run":                                  "argument --start-in: .*'soon'",
		"slurm --start-in 0.9 -- run":                                   "argument --start-in: 900ms: .*a second",
		"slurm --shard 4 --nam a --nosuch 3 -- run":                     "unknown flag --nosuch",
		"slurm --sh many -- run":                                        "argument --shards: invalid int value: 'many'",
		"slurm --sbatch nodes=4 -- run":                                 "argument --sbatch: 'nodes=4'",
		"slurm -- run --num-promts 5":                                   "run: .*--num-promts",
		"slurm -- run --request-rate -3":                                "run: argument --request-rate",
		"slurm -- run -o x":                                             "run: argument --record-to: .*own records",
		"slurm -- run --shard 0/4":                                      "run: argument --shard: .*--shards",
		"slurm -- run --num-prompts 7":                                  "run: argument --num-prompts: 7: .*8 shards",
		"slurm -- run --start-at 5":                                     "run: argument --start-at: .*--start-in",
		"slurm -- run --run-id x":                                       "run: argument --run-id: .*--name",
		"slurm -- run --config " + config:                               "run: argument --shard: ",
		"slurm -- run --header x-key=hush":                              "run: argument --header: .*OPENAI_API_KEY.*--config",
		"slurm -- run --base-url http://u:hush@h":                       "run: argument --base-url: ",
		"slurm -- run --target a=http://u:hush@h":                       "run: argument --target: ",
		"slurm -- run --label my-sk-hushhush":                           "run: argument --label: ",
		"slurm -- run --max-concurrency 7":                              "run: argument --max-concurrency: 7: .*8 shards",
		"slurm -- run --repeat 2":                                       "run: argument --shard: --repeat",
		"slurm -- run --hlog x":                                         "run: argument --hlog: .*put %t in it",
		"kubernetes -- run":                                             "argument --image: .*must name",
		"kubernetes --image :1 -- run":                                  "argument --image: ':1'",
		"kubernetes --image i --namespace A -- run":                     "argument --namespace: 'A'",
		"kubernetes --image i --secret a_b -- run":                      "argument --secret: 'a_b'",
		pods + "--save-result":                                          "run: argument --save-result: .*--format json",
		pods + "--append-result":                                        "run: argument --append-result: ",
		pods + "--plot-timeline":                                        "run: argument --plot-timeline: ",
		pods + "--plot-dataset-stats":                                   "run: argument --plot-dataset-stats: ",
		pods + "--hlog x":                                               "run: argument --hlog: ",
		pods + "--label \xff":                                           "run: .*UTF-8",
	} {
		got, err := printShards(t, strings.Fields(line)...)
		switch {
		case got != "":
			t.Errorf("shard %s printed %q", line, got)
		case err == nil || !regexp.MustCompile(want).MatchString(err.Error()):
			t.Errorf("shard %s: %v, want %s", line, err, want)
		case strings.Contains(err.Error(), "hush"):
			t.Errorf("shard %s shows a secret: %v", line, err)
		}
	}
	if _, err := printShards(t, "slurm", "--sbatch", "--nodes=4\nrm", "--", "run"); err == nil {
		t.Error("a line end in --sbatch was printed")
	}
}

func TestConfigFileKeepsItsSecrets(t *testing.T) {
	config := filepath.Join(t.TempDir(), "secret.yaml")
	if err := os.WriteFile(config, []byte("header: [x-key=hushhush]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := printShards(t, "slurm", "--", "run", "--config", config)
	if err != nil || !strings.Contains(got, config) || strings.Contains(got, "hushhush") {
		t.Errorf("printed %v\n%s", err, got)
	}
}

// oddWords are words of a command line that are easily misread.
func oddWords() []string {
	words := []string{"", "-", "--", "~", "yes", "null", "1_000", "0x1f", "1:20", ".inf", "2026-11-22", "=", "<<", "#c", "a #c", "a: b", "- a",
		"$HOME", "$$", "$(date)", "`date`", "it's", `"`, `\`, `a\`, "!x", "*", "{a,b}", "a\nb", "\n", "a\r\n", "\t", " a ", "é ✓ \u2028 \u0085 \ufeff", "\x7f\x01"}
	letters := []rune("ab01 \t\n\r'\"\\$(){}[]`~!#&*?|<>;:,-=%@.^é✓😀\u2028\x01")
	rng := rand.New(rand.NewPCG(7, 7))
	for range 2000 {
		word := make([]rune, rng.IntN(8))
		for i := range word {
			word[i] = letters[rng.IntN(len(letters))]
		}
		words = append(words, string(word))
	}
	return words
}

func TestShellReadsTheWordsGiven(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	words := oddWords()
	got, err := exec.CommandContext(t.Context(), sh, "-c", `printf '%s\0'`+shellLines(words)).Output()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(words, strings.Split(strings.TrimSuffix(string(got), "\x00"), "\x00")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestYAMLReadsTheWordsGiven(t *testing.T) {
	var list strings.Builder
	words := oddWords()
	for _, word := range words {
		text, err := yamlText(word)
		if err != nil || strings.Contains(text, "\n") {
			t.Fatalf("%q is %q: %v", word, text, err)
		}
		list.WriteString("- " + text + "\n")
	}
	var got []string
	if err := yaml.Unmarshal([]byte(list.String()), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(words, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
