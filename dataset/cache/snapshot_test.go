package cache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	path := filepath.Join(folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestSnapshot(t *testing.T) {
	const one, two = "snapshots/11/a.json", "snapshots/22/a.json"
	for _, c := range []struct {
		main  string
		files []string
		want  string // or the end of the error
	}{
		{"22", []string{one, two}, "snapshots/22"},
		{"22\n", []string{one, two}, "snapshots/22"},
		{"", []string{one}, "snapshots/11"},
		{"33", []string{one}, "snapshots/11"},
		{"", []string{one, two}, "no refs/main"},
		{"33", []string{one, two}, "no snapshots/33"},
		{"33", nil, "no snapshots/33"},
		{"22", []string{"snapshots/22", one}, "no snapshots/22"},
		{"", nil, "no refs/main"},
	} {
		folder := t.TempDir()
		if c.main != "" {
			write(t, folder, "refs/main", c.main)
		}
		for _, name := range c.files {
			write(t, folder, name, "{}")
		}
		got, err := Snapshot(folder)
		if err != nil {
			got = err.Error()
		}
		if got = filepath.ToSlash(strings.Replace(got, folder+string(filepath.Separator), "", 1)); got != c.want {
			t.Errorf("main %q, %q: %s, want %s", c.main, c.files, got, c.want)
		}
	}
}

// A cache that the user may not read is no empty cache. Here a folder is where the file is to be.
func TestASnapshotThatCannotBeRead(t *testing.T) {
	folder := t.TempDir()
	if _, err := Snapshot(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want that it does not exist", err)
	}
	write(t, folder, "refs/main/x", "")
	if got, err := Snapshot(folder); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s, %v", got, err)
	}
}
