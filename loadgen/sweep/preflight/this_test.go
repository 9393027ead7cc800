package preflight

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// A module is found, or not, without an import.
func TestModulesAreFoundWithoutAnImport(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("there is no python3")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "slow_module.py"), []byte("raise SystemExit('imported')\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PYTHON", "python3")
	t.Setenv("PYTHONPATH", dir)
	l := &look{ctx: t.Context(), machine: This(), plan: plan(t, "needs: {python: [slow_module, no_such_module]}")}
	want := []Finding{fine("python", "slow_module"),
		missing("python", "install it, or name another Python by PYTHON", "no_such_module is not there for python3 (no such module)")}
	if got := modules(l); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if !listens(address) {
		t.Error("a port in use is free")
	}
	if l.Close(); listens(address) {
		t.Error("a free port is in use")
	}
}

func TestTheDiskOfAFolderThatIsNotThereYet(t *testing.T) {
	here, known := freeDisk(t.TempDir())
	_, also := freeDisk(filepath.Join(t.TempDir(), "a", "b"))
	if known != also || known && here <= 0 {
		t.Errorf("%d, %v, %v", here, known, also)
	}
}
