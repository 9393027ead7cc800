package main

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/loadgen/sweep"
	"github.com/servebench/servebench/metrics/stream"
)

// exampleFiles are the experiments of examples, from the repository's root, which
// is the working directory from here on.
func exampleFiles(t *testing.T) []string {
	t.Helper()
	t.Chdir("../..")
	return slices.DeleteFunc(listedExamples(t, "."), func(name string) bool { return filepath.Ext(name) != ".yaml" })
}

// Each experiment is there for vLLM and for the simulator. What else a folder has is
// for vLLM.
func TestEveryExampleRunsWithAndWithoutAGPU(t *testing.T) {
	files := exampleFiles(t)
	for _, name := range listedExamples(t, ".") {
		folder := filepath.ToSlash(filepath.Dir(name))
		if folder == "examples/dashboard" { // no experiment, but what shows them
			continue
		}
		for _, name := range []string{"/sim.yaml", "/vllm.yaml"} {
			if !slices.Contains(files, folder+name) {
				t.Errorf("there is no %s", folder+name)
			}
		}
	}
}

// The command in the header of an example plans it, also where its servers are
// not installed. Where arms are compared on a GPU, the repeats allow a verdict.
func TestExamplesCanBePlanned(t *testing.T) {
	files := exampleFiles(t)
	t.Setenv("PATH", t.TempDir())
	for _, file := range files {
		command := headerCommand(t, file)
		if want := "servebench sweep " + file + " -o " + exampleFolder(file); command != want {
			t.Errorf("the header of %s says %q, want %q", file, command, want)
			continue
		}
		cmd := newSweepCommand()
		cmd.SetArgs([]string{file, "-o", filepath.Join(t.TempDir(), exampleFolder(file)), "--dry-run"})
		var out strings.Builder
		cmd.SetOut(&out)
		if err := cmd.ExecuteContext(t.Context()); err != nil || !strings.Contains(out.String(), ", about ") {
			t.Errorf("%s: %v\n%s", file, err, out.String())
		}
		if !forSim(file) && strings.Contains(out.String(), "NO VERDICT") {
			t.Errorf("%s", out.String())
		}
	}
}

// exampleFolder is where the runs of an example go, so that all examples may be run in the same folder.
func exampleFolder(file string) string {
	return filepath.Base(filepath.Dir(file)) + "-" + strings.TrimSuffix(filepath.Base(file), ".yaml") + ".sweep"
}

func forSim(file string) bool { return filepath.Base(file) == "sim.yaml" }

// The header of an example for a GPU says what it takes.
func TestExamplesSayWhatTheyNeed(t *testing.T) {
	for _, file := range exampleFiles(t) {
		header, text := exampleHeader(t, file)
		if !regexp.MustCompile("(?m)^# Load: ").MatchString(header) {
			t.Errorf("the header of %s does not say whose load it has", file)
		}
		if forSim(file) {
			continue
		}
		for _, want := range []string{
			`Not yet run on a GPU\.`, `vLLM: 0\.\d+\.\d+`, `GPU memory: \d+ GB`, `Time: .* minutes`, `HF_TOKEN: (not )?needed`, `Dataset: (random|ShareGPT|sessions)`,
		} {
			if !regexp.MustCompile("(?m)^# " + want).MatchString(header) {
				t.Errorf("the header of %s lacks %s", file, want)
			}
		}
		for _, needs := range []struct {
			text, header string
		}{
			{"meta-llama/", "HF_TOKEN: needed"},
			{"dataset-name: sharegpt", "anon8231489123/ShareGPT_Vicuna_unfiltered"},
			{`ENABLE_KVCACHED: "true"`, "vllm==0.30.0 && pip install kvcached==0.1.6 "},
		} {
			if strings.Contains(text, needs.text) != strings.Contains(header, needs.header) {
				t.Errorf("%s: %q is to be in the header where %q is in the file, and only there", file, needs.header, needs.text)
			}
		}
	}
}

// headerCommand is the command in the comment that a file begins with: its first
// line that is further to the right.
func headerCommand(t *testing.T, file string) string {
	t.Helper()
	header, _ := exampleHeader(t, file)
	for line := range strings.Lines(header) {
		if c, ok := strings.CutPrefix(line, "#   "); ok {
			return strings.TrimSpace(c)
		}
	}
	return ""
}

// exampleHeader is the comment that a file begins with, and what follows.
func exampleHeader(t *testing.T, file string) (header, text string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rest := string(data)
	for strings.HasPrefix(rest, "#") {
		line, after, _ := strings.Cut(rest, "\n")
		header, rest = header+line+"\n", after
	}
	return header, rest
}

// The servers of sim.yaml are simulated ones, with flags that they take. Those of
// the others are vLLM's, with flags and variables that are known of it, and the
// files are there that their environment names.
func TestExamplesStartTheServersTheySay(t *testing.T) {
	files := exampleFiles(t)
	known := knownToVLLM(t)
	for _, file := range files {
		plan := examplePlan(t, file)
		checkPrograms(t, file, plan.Between.Command)
		for _, s := range exampleServers(t, file, plan) {
			checkPrograms(t, file, s.Command)
			if forSim(file) {
				checkSimulated(t, file, s.Command)
				continue
			}
			checkVLLM(t, file, s.Command, known)
			for name, value := range s.Env {
				if _, ok := known[name]; !ok {
					t.Errorf("%s: nothing says where %s is defined", file, name)
				}
				if _, err := os.Stat(filepath.Join(filepath.Dir(file), value)); strings.HasSuffix(value, ".json") && err != nil {
					t.Errorf("%s: %s: %v", file, name, err)
				}
			}
		}
	}
}

// knownToVLLM are the flags and variables of a table, and whether a flag has a value.
func knownToVLLM(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("cmd/servebench/testdata/vllm-serve.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] != "#" {
			known[fields[0]] = len(fields) > 1
		}
	}
	return known
}

// checkVLLM checks the flags after vllm serve and its model.
func checkVLLM(t *testing.T, file string, command []string, known map[string]bool) {
	t.Helper()
	words := strings.Fields(strings.ReplaceAll(strings.Join(command, " "), "\\\n", " "))
	at := slices.Index(words, "serve")
	if at < 1 || at+1 >= len(words) || words[at-1] != "vllm" {
		t.Errorf("%s: %q, want vllm serve MODEL", file, words)
		return
	}
	for flags := words[at+2:]; len(flags) > 0; {
		valued, ok := known[flags[0]]
		if !ok || valued && len(flags) == 1 {
			t.Errorf("%s: %q: nothing says where that is defined, or it lacks its value", file, flags[0])
			return
		}
		flags = flags[1:]
		if valued {
			flags = flags[1:]
		}
	}
}

func examplePlan(t *testing.T, file string) *sweep.Plan {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(file)) // to which the documents are relative
	defer t.Chdir(root)
	plan, err := sweep.Parse(file, f, (&sweepCommand{}).flags())
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func exampleServers(t *testing.T, file string, plan *sweep.Plan) (servers []sweep.Server) {
	t.Helper()
	for _, arm := range plan.Arms {
		if len(arm.Servers) == 0 {
			t.Errorf("%s: %s starts no server", file, arm.Name)
		}
		servers = append(servers, arm.Servers...)
	}
	return servers
}

// checkPrograms makes sure that the scripts of a command are there and can be run.
func checkPrograms(t *testing.T, file string, command []string) {
	t.Helper()
	for word := range strings.FieldsSeq(strings.Join(command, " ")) {
		if !strings.HasSuffix(word, ".sh") {
			continue
		}
		info, err := os.Stat(filepath.Join(filepath.Dir(file), word))
		if err != nil {
			t.Errorf("%s: %v", file, err)
		} else if info.Mode()&0o111 == 0 && runtime.GOOS != "windows" {
			t.Errorf("%s: %s cannot be run", file, word)
		}
	}
}

// checkSimulated checks the command line of servebench sim without serving, in the
// folder in which a sweep starts it.
func checkSimulated(t *testing.T, file string, words []string) {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(file))
	defer t.Chdir(root)
	if len(words) < 2 || words[0] != "servebench" || words[1] != "sim" {
		t.Errorf("%s: %q, want servebench sim", file, words)
		return
	}
	var o simOptions
	flags := argv.New(pflag.NewFlagSet("sim", pflag.ContinueOnError))
	o.define(flags)
	if err = flags.Parse(sweep.AnyPorts(words[2:]...)); err == nil {
		_, err = o.config()
	}
	if err == nil {
		_, err = o.ports()
	}
	if err != nil {
		t.Errorf("%s: %q: %v", file, words, err)
	}
}

// The commands in the headers compare what is there: arms, loads and targets of the
// file, and blocks of the documents.
func TestExamplesCompareWhatTheyMeasure(t *testing.T) {
	for _, file := range exampleFiles(t) {
		header, _ := exampleHeader(t, file)
		plan := examplePlan(t, file)
		for line := range strings.Lines(header) {
			command, ok := strings.CutPrefix(line, "#     servebench compare ")
			if !ok {
				continue
			}
			if folder := exampleFolder(file); !strings.Contains(command, folder) {
				t.Errorf("%s: %s does not compare %s", file, command, folder)
			}
			checkCompared(t, file, plan, strings.Fields(command))
		}
	}
}

// checkCompared looks up the words of a servebench compare in a plan and in the documents.
func checkCompared(t *testing.T, file string, plan *sweep.Plan, words []string) {
	t.Helper()
	isArm := func(name string) bool {
		return slices.ContainsFunc(plan.Arms, func(a sweep.Arm) bool { return a.Name == name })
	}
	for i, word := range words {
		switch {
		case i > 0 && words[i-1] == "--arms":
			if old, new, _ := strings.Cut(word, ","); !isArm(old) || !isArm(new) {
				t.Errorf("%s: there are no arms %s", file, word)
			}
		case i > 0 && words[i-1] == "--where":
			name, value, _ := strings.Cut(word, "=")
			isSetting := func(p sweep.Point) bool {
				return slices.ContainsFunc(p.Settings, func(s sweep.Setting) bool { return s.Flag == name && s.Value == value })
			}
			if name == "arm" && !isArm(value) || name != "arm" && !slices.ContainsFunc(plan.Points, isSetting) {
				t.Errorf("%s: there is no %s", file, word)
			}
		case strings.HasPrefix(word, "testdata/seeds/"):
			document := stream.Recorded{Warn: func(string) {}}
			if sums, err := document.Read(word); err != nil || len(sums) != 1 {
				t.Errorf("%s: %s: %d runs, %v", file, word, len(sums), err)
			}
		}
	}
}
