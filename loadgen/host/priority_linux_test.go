package host

import (
	"os"
	"os/exec"
	"testing"
)

// chrt itself is the judge: what it may do, the run may advise.
func TestWhoMayHavePriority(t *testing.T) {
	want := exec.Command("chrt", "--rr", "10", "true").Run() == nil
	for range 3 { // the attempt leaves no thread with a priority behind
		if got := MayPrioritize(); got != want {
			t.Errorf("may prioritize: %t, and chrt --rr 10 %t", got, want)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if MayPrioritize() {
		t.Error("there is no chrt")
	}
}

// A process with a real-time priority has no use for another one.
func TestWhoHasPriorityNeedsNone(t *testing.T) {
	const prioritized = "SERVEBENCH_TEST_PRIORITIZED"
	switch {
	case os.Getenv(prioritized) != "":
		if MayPrioritize() {
			t.Error("a process with a priority may have one")
		}
	case exec.Command("chrt", "--rr", "10", "true").Run() != nil:
		t.Skip("this user may give no priority")
	default:
		again := exec.Command("chrt", "--rr", "10", os.Args[0], "-test.run", "^TestWhoHasPriorityNeedsNone$")
		again.Env = append(os.Environ(), prioritized+"=1")
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
}
