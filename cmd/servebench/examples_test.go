package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/servebench/servebench/loadgen/sweep"
)

// exampleFiles are the experiments of examples, from the repository's root, which
// is the working directory from here on.
func exampleFiles(t *testing.T) []string {
	t.Helper()
	t.Chdir("../..")
	files, err := filepath.Glob("examples/*/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	return files
}

func TestEveryExampleRunsWithAndWithoutAGPU(t *testing.T) {
	files := exampleFiles(t)
	folders, err := filepath.Glob("examples/*")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, folder := range folders {
		if filepath.Base(folder) == "dashboard" { // no experiment, but what shows them
			continue
		}
		want = append(want, folder+"/sim.yaml", folder+"/vllm.yaml")
	}
	if !slices.Equal(files, want) {
		t.Errorf("there are %q, want %q", files, want)
	}
}

// The command in the header of an example plans it, also where its servers are
// not installed.
func TestExamplesCanBePlanned(t *testing.T) {
	files := exampleFiles(t)
	t.Setenv("PATH", t.TempDir())
	for _, file := range files {
		command := headerCommand(t, file)
		if want := "servebench sweep " + file; command != want {
			t.Errorf("the header of %s says %q, want %q", file, command, want)
			continue
		}
		cmd := newSweepCommand()
		cmd.SetArgs(append(strings.Fields(command)[2:], "--dry-run"))
		var out strings.Builder
		cmd.SetOut(&out)
		if err := cmd.ExecuteContext(t.Context()); err != nil || !strings.Contains(out.String(), ", some ") {
			t.Errorf("%s: %v\n%s", file, err, out.String())
		}
	}
}

// headerCommand is the only command in the comment that a file begins with.
func headerCommand(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	command := ""
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			break
		}
		if c, ok := strings.CutPrefix(line, "#   "); ok {
			command += strings.TrimSuffix(c, "\n")
		}
	}
	return command
}

// The servers of sim.yaml are simulated ones, with flags that they take. Those of
// vllm.yaml are not, and the files are there that their environment names.
func TestExamplesStartTheServersTheySay(t *testing.T) {
	for _, file := range exampleFiles(t) {
		for _, s := range exampleServers(t, file) {
			if filepath.Base(file) == "sim.yaml" {
				checkSimulated(t, file, s.Command)
			} else if words := strings.Join(s.Command, " "); !strings.Contains(words, "vllm serve ") {
				t.Errorf("%s: %s", file, words)
			}
			for name, value := range s.Env {
				if _, err := os.Stat(value); strings.Contains(value, "/") && err != nil {
					t.Errorf("%s: %s: %v", file, name, err)
				}
			}
		}
	}
}

func exampleServers(t *testing.T, file string) (servers []sweep.Server) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	plan, err := sweep.Parse(file, f, sweepFlag)
	if err != nil {
		t.Fatal(err)
	}
	for _, arm := range plan.Arms {
		if len(arm.Servers) == 0 {
			t.Errorf("%s: %s starts no server", file, arm.Name)
		}
		servers = append(servers, arm.Servers...)
	}
	return servers
}

// checkSimulated checks the command line of servebench sim without serving.
func checkSimulated(t *testing.T, file string, words []string) {
	t.Helper()
	if len(words) < 2 || words[0] != "servebench" || words[1] != "sim" {
		t.Errorf("%s: %q, want servebench sim", file, words)
		return
	}
	var o simOptions
	flags := pflag.NewFlagSet("sim", pflag.ContinueOnError)
	o.bind(flags)
	err := flags.Parse(sweep.AnyPorts(words[2:]))
	if err == nil {
		_, err = o.config()
	}
	if err == nil {
		_, err = o.ports()
	}
	if err != nil {
		t.Errorf("%s: %q: %v", file, words, err)
	}
}
