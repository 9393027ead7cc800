package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// An actionFile is action.yml, as far as GitHub's runner and its stand-in here read it.
type actionFile struct {
	Inputs  map[string]struct{ Default string }
	Outputs map[string]struct{ Value string }
	Runs    struct{ Steps []actionStep }
}

type actionStep struct {
	ID, Name, If, Run, Shell, Uses string
	Env, With                      map[string]string
}

func readAction(t *testing.T) *actionFile {
	t.Helper()
	text, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	a := &actionFile{}
	if err := yaml.Unmarshal(text, a); err != nil {
		t.Fatal(err)
	}
	return a
}

// The table of inputs in docs/ci.md is the action's. -update writes it.
func TestInputsAreDocumented(t *testing.T) {
	const page, head = "../../docs/ci.md", "| input | meaning | default |\n|---|---|---|\n"
	action, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var inputs struct{ Inputs yaml.Node } // in their order
	if err := yaml.Unmarshal(action, &inputs); err != nil {
		t.Fatal(err)
	}
	table := head
	for entry := range slices.Chunk(inputs.Inputs.Content, 2) {
		var input struct{ Description, Default string }
		if err := entry[1].Decode(&input); err != nil {
			t.Fatal(err)
		}
		if input.Default != "" {
			input.Default = "`" + input.Default + "`"
		}
		table += fmt.Sprintf("| `%s` | %s | %s |\n", entry[0].Value, input.Description, input.Default)
	}
	text := readText(t, page)
	before, after, found := strings.Cut(text, head)
	for strings.HasPrefix(after, "|") {
		_, after, _ = strings.Cut(after, "\n")
	}
	switch want := before + table + after; {
	case !found:
		t.Errorf("%s has no table of inputs", page)
	case *update:
		if err := os.WriteFile(page, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	case text != want:
		t.Errorf("%s has other inputs than action.yml: go test ./cmd/servebench -run InputsAreDocumented -update", page)
	}
}

// A workflowJob is one job in which the steps of the action run, as GitHub runs them. Only
// what leaves the machine is fake: gh and upload-artifact end at a github in a folder.
type workflowJob struct {
	t          *testing.T
	github     *github
	event, ref string
	env        []string // more of the environment
	workspace  string

	inputs  map[string]string
	steps   map[string]map[string]string // their outputs
	path    []string                     // what steps have added
	temp    string
	log     bytes.Buffer
	summary string

	outputs map[string]string // of the action
	code    int               // of the job
}

// run runs the action with these inputs.
func (j *workflowJob) run(with map[string]string) *workflowJob {
	j.t.Helper()
	action := readAction(j.t)
	j.inputs, j.steps, j.temp = map[string]string{}, map[string]map[string]string{}, j.t.TempDir()
	if j.workspace == "" {
		j.workspace = j.t.TempDir()
	}
	for name, input := range action.Inputs {
		j.inputs[name] = j.put(input.Default)
	}
	for name := range with {
		if _, known := action.Inputs[name]; !known {
			j.t.Errorf("the action has no input %s", name)
		}
	}
	maps.Copy(j.inputs, with)
	id := j.github.begin(j)
	for _, step := range action.Runs.Steps {
		if j.holds(step.If) && !j.step(id, &step) {
			break
		}
	}
	j.outputs = map[string]string{}
	for name, output := range action.Outputs {
		j.outputs[name] = j.put(output.Value)
	}
	j.github.end(id, j.code == 0)
	return j
}

// step runs one step. It is false where the step failed.
func (j *workflowJob) step(run int, step *actionStep) bool {
	j.t.Helper()
	if step.Uses != "" {
		if step.Uses != "actions/upload-artifact@v4" {
			j.t.Fatalf("%s: nothing here is like %s", step.Name, step.Uses)
		}
		j.github.upload(run, j.put(step.With["name"]), j.put(step.With["path"]))
		return true
	}
	if step.Shell != "bash" {
		j.t.Fatalf("%s: its shell is %q", step.Name, step.Shell)
	}
	file := func(name string) string { return filepath.Join(j.temp, fmt.Sprintf("%s-%d", name, len(j.steps))) }
	script := file("script")
	if err := os.WriteFile(script, []byte(j.put(step.Run)), 0o600); err != nil {
		j.t.Fatal(err)
	}
	cmd := exec.Command("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script)
	cmd.Dir, cmd.Stdout, cmd.Stderr = j.workspace, &j.log, &j.log
	cmd.Env = append(os.Environ(), "GITHUB_OUTPUT="+file("output"), "GITHUB_STEP_SUMMARY="+file("summary"), "GITHUB_PATH="+file("path"),
		"GITHUB_WORKSPACE="+j.workspace, "GITHUB_REPOSITORY=owner/repository", "GITHUB_EVENT_NAME="+j.event, "GITHUB_REF="+j.ref,
		"RUNNER_TEMP="+j.temp, "RUNNER_NAME=runner 1", "RUNNER_OS=Linux", "RUNNER_ARCH=X64", "FAKE_GITHUB="+j.github.dir, "PATH="+strings.Join(append(j.path, os.Getenv("PATH")), ":"))
	cmd.Env = append(cmd.Env, j.env...)
	for name, value := range step.Env {
		cmd.Env = append(cmd.Env, name+"="+j.put(value))
	}
	for _, name := range []string{"output", "summary", "path"} {
		if err := os.WriteFile(file(name), nil, 0o600); err != nil {
			j.t.Fatal(err)
		}
	}
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		j.code = exit.ExitCode()
	} else if err != nil {
		j.t.Fatal(err)
	}
	j.summary += readText(j.t, file("summary"))
	j.path = append(strings.Fields(readText(j.t, file("path"))), j.path...)
	outputs := map[string]string{}
	for line := range strings.Lines(readText(j.t, file("output"))) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		outputs[name] = value
	}
	j.steps[fmt.Sprint(step.ID, len(j.steps))] = nil // so that each has other files
	j.steps[step.ID] = outputs
	return err == nil
}

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var expression = regexp.MustCompile(`\$\{\{ (.*?) \}\}`)

// put is a text with the values of its expressions.
func (j *workflowJob) put(text string) string {
	return expression.ReplaceAllStringFunc(text, func(found string) string {
		for name := range strings.SplitSeq(expression.FindStringSubmatch(found)[1], " || ") {
			if value := j.value(name); value != "" {
				return value
			}
		}
		return ""
	})
}

// value is the value of a name in an expression.
func (j *workflowJob) value(name string) string {
	switch parts := strings.Split(name, "."); {
	case parts[0] == "inputs" && len(parts) == 2:
		return j.inputs[parts[1]]
	case parts[0] == "steps" && len(parts) == 4 && parts[2] == "outputs":
		return j.steps[parts[1]][parts[3]]
	case name == "github.token":
		return "token"
	}
	j.t.Fatalf("nothing here knows the expression %q", name)
	return ""
}

// holds says whether a step with that condition runs.
func (j *workflowJob) holds(condition string) bool {
	if condition == "" {
		return true
	}
	name, want, ok := strings.Cut(condition, " == ")
	if !ok {
		j.t.Fatalf("nothing here knows the condition %q", condition)
	}
	return j.value(name) == strings.Trim(want, "'")
}

// wants checks what the job came to.
func (j *workflowJob) wants(verdict string, code int, texts ...string) {
	j.t.Helper()
	all := j.log.String() + j.summary
	if j.outputs["verdict"] != verdict || j.code != code {
		j.t.Fatalf("%q with exit code %d, want %q with %d; the sweep ended with %q:\n%s", j.outputs["verdict"], j.code, verdict, code, j.steps["measure"]["reason"], all)
	}
	if told := j.outputs["exit-code"]; verdict != "" && told != fmt.Sprint(code) {
		j.t.Errorf("the output exit-code is %q, want %d", told, code)
	}
	for _, text := range texts {
		if unwanted, not := strings.CutPrefix(text, "!"); strings.Contains(all, strings.TrimPrefix(text, "!")) == not {
			j.t.Errorf("%q, there: %v\n%s", unwanted, not, all)
		}
	}
}

// newJobs makes jobs of one repository on GitHub.
func newJobs(t *testing.T) func(event, ref string) *workflowJob {
	t.Helper()
	if testing.Short() {
		t.Skip("the steps of the action: in go test without -short")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the steps of the action are for bash")
	}
	bin := t.TempDir()
	for _, name := range []string{"gh", "docker"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\nexec "+name+"-stand-in \"$@\"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	g, containers := newGitHub(t), t.TempDir()
	return func(event, ref string) *workflowJob {
		return &workflowJob{t: t, github: g, event: event, ref: "refs/heads/" + ref, path: []string{bin}, env: []string{"FAKE_DOCKER=" + containers, "FAKE_IMAGE=example/server:1"}, workspace: workspace(t)}
	}
}

// workspace has a gate for a busy machine: only a mean E2EL of more than five times the old one is
// REGRESSED. A chunk that is read late changes its TPOT and hardly its E2EL.
func workspace(t *testing.T) string {
	dir := t.TempDir()
	gate := "margin: {mean_e2el: 400%}\nadvisory: [output_throughput, median_ttft, median_tpot]\ndespite: [suspect]\nunit: start\n"
	if err := os.WriteFile(filepath.Join(dir, "gate.yml"), []byte(gate), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// fastServer is the command of a server.
const fastServer = "servebench sim --port ${port} --step-base 40ms"

// with are the inputs of a job with that server, and some others by name and value.
func with(server string, others ...string) map[string]string {
	inputs := map[string]string{
		"binary": "servebench", "server": server, "restarts": "6", "gate": "gate.yml",
		"load": "num-prompts: 4\nrandom-input-len: 8\nrandom-output-len: 4\n",
	}
	for pair := range slices.Chunk(others, 2) {
		inputs[pair[0]] = pair[1]
	}
	return inputs
}

// What is wrong with the inputs of the action is said before anything is measured.
func TestActionRefusesWrongInputs(t *testing.T) {
	job := newJobs(t)
	t.Parallel()
	for _, row := range []struct {
		event, ref string
		inputs     []string
		want       string
	}{
		{"pull_request", "feature", []string{"restarts", "some"}, "restarts: some: it must be a number"},
		{"schedule", "main", []string{"sessions", "0"}, "sessions: 0: it must be a number of 1 or more"},
		{"schedule", "main", []string{"update-baseline", "yes"}, "update-baseline: yes: it must be true, false or append"},
		{"pull_request", "feature", []string{"update-baseline", "append"}, "update-baseline: append works on main alone"},
		{"pull_request", "feature", []string{"update-baseline", "true"}, "update-baseline: true works on main alone"},
		{"pull_request", "main", []string{"update-baseline", "true"}, "update-baseline: true works on main alone"},
		{"push", "feature", []string{"update-baseline", "true"}, "update-baseline: true works on main alone"},
		{"issue_comment", "main", []string{"update-baseline", "true"}, "update-baseline: true works on main alone"},
		{"pull_request", "feature", []string{"gate", "none.yml"}, "title=servebench FAILED::argument --gate: open none.yml: no such file"},
		{"pull_request", "feature", []string{"binary", "no-such-program"}, "binary: there is no program no-such-program"},
		// Without an answer of GitHub there is no verdict.
		{"pull_request", "feature", []string{"token", ""}, "permissions: {actions: read, contents: read}"},
	} {
		job(row.event, row.ref).run(with(fastServer, row.inputs...)).wants("FAILED", 2, row.want, "!starting server")
	}
}
