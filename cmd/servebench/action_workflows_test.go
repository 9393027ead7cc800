package main

import (
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

// exampleWorkflows are the workflows of examples/ci that use the action.
func exampleWorkflows(t *testing.T) (files []string) {
	t.Helper()
	for _, name := range listedExamples(t, "../..") {
		if strings.HasPrefix(name, "examples/ci/") && filepath.Ext(name) == ".yml" && !strings.HasSuffix(name, "gate.yml") {
			files = append(files, "../../"+name)
		}
	}
	return files
}

func readWorkflow(t *testing.T, file string) *workflowFile {
	t.Helper()
	w := &workflowFile{}
	if err := yaml.Unmarshal([]byte(readText(t, file)), w); err != nil {
		t.Fatal(err)
	}
	return w
}

// gateOf is the gate file of a workflow of examples/ci.
func gateOf(file string) string {
	if filepath.Base(file) == "turns.yml" {
		return filepath.Join(filepath.Dir(file), "turns-gate.yml")
	}
	return filepath.Join(filepath.Dir(file), "gate.yml")
}

// The inputs in the workflows of this repository and of examples/ci exist. An example says which gate file it needs, takes
// a release by its checksum, and may look for a baseline.
func TestWorkflowsGiveTheActionWhatItTakes(t *testing.T) {
	known := readAction(t).Inputs
	examples := exampleWorkflows(t)
	for _, file := range append(examples, "../../.github/workflows/ci.yml") {
		workflow := readWorkflow(t, file)
		inputs := workflow.usesAction()
		if inputs["load"] == "" {
			t.Errorf("%s gives the action no load", file)
		}
		for name := range inputs {
			if _, ok := known[name]; !ok {
				t.Errorf("%s: the action has no input %s", file, name)
			}
		}
		if !slices.Contains(examples, file) {
			continue
		}
		if gate := gateOf(file); !strings.Contains(readText(t, file), filepath.Base(gate)+" as .github/servebench-gate.yml") {
			t.Errorf("%s does not say which gate file it needs", file)
		}
		if inputs["version"] == "" || inputs["sha256"] == "" {
			t.Errorf("%s takes no release by its checksum", file)
		}
		if turns := inputs["old-server"] + inputs["old-image"]; turns == "" && (workflow.Permissions["actions"] != "read" || workflow.Permissions["contents"] != "read") {
			t.Errorf("%s may not look for a baseline: %v", file, workflow.Permissions)
		}
	}
}
