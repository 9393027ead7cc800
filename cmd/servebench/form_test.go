package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/servebench/servebench/loadgen/api"
)

// execute runs one command line on a program with a single verb.
func execute(t *testing.T, args ...string) (stdout string, got *options, err error) {
	t.Helper()
	root := &cobra.Command{Use: "servebench", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(loadCommand(&cobra.Command{Use: "run", Long: "What it is for."}, func(_ context.Context, o *options) error {
		got = o
		return nil
	}, runCommon))
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(io.Discard)
	root.SetArgs(args)
	err = root.Execute()
	return out.String(), got, err
}

func TestVerbGetsItsOptions(t *testing.T) {
	_, o, err := execute(t, "run", "--num_prompts", "5", "--goodput", "ttft:1", "tpot:2")
	if err != nil || o == nil || o.Plan.Workload.NumPrompts != 5 || len(o.Plan.Report.Goodput) != 2 {
		t.Errorf("got %+v, %v", o, err)
	}
	if _, o, err := execute(t, "run", "--num-promts", "5"); err == nil || o != nil {
		t.Error("the verb ran with an unknown flag")
	}
}

func TestBackendsAreListed(t *testing.T) {
	out, o, err := execute(t, "run", "--backend", "list", "--num-prompts", "0")
	if err != nil || o != nil {
		t.Fatalf("it ran %v, or failed: %v", o, err)
	}
	for _, b := range api.All {
		if !strings.Contains(out, "\n"+b.Name+" ") || !strings.Contains(out, b.Endpoint) {
			t.Errorf("%s is missing:\n%s", b.Name, out)
		}
	}
	if _, err := parseRun([]string{"--backend", "list"}); err == nil || !strings.Contains(err.Error(), "argument --backend: list") {
		t.Errorf("as a part of a command line: %v", err)
	}
}

func TestHelpListsEveryFlag(t *testing.T) {
	for _, args := range [][]string{{"run", "--help=all"}, {"run", "--seed", "1", "-hall"}} {
		out, o, err := execute(t, args...)
		if err != nil || o != nil {
			t.Errorf("%v ran the verb, or failed: %v", args, err)
		}
		// As one text, since the help is wrapped.
		out = strings.Join(strings.Fields(out), " ") + " "
		emptyForm().flags.VisitAll(func(flag *pflag.Flag) {
			head, text := "--"+flag.Name, strings.Join(strings.Fields(flag.Usage), " ")
			if argument, rest, ok := strings.Cut(strings.TrimPrefix(text, "`"), "` "); ok {
				head, text = head+" "+argument, rest
			}
			if !strings.Contains(out, " "+head+" ") {
				t.Errorf("%v: %s is not in the help", args, head)
			}
			if text == "" || !strings.Contains(out, text) {
				t.Errorf("%v: %s has no help", args, head)
			}
		})
	}
}

func TestCompletionKnowsFlagsAndChoices(t *testing.T) {
	for line, want := range map[string]string{
		"--random-in":        "--random-input-len\t",
		"--rec":              "--record-to\t",
		"--save-d":           "--save-detailed\t",
		"--backend op":       "openai-chat\n",
		"--dataset-name ":    "sharegpt\n",
		"--seed 1 --record ": "requests\n",
	} {
		out, _, err := execute(t, append([]string{cobra.ShellCompRequestCmd, "run"}, strings.Split(line, " ")...)...)
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("%q gave %q, %v", line, out, err)
		}
	}
}
