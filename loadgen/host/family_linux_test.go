package host

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/servebench/servebench/metrics/gpu"
)

// In this tree, 10 is a script that started this process, 11, a server, 12, with an engine, 13, and
// something else, 14. The server 20 is in a group with 21, which started 22 in another group.
func TestAFamilyIsGroupsAndDescendants(t *testing.T) {
	root := t.TempDir()
	for pid, stat := range map[int]string{
		1: "1 (init) S 0 1 1", 10: "10 (a) script)) S 1 10 10", 11: "11 (servebench) S 10 10 10", 12: "12 (api) S 10 10 10",
		13: "13 (engine) S 12 10 10", 14: "14 (other) S 10 10 10", 20: "20 (api) S 1 20 20", 21: "21 (shard) S 1 20 20",
		22: "22 (worker) S 21 22 22", 30: "30 (of a hidden one) S 31 30 30",
	} {
		dir := filepath.Join(root, strconv.Itoa(pid))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"stat": stat + " 0 -1 0\n", "comm": "a program\n", "environ": "A=1\x00B=2 3\x00"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	fs := procFS(root)
	f := fs.family(11, []int{0, 12, 20, 99})
	var members []int
	for pid := range 40 {
		member, there := f.has(pid)
		if member {
			members = append(members, pid)
		}
		if want := fs.program(pid) != "" && pid != 30 || pid == 0; there != want {
			t.Errorf("%d is known: %v", pid, there)
		}
	}
	if want := []int{12, 13, 20, 21, 22}; !slices.Equal(members, want) {
		t.Errorf("the family is %v, want %v", members, want)
	}
	if env := fs.environment(12); !slices.Equal(env, []string{"A=1", "B=2 3"}) || len(fs.environment(99)) > 0 {
		t.Errorf("the environment is %q", env)
	}
}

// A server may run in this process, as in a Go test: its CPU time is ours.
func TestThisProcessIsNoServer(t *testing.T) {
	if slices.Contains(FamilyOf(os.Getpid()).members(), os.Getpid()) {
		t.Error("the CPU time of this process counts twice")
	}
}

func TestThisProcessIsInItsFamily(t *testing.T) {
	f := FamilyOf(os.Getpid())
	if member, there := f.has(os.Getpid()); !member || !there || programOf(os.Getpid()) == "" || Environment(os.Getpid()) == nil {
		t.Errorf("this process: %v, %v, %q", member, there, programOf(os.Getpid()))
	}
	if member, there := f.has(os.Getppid()); member || !there {
		t.Errorf("its parent: %v, %v", member, there)
	}
}

func TestWhoOwnsAProcess(t *testing.T) {
	me, parent := os.Getpid(), os.Getppid()
	const absent = 1 << 30 // greater than any id of Linux
	for _, mps := range []bool{false, true} {
		owner := OwnerAmong([]int{me}, mps)
		for pid, want := range map[int]gpu.Owner{me: gpu.Server, parent: gpu.Foreign, absent: gpu.Hidden} {
			if got := owner(pid); got != want {
				t.Errorf("MPS %v: %d is %s, want %s", mps, pid, got, want)
			}
		}
	}
}
