package trust

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/metrics/verdict"
)

var (
	namedCheck = regexp.MustCompile(`verdict\.Check\{\s*Name: ([^,}]+)`)
	checkRow   = regexp.MustCompile("(?m)^\\| `([^`]+)` \\|")
)

// docs/checks.md has a row for each check, and no other. The check of the backlog is about the server.
func TestEachCheckIsDocumented(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	ofAspects, err := filepath.Glob("../aspect/*/check*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, ofAspects...)
	constants := map[string]string{"verdict.FirstToken": verdict.FirstToken, "verdict.BacklogCheck": verdict.BacklogCheck}
	var names []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range namedCheck.FindAllStringSubmatch(string(code), -1) {
			name, constant := constants[found[1]]
			if !constant {
				name = strings.Trim(found[1], `"`)
			}
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) != len(checks) {
		t.Errorf("%d names for %d checks: %q", len(names), len(checks), names)
	}
	page, err := os.ReadFile("../../docs/checks.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := []string{verdict.BacklogCheck}
	for _, row := range checkRow.FindAllStringSubmatch(string(page), -1) {
		rows = append(rows, row[1])
	}
	slices.Sort(rows)
	if !slices.Equal(names, rows) {
		t.Errorf("docs/checks.md has %q, want %q", rows, names)
	}
	if !strings.Contains(string(page), "`"+verdict.BacklogCheck+"`") {
		t.Errorf("docs/checks.md does not name %s", verdict.BacklogCheck)
	}
}
