package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Every servebench command in an sh block of the README and the docs runs, against
// simulated servers in the place of those that it names, with files of the names it uses.
// A text block right below is what it prints.
func TestDocumentedCommandsRun(t *testing.T) {
	if testing.Short() {
		t.Skip("every command of the documentation: in go test without -short")
	}
	t.Parallel()
	dir := t.TempDir()
	for _, page := range append(docsPages(t, "../.."), "README.md", "CONTRIBUTING.md") {
		text, err := os.ReadFile("../../" + page)
		if err != nil {
			t.Fatal(err)
		}
		examples := documented(string(text))
		experiment := fencedYAML(string(text))
		if slices.Contains(withoutCommands, page) {
			if len(examples) > 0 {
				t.Errorf("%s has commands: take it off the list", page)
			}
			continue
		}
		if len(examples) < 3 && !strings.HasPrefix(page, measured) {
			t.Fatalf("%s has %d commands: %q", page, len(examples), examples)
		}
		if len(examples) == 0 {
			continue
		}
		name := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(page, "docs/"), ".md"), "/", "-") + ".txtar"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(scriptOf(examples)+experiment), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	testscript.Run(t, scripts(dir))
}

// withoutCommands are the pages that show no command. A page of the appendix may have some.
var withoutCommands = []string{"CONTRIBUTING.md", "docs/README.md", "docs/architecture.md", "docs/checks.md", "docs/install.md", "docs/statistics.md"}

// fencedYAML are the experiments of a page, as files of a script: experiment.yaml, and
// those that begin with their name as a comment.
func fencedYAML(text string) string {
	var files strings.Builder
	for i, part := range strings.Split(text, "```yaml\n") {
		block, _, _ := strings.Cut(part, "```")
		switch name := named.FindStringSubmatch(block); {
		case i == 0:
		case name != nil:
			fmt.Fprintf(&files, "-- %s --\n%s", name[1], block)
		case !strings.Contains(files.String(), "-- experiment.yaml --"):
			fmt.Fprintf(&files, "-- experiment.yaml --\n%s", block)
		}
	}
	return files.String()
}

// named is the name of a file in its first line.
var named = regexp.MustCompile(`^# (\S+\.yaml)\n`)

// An example is a command of a page, and what it is said to print, if anything.
type example struct{ command, output string }

// documented are the examples of a page: the lines of its sh blocks that begin with
// servebench, or with echo to write a file, continued lines joined. A text block right below is what the last one of
// them prints.
func documented(text string) []example {
	var examples []example
	fence, printed := "", false // the block that we are in; its lines are output of the last example
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", "")) {
		after, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && fence == "":
			fence = "```" + strings.TrimSpace(after)
			printed = printed && fence == "```text"
		case isFence:
			printed, fence = fence == "```sh" && len(examples) > 0, ""
		case fence == "```sh" && (strings.HasPrefix(line, "servebench ") || strings.HasPrefix(line, "echo '")):
			examples = append(examples, example{command: strings.TrimSpace(line)})
		case fence == "```text" && printed:
			examples[len(examples)-1].output += line
		case strings.TrimSpace(line) != "":
			printed = false
		}
	}
	return examples
}

// standIns are the servers of a script in the place of those that a page names. Within
// the quotes of a shell a script puts nothing in the place of a variable.
var standIns = strings.NewReplacer("'http://127.0.0.1:8000?api-version=2024-10-21'", "$URL?api-version=2024-10-21", "http://127.0.0.1:8000", "$URL", "http://127.0.0.1:8001", "$URL2", "http://127.0.0.1:8002", "$URL")

// picture is where a command writes what it does not print.
var picture = regexp.MustCompile(` --(?:html|svg) (\S+)`)

// copiedSeeds are the commands of a script that has the seed documents where examples look for them.
const copiedSeeds = "mkdir testdata/seeds\ncp $DATA/seeds/kvcached-on-off.md $DATA/seeds/mps-sm-partition.md $DATA/seeds/num-prompts-seq-length-sweep.txt $DATA/seeds/percentiles-e2el.txt $DATA/seeds/prefill-decode.md testdata/seeds\n"

// sweptFolder is the folder of an example that has been swept as its header says. A page may compare its arms.
var sweptFolder = regexp.MustCompile(`\S+-sim\.sweep`)

// scriptOf is a testscript that runs examples one after the other.
func scriptOf(examples []example) string {
	var script, outputs strings.Builder
	script.WriteString("env HF_HUB_CACHE=$DATA/../dataset/hf/testdata/hub\nserver\nenv URL2=$URL\nserver --gpu-power 90,650 --lora-modules sql chat math\ncp $DATA/golden/sharegpt_input.json sharegpt.json\ncp $DATA/seeds/mps-sm-partition.md notes.md\ncp $DATA/golden/inputs/a.png cat.png\ncp $DATA/golden/inputs/tone.wav speech.wav\n" +
		copiedSeeds + "mkdir testdata/documents\n" +
		"cp $DATA/documents/kvcached.yaml $DATA/documents/percentiles.yaml $DATA/documents/prefill-decode.yaml $DATA/documents/ladder.yaml $DATA/documents/sm-partition.yaml testdata/documents\n" +
		"mkdir examples/kvcached-onoff examples/sm-partition\ncp $DATA/../examples/kvcached-onoff/sim.yaml examples/kvcached-onoff\ncp $DATA/../examples/sm-partition/sim.yaml examples/sm-partition\n" +
		"mkdir examples/agents examples/ci\ncp $DATA/../examples/agents/trace.jsonl examples/agents/trace.jsonl\ncp $DATA/../examples/ci/endpoint-gate.yml examples/ci/endpoint-gate.yml\n" +
		"exec servebench compare --save-baseline baseline.jsonl before.json\n")
	for i, e := range examples {
		for _, folder := range sweptFolder.FindAllString(e.command, 1) {
			fmt.Fprintf(&script, "mkdir %s\n", folder)
			for _, arm := range []string{"without", "mps-two", "sm-64"} {
				fmt.Fprintf(&script, "exec servebench run --target a=$URL --metadata arm=%s --num-prompts 2 --random-input-len 8 --random-output-len 2 -o %s.jsonl\n", arm, arm)
			}
			fmt.Fprintf(&script, "exec cat without.jsonl mps-two.jsonl sm-64.jsonl\ncp stdout %s/records.jsonl\n", folder)
		}
		c, file, redirected := strings.Cut(standIns.Replace(e.command), " > ")
		if text, ok := strings.CutPrefix(c, "echo '"); ok && redirected {
			fmt.Fprintf(&outputs, "-- %s --\n%s\n", file, strings.TrimSuffix(text, "'"))
			continue
		}
		fmt.Fprintf(&script, "# %s\n", e.command)
		if strings.HasPrefix(c, "servebench sim") {
			fmt.Fprintf(&script, "exec %s --port 0 --ready-file up%d &sim%d&\nawaitfile up%d\nkill -INT sim%d\nwait sim%d\n", c, i, i, i, i, i)
			continue
		}
		if strings.HasPrefix(c, "servebench selftest") {
			// What it prints is the machine's, and takes its time.
			fmt.Fprintf(&script, "exec %s --streams 4 --duration 200ms --no-store\nstdout .\n", c)
			continue
		}
		if written := picture.FindStringSubmatch(c); written != nil {
			fmt.Fprintf(&script, "exec %s\nexists %s\n", c, written[1])
			continue
		}
		if strings.Contains(c, " --sequential") && !strings.Contains(c, " --max-pairs ") {
			c += " --max-pairs 3" // not as many as this machine takes to decide
		}
		if strings.HasPrefix(c, "servebench compare") || strings.Contains(c, " --sequential") {
			// Its verdict is the machine's, unless the page has it.
			fmt.Fprintf(&script, "exits 0,1,3 %s\n", c)
		} else {
			fmt.Fprintf(&script, "exec %s\nstdout .\n", c)
		}
		if redirected {
			fmt.Fprintf(&script, "cp stdout %s\n", file)
		}
		if e.output != "" {
			fmt.Fprintf(&script, "cmp stdout output%d\n", i)
			fmt.Fprintf(&outputs, "-- output%d --\n%s", i, e.output)
		}
	}
	script.WriteString("-- prompts.jsonl --\n{\"prompt\": \"tok1 tok2 tok3\"}\n{\"prompt\": \"tok4 tok5\"}\n" +
		"-- before.json --\n")
	for i := range 6 { // no two runs take equally long
		script.WriteString(strings.Replace(madeUp, `"duration": 1`, fmt.Sprintf(`"duration": 1.%d`, i+1), 1))
	}
	return script.String() + outputs.String()
}

// madeUp is a result that a baseline is kept of, since runs on a busy machine make
// none.
const madeUp = `{"backend": "openai", "model_id": "m", "num_prompts": 5, "request_rate": "inf", "duration": 1, "completed": 5, "failed": 0,
"total_input_tokens": 50, "total_output_tokens": 50, "output_throughput": 50, "median_ttft_ms": 5, "median_tpot_ms": 2}
`
