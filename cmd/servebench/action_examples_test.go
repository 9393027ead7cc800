package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// A workflowFile is a workflow that uses the action.
type workflowFile struct {
	Permissions map[string]string
	Jobs        map[string]struct {
		Steps []struct {
			Uses string
			With map[string]string
		}
	}
}

// usesAction are the inputs that a workflow gives the action.
func (w *workflowFile) usesAction() map[string]string {
	for _, job := range w.Jobs {
		for _, step := range job.Steps {
			if step.Uses == "./" || strings.HasPrefix(step.Uses, "servebench/servebench@") {
				return step.With
			}
		}
	}
	return nil
}

// The inputs in the workflow of this repository exist, and it runs.
func TestActionRunsInThisRepository(t *testing.T) {
	job := newJobs(t)
	t.Parallel()
	var workflow workflowFile
	if err := yaml.Unmarshal([]byte(readText(t, "../../.github/workflows/ci.yml")), &workflow); err != nil {
		t.Fatal(err)
	}
	inputs := workflow.usesAction()
	inputs["binary"], inputs["load"] = "servebench", "--num-prompts 4 --random-input-len 8 --random-output-len 4"
	job("push", "main").run(inputs).wants("PASS", 0)
}

// Each workflow in examples/ci runs, with simulated servers in the place of its servers and
// with fewer requests. What a gate says is the machine's: here it has to say something.
func TestActionRunsTheExamples(t *testing.T) {
	job := newJobs(t)
	t.Parallel()
	for _, name := range listedExamples(t, "../..") {
		file := "../../" + name
		if !strings.HasPrefix(name, "examples/ci/") || filepath.Ext(name) != ".yml" {
			continue
		}
		if strings.HasSuffix(file, "gate.yml") {
			continue
		}
		gate := filepath.Join(filepath.Dir(file), "gate.yml")
		if filepath.Base(file) == "turns.yml" {
			gate = filepath.Join(filepath.Dir(file), "turns-gate.yml")
		}
		if text := readText(t, file); !strings.Contains(text, filepath.Base(gate)+" as .github/servebench-gate.yml") {
			t.Errorf("%s does not say which gate file it needs", file)
		}
		var workflow workflowFile
		if err := yaml.Unmarshal([]byte(readText(t, file)), &workflow); err != nil {
			t.Fatal(err)
		}
		inputs := workflow.usesAction()
		if inputs["version"] == "" || inputs["sha256"] == "" {
			t.Errorf("%s takes no release by its checksum", file)
		}
		if turns := inputs["old-server"] + inputs["old-image"]; turns == "" && (workflow.Permissions["actions"] != "read" || workflow.Permissions["contents"] != "read") {
			t.Errorf("%s may not look for a baseline: %v", file, workflow.Permissions)
		}
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
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, []byte(readText(t, gate)), 0o600)); err != nil {
			t.Fatal(err)
		}
		j.run(inputs)
		if !slices.Contains([]string{"PASS", "REGRESSED", "NO VERDICT"}, j.outputs["verdict"]) {
			t.Errorf("%s: %q\n%s", file, j.outputs["verdict"], &j.log)
		}
	}
}

// madeUp is a result that a baseline is kept of, since runs on a busy machine make
// none.
const madeUp = `{"backend": "openai", "model_id": "m", "num_prompts": 5, "request_rate": "inf", "duration": 1, "completed": 5, "failed": 0,
"total_input_tokens": 50, "total_output_tokens": 50, "output_throughput": 50, "median_ttft_ms": 5, "median_tpot_ms": 2}
`

// fewer makes what takes minutes on a server take a second here.
var fewer = strings.NewReplacer("--num-prompts 300", "--num-prompts 5", "--request-rate 10", "--request-rate inf",
	"--random-output-len 128", "--random-output-len 8", "--num-warmups 10", "--num-warmups 1")
