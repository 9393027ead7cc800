package hold_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/servebench/servebench/loadgen/sweep/hold"
)

// holding runs a command of the shell in dir.
func holding(t *testing.T, dir, command string) *hold.Hold {
	t.Helper()
	keeper, err := hold.Open(t.Context(), t.TempDir(), 0, func() {})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { keeper.Close() })
	h, err := keeper.Start(&hold.Command{Args: []string{"sh", "-c", command}, Grace: time.Minute, Dir: dir, Output: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// fifo makes a named pipe, and says whether no process has it open for writing.
func fifo(t *testing.T, name string) (closed func() bool) {
	t.Helper()
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	return func() bool {
		n, err := syscall.Read(fd, make([]byte, 1))
		return n == 0 && err == nil
	}
}

// await waits until the other end of a named pipe is open.
func await(t *testing.T, name string) {
	t.Helper()
	if _, err := os.ReadFile(name); err != nil {
		t.Fatal(err)
	}
}

// pipe makes a named pipe for await.
func pipe(t *testing.T, name string) {
	t.Helper()
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
}

// The shell dies of SIGTERM at once; what it has started has its time.
func TestServersOfAShellHaveTheirGrace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe(t, filepath.Join(dir, "up"))
	h := holding(t, dir,
		`sh -c 'trap "sleep 0.3; touch clean; exit" TERM; : >up; while :; do sleep 0.01; done' & wait`)
	await(t, filepath.Join(dir, "up"))
	h.End()
	if h.Err() != nil {
		t.Error(h.Err())
	}
	if _, err := os.Stat(filepath.Join(dir, "clean")); err != nil {
		t.Error("it was killed before it had cleaned up")
	}
}

// daemon leaves the group, the session and its parent, and lives on.
const daemon = `(setsid sh -c 'exec 9>leash; : >up; exec sleep 1000' &); `

func TestDaemonsEndWithTheirServer(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]string{
		"stopped":   "sleep 1000",
		"by shell":  "sleep 1000 & wait",
		"by itself": "read line <go; exit 3",
	} {
		dir := t.TempDir()
		closed := fifo(t, filepath.Join(dir, "leash"))
		pipe(t, filepath.Join(dir, "up"))
		pipe(t, filepath.Join(dir, "go"))
		h := holding(t, dir, daemon+end)
		await(t, filepath.Join(dir, "up"))
		if name == "by itself" {
			if err := os.WriteFile(filepath.Join(dir, "go"), []byte("\n"), 0); err != nil {
				t.Fatal(err)
			}
			<-h.Ended.Done()
			if h.Err() == nil || h.Err().Error() != "exit status 3" {
				t.Errorf("%s: %v", name, h.Err())
			}
		} else if h.End(); h.Err() != nil {
			t.Errorf("%s: %v", name, h.Err())
		}
		if !closed() {
			t.Errorf("%s: the daemon is left", name)
		}
	}
}

func TestServersTakeSIGINT(t *testing.T) {
	t.Parallel()
	h := holding(t, t.TempDir(), `trap 'exit 5' INT; kill -INT $$; exit 3`)
	<-h.Ended.Done()
	if h.Err() == nil || h.Err().Error() != "exit status 5" {
		t.Errorf("%v: the signal was ignored", h.Err())
	}
}

func TestACommandThatIsKilledEndsAsAShellHasIt(t *testing.T) {
	t.Parallel()
	h := holding(t, t.TempDir(), `kill -KILL $$`)
	<-h.Ended.Done()
	if h.Err() == nil || h.Err().Error() != "exit status 137" {
		t.Error(h.Err())
	}
}
