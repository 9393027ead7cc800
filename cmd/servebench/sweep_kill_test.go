//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/servebench/servebench/metrics"
)

const killedPlan = `
load: {random-output-len: 3, random-input-len: 8, request-rate: inf, disable-tqdm: true}
grid: {num-prompts: [1, 2, 5]}
repeats: 2
arms:
  - name: one
    url: http://127.0.0.1:${port}
    command: &server 'echo $$ >> PIDS; exec SERVEBENCH sim --port ${port} --step-base 1ms'
  - name: two
    url: http://127.0.0.1:${port2}
    servers:
      - {command: *server, ready: "http://127.0.0.1:${port}/health"}
      - {command: 'echo $$ >> PIDS; exec SERVEBENCH sim --port ${port2} --step-base 1ms'}
`

// A sweep that is killed at any time, and begun again until it ends, has each run
// once, and leaves no server behind.
func TestKilledSweepDoesEachRunOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, pids, plan := filepath.Join(dir, "servebench"), filepath.Join(dir, "pids"), filepath.Join(dir, "plan.yaml")
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("PIDS", pids, "SERVEBENCH", program).Replace(killedPlan)
	if err := os.WriteFile(plan, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	const kills = 12
	for range kills {
		cmd := exec.CommandContext(t.Context(), program, "sweep", plan)
		killAfter(t, cmd, random.IntN(6), random.IntN(3000))
	}
	// Another program may take a port that was free a moment before: what fails by
	// that is done by the same command again.
	var out []byte
	for range 3 {
		if out, err = exec.CommandContext(t.Context(), program, "sweep", plan).CombinedOutput(); err == nil {
			break
		}
	}
	if err != nil {
		t.Fatalf("the last one: %v\n%s", err, out)
	}
	checkJournal(t, filepath.Join(dir, "plan.sweep"))
	checkGone(t, pids)
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
// alone, whole and in its order, in the record stream.
func checkJournal(t *testing.T, dir string) {
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
	sums, err := metrics.Read(records, metrics.Ask{})
	if err != nil || len(sums) != 12 || len(runs) != 12 {
		t.Fatalf("%v: %d runs in the record stream, %d in the journal", err, len(sums), len(runs))
	}
	for i, s := range sums {
		if s.Header.Run != runs[i] || s.Completed != s.Header.Config.NumPrompts || s.Interrupted {
			t.Errorf("run %d of the stream is %s with %d of %d requests, %s in the journal", i, s.Header.Run, s.Completed, s.Header.Config.NumPrompts, runs[i])
		}
	}
}

// checkGone finds none of the processes whose ids are in a file.
func checkGone(t *testing.T, pids string) {
	t.Helper()
	text, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	started := strings.Fields(string(text))
	for _, word := range started {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
			t.Errorf("server %d of %d is still there: %v", pid, len(started), err)
		}
	}
	if len(started) < 6 {
		t.Errorf("only %d servers were started", len(started))
	}
}
