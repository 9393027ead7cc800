//go:build release

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReleaseLinesForACloneWork runs the lines of docs/install.md that install from a
// clone in a clone of this one, and uses what each has installed.
func TestReleaseLinesForACloneWork(t *testing.T) {
	page, err := os.ReadFile("../../docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Clone\n")
	section, _, _ = strings.Cut(section, "\n## ")
	lines := ""
	for _, block := range strings.Split(section, "```sh\n")[1:] { // each is a way to install
		text, _, _ := strings.Cut(block, "```")
		lines += text
	}
	if strings.Count(lines, "\n") != 5 {
		t.Fatalf("the page has the lines %q", lines)
	}
	clone, venv, bin := t.TempDir(), t.TempDir(), t.TempDir()
	tool(t, "git", "clone", "--quiet", "../..", clone)
	tool(t, "python3", "-m", "venv", venv)
	t.Setenv("PATH", venv+"/bin:"+os.Getenv("PATH"))
	t.Setenv("GOBIN", bin)
	t.Setenv("GOFLAGS", "-buildvcs=auto") // as where it is not set, so that go install records the commit
	sh := exec.CommandContext(t.Context(), "sh", "-exc", lines)
	sh.Dir = clone
	if out, err := sh.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	commit := strings.TrimSpace(tool(t, "git", "-C", clone, "rev-parse", "HEAD"))
	for _, program := range []string{filepath.Join(clone, "bin/servebench"), filepath.Join(bin, "servebench"), filepath.Join(venv, "bin/servebench")} {
		installed := place{program: program, folder: t.TempDir()}
		said := installed.output(t, "--version")
		if !strings.Contains(said, "\ncommit:   "+commit+"\n") {
			t.Errorf("%s --version printed %q, want the commit %s", program, said, commit)
		}
		version, _, _ := strings.Cut(strings.TrimPrefix(said, "servebench version "), "\n")
		installed.works(t, version)
	}
	binary, err := os.ReadFile(filepath.Join(clone, "bin/servebench"))
	if err != nil {
		t.Fatal(err)
	}
	version := strings.TrimSpace(tool(t, "git", "-C", clone, "describe", "--tags", "--always"))
	root := unpack(t, []file{{"servebench", 0o755, binary}})
	place{root: root, program: "/servebench", folder: "/"}.works(t, strings.TrimPrefix(version, "v"))
}
