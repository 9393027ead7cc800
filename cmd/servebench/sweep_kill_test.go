//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/stream"
)

const killedPlan = `
load: {random-output-len: 3, random-input-len: 8, request-rate: inf, disable-tqdm: true, append-result: true, result-filename: RESULTS}
grid: {num-prompts: [1, 2, 5]}
repeats: 2
arms:
  - name: one
    url: http://127.0.0.1:${port}
    command: &server 'echo $$ >> STARTED; exec 9>LEASH; exec SERVEBENCH sim --port ${port} --step-base 1ms'
  - name: two
    servers:
      - {command: *server, ready: "http://127.0.0.1:${port}/health"}
      - {command: 'echo $$ >> STARTED; exec 9>LEASH; exec SERVEBENCH sim --port ${port2} --step-base 1ms', ready: "http://127.0.0.1:${port2}/health"}
    load: {target: ["a=http://127.0.0.1:${port}", "b=http://127.0.0.1:${port2}"], solo-first: true}
`

// A sweep that is killed at any time, and begun again until it ends, has each run
// once, and leaves no server behind.
func TestKilledSweepDoesEachRunOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("a sweep that is killed: in go test without -short")
	}
	t.Parallel()
	kills := 6
	if os.Getenv("FULL") == "1" {
		kills = 12
	}
	killSweep(t, killedPlan, kills, 1)
}

// So has a sweep of sessions.
func TestKilledSweepOfSessionsDoesEachRunOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("a sweep that is killed: in go test without -short")
	}
	t.Parallel()
	kills := 3
	if os.Getenv("FULL") == "1" {
		kills = 5
	}
	sessions := "load: {multi-turn: true, multi-turn-num-turns: 3, multi-turn-delay-ms: 5, max-sessions: 2, tokenizer: stub-32000, "
	killSweep(t, strings.Replace(killedPlan, "load: {", sessions, 1), kills, 3)
}

// killSweep kills a sweep of sessions of so many turns, and then lets it end.
func killSweep(t *testing.T, plan string, kills, turns int) {
	dir := t.TempDir()
	program, file, started := program(t, dir), filepath.Join(dir, "plan.yaml"), filepath.Join(dir, "started")
	tied := newLeash(t, filepath.Join(dir, "leash"))
	text := strings.NewReplacer("STARTED", started, "LEASH", tied.Name(), "SERVEBENCH", program,
		"RESULTS", filepath.Join(dir, "results.json")).Replace(plan)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range kills {
		cmd := exec.CommandContext(t.Context(), program, "sweep", file, "-o", filepath.Join(dir, "plan.sweep"))
		killAfter(t, cmd, random.IntN(6), random.IntN(3000))
	}
	// Another program may take a port that was free a moment before: what fails by
	// that is done by the same command again.
	var out []byte
	var err error
	for range 3 {
		if out, err = exec.CommandContext(t.Context(), program, "sweep", file, "-o", filepath.Join(dir, "plan.sweep")).CombinedOutput(); err == nil {
			break
		}
	}
	if err != nil {
		t.Fatalf("the last one: %v\n%s", err, out)
	}
	if !tied.loose(t) {
		t.Error("a server is left")
	}
	if text, err := os.ReadFile(started); err != nil || bytes.Count(text, []byte("\n")) < 6 {
		t.Errorf("only %q were started: %v", text, err)
	}
	checkJournal(t, filepath.Join(dir, "plan.sweep"), turns)
	checkResults(t, filepath.Join(dir, "results.json"))
}

// killAfter runs cmd and kills it, if it has not ended, some looks after it has
// printed so many lines on stderr.
func killAfter(t *testing.T, cmd *exec.Cmd, lines, looks int) {
	t.Helper()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(stderr)
	for range lines {
		if _, err := said.ReadString('\n'); err != nil {
			break
		}
	}
	for range looks {
		os.Stat(cmd.Path)
	}
	cmd.Process.Kill()
	io.Copy(io.Discard, said)
	cmd.Wait()
}

// checkJournal finds each cell once in the journal, and the runs of the journal
// alone, whole and in its order, in the record stream. Each session has so many turns.
func checkJournal(t *testing.T, dir string, turns int) {
	t.Helper()
	journal, err := os.ReadFile(filepath.Join(dir, "journal.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var runs []string
	cells := map[string]int{}
	for _, line := range bytes.Split(bytes.TrimSpace(journal), []byte("\n"))[1:] {
		var entry struct{ Cell, Run, Failed string }
		if err := json.Unmarshal(line, &entry); err != nil {
			t.Errorf("%v in the journal's line %s", err, line)
		}
		if entry.Failed != "" { // and was tried again
			continue
		}
		cells[entry.Cell]++
		runs = append(runs, entry.Run)
	}
	for _, arm := range []string{"one", "two"} {
		for cell := range 6 {
			if name := fmt.Sprintf("%s/%d/%d", arm, cell/2+1, cell%2+1); cells[name] != 1 {
				t.Errorf("%s was done %d times", name, cells[name])
			}
		}
	}
	records, err := os.Open(filepath.Join(dir, "records.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer records.Close()
	sums, err := stream.Read(records, metrics.Ask{})
	if err != nil || len(runs) != 12 {
		t.Fatalf("%v: %d runs in the journal", err, len(runs))
	}
	for _, run := range runs {
		parts := 1
		if len(sums) > 0 && sums[0].Header.Group != "" {
			parts = 4 // each of two targets alone, and both together
		}
		for _, s := range sums[:min(parts, len(sums))] {
			if id := cmp.Or(s.Header.Group, s.Header.Run); id != run || s.Completed != turns*s.Header.Config.NumPrompts || s.Ending.Interrupted {
				t.Errorf("the stream has %s with %d requests of %d sessions, the journal %s", id, s.Completed, s.Header.Config.NumPrompts, run)
			}
		}
		sums = sums[min(parts, len(sums)):]
	}
	if len(sums) > 0 {
		t.Errorf("%d runs of the stream are not in the journal", len(sums))
	}
}

// checkResults finds no run twice in the result files. One may lack that was
// killed just after it was taken down.
func checkResults(t *testing.T, name string) {
	t.Helper()
	files, err := filepath.Glob(strings.Replace(name, ".", "*.", 1))
	if err != nil || len(files) < 5 {
		t.Errorf("%q: %v", files, err)
	}
	seen := map[string]bool{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			var result struct {
				Arm, Repeat, Target, Alone string
				NumPrompts                 int `json:"num_prompts"`
			}
			if json.Unmarshal(line, &result) != nil {
				continue // it was killed while it wrote
			}
			if key := fmt.Sprint(result); seen[key] {
				t.Errorf("%s is there twice", key)
			} else {
				seen[key] = true
			}
		}
	}
	if len(seen) == 0 {
		t.Error("there are no results")
	}
}
