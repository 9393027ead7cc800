//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// await waits until a file is there.
func await(t *testing.T, name string) {
	t.Helper()
	if !eventually(func() bool { _, err := os.Stat(name); return err == nil }) {
		t.Fatalf("%s never came", name)
	}
}

// daemon leaves the group, the session and its parent, and lives on.
const daemon = `(setsid sh -c 'exec 9>leash; touch up; exec sleep 1000' &); `

// startSweep starts a sweep of a plan, in a folder of its own.
func startSweep(t *testing.T, dir, plan string) (cmd *exec.Cmd, talk *strings.Builder) {
	t.Helper()
	self := program(t, dir)
	if err := os.WriteFile(filepath.Join(dir, "plan.yaml"), []byte(strings.ReplaceAll(plan, "SERVEBENCH", self)), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd, talk = exec.Command(self, "sweep", "plan.yaml"), new(strings.Builder)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, talk, talk
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, talk
}

// fugitive is a plan whose server makes a daemon, and says who holds it.
const fugitive = `
load: {num-prompts: 1}
arms:
  - name: a
    url: http://127.0.0.1:${port}
    command: "[ -z $FAIL ] || exit 7; ` + daemon + `(exec 9>leash; exec sleep 1000) & echo $PPID > pid; mv pid holder; wait # ${port}"
`

// holderIn is the process id of the holder of a fugitive.
func holderIn(t *testing.T, dir string) int {
	t.Helper()
	await(t, filepath.Join(dir, "holder"))
	text, err := os.ReadFile(filepath.Join(dir, "holder"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// A holder that is killed fails its run, and leaves nothing either.
func TestDaemonsEndWhenTheirHolderIsKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tied := newLeash(t, filepath.Join(dir, "leash"))
	cmd, talk := startSweep(t, dir, fugitive)
	await(t, filepath.Join(dir, "up"))
	if err := syscall.Kill(holderIn(t, dir), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(talk.String(), "the server ended with signal: killed") {
		t.Errorf("%v\n%s", err, talk)
	}
	if !tied.loose(t) {
		t.Error("the daemon is left")
	}
}

// A holder that somebody has stopped, and its server, end with the first interrupt.
func TestStoppedHolderEndsWithTheFirstInterrupt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tied := newLeash(t, filepath.Join(dir, "leash"))
	cmd, talk := startSweep(t, dir, fugitive)
	await(t, filepath.Join(dir, "up"))
	if err := syscall.Kill(holderIn(t, dir), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(patience, func() { cmd.Process.Kill() })
	defer late.Stop()
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != exitInterrupted {
		t.Errorf("%v\n%s", err, talk)
	}
	if !tied.loose(t) {
		t.Error("the daemon is left")
	}
}

// A holder that breaks down leaves nothing either.
func TestDaemonsEndWhenTheirHolderBreaksDown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tied := newLeash(t, filepath.Join(dir, "leash"))
	cmd, talk := startSweep(t, dir, fugitive)
	await(t, filepath.Join(dir, "up"))
	if err := syscall.Kill(holderIn(t, dir), syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(talk.String(), "the server ended with exit status 2") {
		t.Errorf("%v\n%s", err, talk)
	}
	if !tied.loose(t) {
		t.Error("the daemon is left")
	}
}

// What is left when a sweep is killed together with its holders ends with the next.
func TestNextSweepEndsWhatIsLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tied := newLeash(t, filepath.Join(dir, "leash"))
	cmd, _ := startSweep(t, dir, fugitive)
	await(t, filepath.Join(dir, "up"))
	holder := holderIn(t, dir)
	for _, pid := range []int{cmd.Process.Pid, holder} {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	for _, pid := range []int{holder, cmd.Process.Pid} {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	cmd.Wait()
	if tied.loose(t) {
		t.Fatal("the daemon has ended with them: there is nothing to be seen here")
	}
	again := exec.Command(cmd.Path, "sweep", "plan.yaml")
	again.Dir, again.Env = dir, append(os.Environ(), "FAIL=1")
	if talk, err := again.CombinedOutput(); err == nil || !strings.Contains(string(talk), "the server ended with exit status 7") {
		t.Errorf("%v\n%s", err, talk)
	}
	if !tied.loose(t) {
		t.Error("the daemon is left")
	}
}

// So does the command between runs, when the sweep is killed.
func TestCommandsBetweenRunsEndWithTheSweep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tied := newLeash(t, filepath.Join(dir, "leash"))
	cmd, _ := startSweep(t, dir, `
load: {num-prompts: 1}
arms: [{name: a, url: "http://127.0.0.1:1"}]
between: {command: "`+daemon+`exec 9>leash; exec sleep 1000"}
`)
	await(t, filepath.Join(dir, "up"))
	cmd.Process.Kill()
	cmd.Wait()
	tied.awaitLoose(t)
}
