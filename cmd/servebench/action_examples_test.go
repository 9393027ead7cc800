//go:build outside

package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The workflow of this repository runs.
func TestActionRunsInThisRepository(t *testing.T) {
	job := newJobs(t)
	t.Parallel()
	inputs := readWorkflow(t, "../../.github/workflows/ci.yml").usesAction()
	inputs["binary"], inputs["load"] = "servebench", "--num-prompts 4 --random-input-len 8 --random-output-len 4"
	job("push", "main").run(inputs).wants("PASS", 0)
}

// Each workflow in examples/ci runs, with simulated servers in the place of its servers and
// with fewer requests. What a gate says is the machine's: here it has to say something.
func TestActionRunsTheExamples(t *testing.T) {
	job := newJobs(t)
	t.Parallel()
	for _, file := range exampleWorkflows(t) {
		inputs := readWorkflow(t, file).usesAction()
		j := job("pull_request", "feature")
		for _, name := range []string{"image", "old-image"} {
			if inputs[name] != "" {
				inputs[name], inputs["image-args"] = "example/server:1", "--step-base 1ms"
			}
		}
		for _, name := range []string{"server", "old-server"} {
			if inputs[name] != "" {
				inputs[name] = "servebench sim --port ${port} --step-base 1ms"
			}
		}
		delete(inputs, "update-baseline")
		inputs["load"], inputs["restarts"], inputs["binary"] = fewer.Replace(inputs["load"]), "2", "servebench"
		to := filepath.Join(j.workspace, ".github", "servebench-gate.yml")
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, []byte(readText(t, gateOf(file))), 0o600)); err != nil {
			t.Fatal(err)
		}
		j.run(inputs)
		if !slices.Contains([]string{"PASS", "REGRESSED", "NO VERDICT"}, j.outputs["verdict"]) {
			t.Errorf("%s: %q\n%s", file, j.outputs["verdict"], &j.log)
		}
	}
}

// fewer makes what takes minutes on a server take a second here.
var fewer = strings.NewReplacer("--num-prompts 300", "--num-prompts 5", "--request-rate 10", "--request-rate inf",
	"--random-output-len 128", "--random-output-len 8", "--num-warmups 10", "--num-warmups 1")
