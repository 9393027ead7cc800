//go:build unix

package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/servebench/servebench/metrics/stream"
)

// kills is how often runs are killed where KILLS does not say.
const kills = 8

// written is for how long at most a request may have ended before its record is in
// the file.
const written = 100 * time.Millisecond

// killedRuns are ways to run, with hundreds of requests in flight and hundreds a
// second. A and B are servers.
var killedRuns = []string{
	"--base-url A --request-rate 300 -o run.jsonl",
	"--base-url A --request-rate 300 -o -",
	"--base-url A --request-rate 300 -o run.jsonl --save-result --save-detailed --hlog run.hlog",
	"--base-url A --request-rate 300 -o run.jsonl --record requests --server-metrics --plot-timeline --metrics-addr 127.0.0.1:0",
	"--target a=A b=B --request-rate 150 -o run.jsonl",
	"--base-url A --max-concurrency 200 -o run.jsonl",
	"--base-url A --request-rate 300 --compress zstd -o run.jsonl",
	"--base-url A --max-concurrency 200 --compress zstd -o -",
}

// Whenever a run is killed, each request that its server had answered 100 ms before
// is in its file, and the file can be reported, or the report says that it was cut before a request had ended.
func TestKilledRunLosesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("killed runs: in go test without -short")
	}
	t.Parallel()
	n := kills
	if text := os.Getenv("KILLS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	k := killer{program: program(t, t.TempDir()), servers: map[string]*ledger{"a": newLedger(t), "b": newLedger(t)}, late: newLateness(t)}
	const atOnce = 2
	for worker := range atOnce {
		t.Run(fmt.Sprint(worker), func(t *testing.T) {
			t.Parallel()
			for i := worker; i < n; i += atOnce {
				k.kill(t, i)
			}
		})
	}
}

// A killer kills runs on its servers.
type killer struct {
	program string
	servers map[string]*ledger // by name of the target
	late    *lateness
}

// kill ends the i-th run some time after its first answer.
func (k *killer) kill(t *testing.T, i int) {
	t.Helper()
	prefix := fmt.Sprintf("k%d-", i)
	urls := strings.NewReplacer("A", k.servers["a"].URL, "B", k.servers["b"].URL)
	args := strings.Fields("run --num-prompts 100000 --random-input-len 8 --random-output-len 8 --disable-tqdm --request-id-prefix " + prefix +
		" " + urls.Replace(killedRuns[i%len(killedRuns)]))
	cmd, stream := k.command(t, args)
	first := k.servers["a"].first(prefix)
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-first:
	case err := <-ended:
		t.Fatalf("%v: it ended: %v\n%s", args, err, &said)
	}
	before := runDelays(t, cmd.Process.Pid)
	// What is killed knows no fake time.
	<-time.After(time.Duration(rand.New(rand.NewPCG(7, uint64(i))).Int64N(int64(time.Second / 2))))
	at := time.Now()
	late := k.late.before(at)
	for thread, waited := range runDelays(t, cmd.Process.Pid) {
		late = max(late, waited-before[thread])
	}
	cmd.Process.Kill()
	<-ended
	k.check(t, stream, prefix, at, late)
}

// command is a run in a folder of its own, and the stream that it leaves.
func (k *killer) command(t *testing.T, args []string) (cmd *exec.Cmd, stream string) {
	t.Helper()
	dir := t.TempDir()
	stream = filepath.Join(dir, "run.jsonl")
	cmd = exec.CommandContext(t.Context(), k.program, args...)
	cmd.Dir = dir
	if args[len(args)-1] == "-" {
		file, err := os.Create(stream)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		cmd.Stdout = io.MultiWriter(file) // which is no file: a pipe lies between, and Wait waits for its end
	}
	return cmd, stream
}

// check finds in the stream what was answered in time before a run was killed. On a
// machine that gave the run no time to read an answer, its record may be as much later.
func (k *killer) check(t *testing.T, stream, prefix string, killed time.Time, late time.Duration) {
	t.Helper()
	ended, targets := recorded(t, stream)
	answered, lacking := 0, time.Duration(0)
	for target, server := range k.servers {
		if !targets[target] {
			target = ""
		}
		for id, at := range server.answered(prefix) {
			answered++
			if end, there := ended[target+"/"+id]; there {
				late = max(late, end.Sub(at))
			} else {
				lacking = max(lacking, killed.Sub(at))
			}
		}
	}
	t.Logf("%s%d answered, %d recorded; what lacks was answered up to %v before the kill; the machine kept us waiting for up to %v",
		prefix, answered, len(ended), lacking, late)
	if lacking >= written+late {
		t.Errorf("%s: a request lacks that was answered %v before the kill", prefix, lacking)
	}
	var out, talk strings.Builder
	cmd := newReportCommand()
	cmd.SetArgs([]string{"--extended", stream})
	cmd.SetOut(&out)
	cmd.SetErr(&talk)
	err := cmd.Execute()
	if len(ended) == 0 { // the machine was late for all of them
		if err == nil || !strings.Contains(err.Error(), "cut before") {
			t.Errorf("report of a run without a request: %v", err)
		}
		return
	}
	if err != nil || !strings.Contains(out.String(), "Serving Benchmark Result") || !strings.Contains(talk.String(), "was cut: it has no end line") {
		t.Errorf("report: %v\n%s%s", err, &out, &talk)
	}
}

// recorded are the requests in a stream, as TARGET/ID, with when they had been read
// to their end, and the targets.
func recorded(t *testing.T, name string) (ended map[string]time.Time, targets map[string]bool) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	ended, targets = map[string]time.Time{}, map[string]bool{}
	var epoch time.Time // of all targets
	for e, err := range stream.NewReader(file).Entries() {
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case e.Header != nil:
			epoch, targets[e.Header.Target] = e.Header.Epoch, true
		case e.Record != nil:
			ended[e.Record.Target+"/"+e.Record.ID] = epoch.Add(e.Record.Times.End)
		}
	}
	return ended, targets
}

// runDelays is how long each thread of a process has waited for a processor, by the
// second number of its schedstat in proc(5), where there is one.
func runDelays(t *testing.T, pid int) map[string]time.Duration {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		t.Fatal(err)
	}
	waited := map[string]time.Duration{}
	for _, name := range threads {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // that thread has ended
		}
		var ran, queued time.Duration
		if _, err := fmt.Sscan(string(text), &ran, &queued); err != nil {
			t.Fatalf("%s: %q: %v", name, text, err)
		}
		waited[name] = queued
	}
	return waited
}

// A lateness is how much later than it wanted this process ran, as a machine with
// other work has it.
type lateness struct {
	mu   sync.Mutex
	seen []delay
}

// A delay is one that ended at a time.
type delay struct {
	at time.Time
	by time.Duration
}

// newLateness watches until the test ends.
func newLateness(t *testing.T) *lateness {
	l := new(lateness)
	tick := time.NewTicker(time.Millisecond)
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for last := time.Now(); ; {
			select {
			case <-done:
				return
			case <-tick.C:
			}
			now := time.Now()
			if by := now.Sub(last) - time.Millisecond; by > 10*time.Millisecond {
				l.mu.Lock()
				l.seen = append(l.seen, delay{now, by})
				l.mu.Unlock()
			}
			last = now
		}
	})
	t.Cleanup(func() {
		tick.Stop()
		close(done)
		watching.Wait()
	})
	return l
}

// before is how long this process waited in the second before a time.
func (l *lateness) before(at time.Time) (waited time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range l.seen {
		if at.Sub(d.at) < time.Second {
			waited += d.by
		}
	}
	return waited
}
