package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// execute runs one command line on a program with a single verb.
func execute(t *testing.T, args ...string) (stdout string, got *options, err error) {
	t.Helper()
	root := &cobra.Command{Use: "servebench", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(loadCommand(&cobra.Command{Use: "run", Long: "What it is for."}, func(_ context.Context, o *options) error {
		got = o
		return nil
	}))
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetErr(io.Discard)
	root.SetArgs(args)
	err = root.Execute()
	return out.String(), got, err
}

func TestVerbGetsItsOptions(t *testing.T) {
	_, o, err := execute(t, "run", "--num_prompts", "5", "--goodput", "ttft:1", "tpot:2")
	if err != nil || o == nil || o.Workload.NumPrompts != 5 || len(o.Report.Goodput) != 2 {
		t.Errorf("got %+v, %v", o, err)
	}
	if _, o, err := execute(t, "run", "--num-promts", "5"); err == nil || o != nil {
		t.Error("the verb ran with an unknown flag")
	}
}

func TestHelpListsEveryFlag(t *testing.T) {
	for _, args := range [][]string{{"run", "--help"}, {"run", "--seed", "1", "-h"}, {"help", "run"}} {
		out, o, err := execute(t, args...)
		if err != nil || o != nil {
			t.Errorf("%v ran the verb, or failed: %v", args, err)
		}
		emptyForm().flags.VisitAll(func(flag *pflag.Flag) {
			if !strings.Contains(out, " --"+flag.Name+"\n") && !strings.Contains(out, " --"+flag.Name+" ") {
				t.Errorf("%v: --%s is not in the help", args, flag.Name)
			}
			usage := flag.Usage
			if argument, text, ok := strings.Cut(strings.TrimPrefix(usage, "`"), "` "); ok {
				usage = text
				if !strings.Contains(out, " --"+flag.Name+" "+argument) {
					t.Errorf("%v: --%s does not show its %s", args, flag.Name, argument)
				}
			}
			if !flag.Hidden && (usage == "" || !strings.Contains(out, usage)) {
				t.Errorf("%v: --%s has no help", args, flag.Name)
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
	if out, _, _ := execute(t, cobra.ShellCompRequestCmd, "run", "--lora"); strings.Contains(out, "--lora-modules") {
		t.Error("a refused flag is offered")
	}
}
