package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.yaml.in/yaml/v3"
)

// The commands of the workflows in examples/ci run, in order, against simulated
// servers and with fewer requests. What a gate says is the machine's: here it has
// to say something, in every form.
func TestWorkflowsRun(t *testing.T) {
	if testing.Short() {
		t.Skip("the workflows of the examples: in go test without -short")
	}
	t.Parallel()
	const folder = "../../examples/ci"
	dir := t.TempDir()
	for _, name := range []string{"simulator", "endpoint"} {
		var script, files strings.Builder
		script.WriteString("server --step-base 2ms\nenv SERVEBENCH_URL=$URL\nenv GITHUB_STEP_SUMMARY=summary.md\n" +
			"exec servebench compare --save-baseline baseline.json before.json\n")
		for i, step := range workflowSteps(t, filepath.Join(folder, name+".yml")) {
			fmt.Fprintf(&script, "exits %s sh -e step%d.sh\n", step.exits, i)
			fmt.Fprintf(&files, "-- step%d.sh --\n%s\n", i, step.run)
		}
		script.WriteString("grep '\"verdict\": \"(PASS|REGRESSED|NO VERDICT)\"' compare.json\ngrep '^## (PASS|REGRESSED|NO VERDICT)' summary.md\n" +
			"grep '<testsuite ' compare.xml\ngrep '^(PASS|REGRESSED|NO VERDICT)' compare.txt\n")
		for _, file := range []string{"sim.yaml", "gate.yml"} {
			text, err := os.ReadFile(filepath.Join(folder, file))
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&files, "-- examples/ci/%s --\n%s\n", file, fewer.Replace(string(text)))
		}
		files.WriteString("-- before.json --\n" + strings.Repeat(madeUp, 6))
		if err := os.WriteFile(filepath.Join(dir, name+".txtar"), []byte(script.String()+files.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	testscript.Run(t, scripts(dir))
}

// madeUp is a result that a baseline is kept of, since runs on a busy machine make
// none.
const madeUp = `{"backend": "openai", "model_id": "m", "num_prompts": 5, "request_rate": "inf", "duration": 1, "completed": 5, "failed": 0,
"total_input_tokens": 50, "total_output_tokens": 50, "output_throughput": 50, "median_ttft_ms": 5, "median_tpot_ms": 2}
`

// fewer makes what takes minutes on a server take a second here.
var fewer = strings.NewReplacer("num-prompts: 300", "num-prompts: 5", "--num-prompts 300", "--num-prompts 5",
	"--step-base, 10ms", "--step-base, 1ms", "request-rate: 50", "request-rate: inf", "--request-rate 10", "--request-rate inf",
	"--random-output-len 128", "--random-output-len 8", "--num-warmups 10", "--num-warmups 1")

// A workflowStep is the script of a step, and what it may exit with.
type workflowStep struct{ run, exits string }

// workflowSteps are those of a workflow that run servebench.
func workflowSteps(t *testing.T, name string) []workflowStep {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Name, Run string }
		}
	}
	if err := yaml.Unmarshal(text, &workflow); err != nil {
		t.Fatal(err)
	}
	byName := map[string]string{}
	for _, step := range workflow.Jobs["gate"].Steps {
		byName[step.Name] = fewer.Replace(step.Run)
	}
	var steps []workflowStep
	for _, step := range []struct{ name, exits string }{{"Measure", "0"}, {"Gate", "0,1,3"}, {"Keep", "0,3"}} {
		if run := byName[step.name]; strings.HasPrefix(run, "servebench ") {
			steps = append(steps, workflowStep{run, step.exits})
		}
	}
	if len(steps) < 2 {
		t.Fatalf("%s has %d steps that run servebench", name, len(steps))
	}
	return steps
}
