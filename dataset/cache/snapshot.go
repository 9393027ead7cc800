// Package cache knows where the programs of Hugging Face keep what they download on this machine. It
// downloads nothing.
//
// The Folders follow from the environment. A repository in the folder Hub has snapshots, one for each
// revision, and Snapshot chooses one.
package cache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Model is the folder of a model, "org/name" or "name".
func (f Folders) Model(name string) string { return f.repository("models", name) }

// Dataset is the folder of a dataset such as openai/gsm8k.
func (f Folders) Dataset(name string) string { return f.repository("datasets", name) }

func (f Folders) repository(kind, name string) string {
	return filepath.Join(f.Hub, kind+"--"+strings.ReplaceAll(name, "/", "--"))
}

// Snapshot is the folder of a repository at the revision main, or at the only revision that is
// there. Without one, the error says where it looked, and is fs.ErrNotExist. The programs of Hugging
// Face take only main; who fetched one revision by its commit has no main, and means that one.
func Snapshot(repository string) (string, error) {
	snapshots := filepath.Join(repository, "snapshots")
	place := filepath.Join(repository, "refs", "main")
	commit, err := os.ReadFile(place)
	if err == nil {
		place = filepath.Join(snapshots, strings.TrimSpace(string(commit)))
		var info fs.FileInfo
		if info, err = os.Stat(place); err == nil && info.IsDir() {
			return place, nil
		}
	}
	if entries, err := os.ReadDir(snapshots); err == nil && len(entries) == 1 {
		return filepath.Join(snapshots, entries[0].Name()), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return "", absent(place)
}

// absent is the path of what is not there.
type absent string

func (a absent) Error() string { return "no " + string(a) }

func (a absent) Unwrap() error { return fs.ErrNotExist }
