// Package reporttest has runs whose reports are in golden files, for tests.
//
// A run is made from records, as in a load test, so a report of it has what a report of a real run has. Golden compares
// a report with its file.
package reporttest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

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

// GoldenJSON is Golden for JSON, with indentation.
func GoldenJSON(t *testing.T, update bool, name string, got []byte) {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, got, "", "  "); err != nil {
		t.Fatal(err)
	}
	Golden(t, update, name, append(b.Bytes(), '\n'))
}

// Narrow checks that text fits a terminal of 120 columns.
func Narrow(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 120 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}
