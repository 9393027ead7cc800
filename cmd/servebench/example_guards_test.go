//go:build outside

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The guards of the examples, on what stands in for a GPU: a load is put only on
// servers that are what their arm says.
func TestExamplesProveWhatTheyMeasure(t *testing.T) {
	if testing.Short() {
		t.Skip("the scripts of the examples: in go test without -short")
	}
	t.Parallel()
	const folder = "testdata/guards"
	scriptFiles, err := filepath.Glob(folder + "/*.txtar")
	if err != nil || len(scriptFiles) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	machine, err := os.ReadFile(folder + "/gpu")
	if err != nil {
		t.Fatal(err)
	}
	archive := string(machine) + exampleArchive(t, "kvcached-onoff", "mps", "sm-partition")
	dir := t.TempDir()
	for _, name := range scriptFiles {
		script, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := "[windows] skip 'its commands are for a shell'\n" +
			copiedSeeds + "mkdir shm\nexec sh -c 'chmod +x bin/* examples/*/*.sh'\nenv PATH=$WORK/bin:$PATH\n" +
			"cp $DATA/golden/sharegpt_input.json examples/kvcached-onoff/ShareGPT_V3_unfiltered_cleaned_split.json\n"
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), []byte(text+string(script)+archive), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	testscript.Run(t, scripts(dir))
}

// smaller makes an example that takes hours take a second, and has it leave the
// machine alone.
var smaller = strings.NewReplacer("8100", "${port}", "8101", "${port2}", "12346", "${port}",
	"/tmp/servebench-mps", "../../state", "/dev/shm", "../../shm", "kvcached-metrics: servebench", "kvcached-metrics: ../../shm/servebench", "repeats: 5", "repeats: 1", "repeats: 6", "repeats: 1",
	"num-prompts: 1000", "num-prompts: 3", "num-prompts: 200", "num-prompts: 3", "num-prompts: [200, 2400]", "num-prompts: 3",
	"request-rate: 10", "request-rate: inf", "request-rate: 20", "request-rate: inf", "random-input-len: 1000", "random-input-len: 20",
	"random-output-len: 100", "random-output-len: 3", "solo-first: true", "solo-first: false")

// exampleArchive has the files of examples for a script.
func exampleArchive(t *testing.T, names ...string) string {
	t.Helper()
	var archive strings.Builder
	for _, file := range listedExamples(t, "../..") {
		if !slices.Contains(names, filepath.Base(filepath.Dir(file))) {
			continue
		}
		text, err := os.ReadFile("../../" + file)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&archive, "-- %s --\n%s", file, smaller.Replace(string(text)))
	}
	return archive.String()
}
