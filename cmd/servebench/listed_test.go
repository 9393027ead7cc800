package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Whoever follows the documentation leaves files in this repository, so tests read files by name: no test
// fails because of a sweep's folder, a page of a report or somebody's experiment.

// rootPages are the pages at the top.
var rootPages = []string{"CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"}

// linkedPage is a page of docs in their index.
var linkedPage = regexp.MustCompile(`\]\(((?:measured/)?[a-z0-9-]+\.md)[)#]`)

// measured is the folder of the appendix: tables that commands write.
const measured = "docs/measured/"

// docsPages are the pages of docs, by their path from the repository's root: the index, and what it names.
func docsPages(t *testing.T, root string) []string {
	t.Helper()
	index, err := os.ReadFile(filepath.Join(root, "docs/README.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages := []string{"docs/README.md"}
	for _, found := range linkedPage.FindAllStringSubmatch(string(index), -1) {
		if page := "docs/" + found[1]; !slices.Contains(pages, page) {
			pages = append(pages, page)
		}
	}
	return pages
}

// listedExamples are the files of examples, by their path from the repository's root.
func listedExamples(t *testing.T, root string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "cmd/servebench/testdata/examples.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// In a checkout, git knows whether the lists are whole.
func TestListsAreWhole(t *testing.T) {
	for pattern, want := range map[string][]string{
		":(glob)*.md": rootPages, ":(glob)docs/**/*.md": docsPages(t, "../.."), "examples": listedExamples(t, "../.."),
	} {
		cmd := exec.Command("git", "ls-files", "--", pattern)
		cmd.Dir = "../.."
		out, err := cmd.Output()
		if err != nil || len(out) == 0 {
			t.Skipf("no checkout: %v", err)
		}
		slices.Sort(want)
		if got := strings.Fields(string(out)); !slices.Equal(got, want) {
			t.Errorf("%s: git has %q, the list %q", pattern, got, want)
		}
	}
}
