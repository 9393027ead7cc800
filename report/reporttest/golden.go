// Package reporttest has runs whose reports are in golden files, for tests.
package reporttest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Golden compares a text with a file of testdata, or writes the file.
func Golden(t *testing.T, update bool, name string, got []byte) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s:\n%s", name, diff)
	}
}

// Widths are widths of terminals in columns, also absurd ones.
func Widths() []int {
	all := []int{133, 200, 1 << 20, -1, -80}
	for i := range 101 {
		all = append(all, i)
	}
	return all
}
