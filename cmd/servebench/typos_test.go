//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// testdata/typos.txt has what people type in their first minutes, and what servebench
// says: the lines of stderr that are about it, and the exit code. In it URL is a server,
// HOST and PORT are its address.
func TestTypos(t *testing.T) {
	if testing.Short() {
		t.Skip("some seventy commands: in go test without -short")
	}
	t.Parallel()
	const golden = "testdata/typos.txt"
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	url, wait, err := launchSim(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { wait() })
	dir := t.TempDir()
	program(t, dir)
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"x.txt": "hello\n", "empty.jsonl": "",
		"chat.json": `[{"conversations": [{"value": "tok1 tok2 tok3 tok4"}, {"value": "tok1 tok2 tok3 tok4"}]}]`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	host, port, _ := strings.Cut(strings.TrimPrefix(url, "http://"), ":")
	var got strings.Builder
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.HasPrefix(line, "#"), line == "\n":
			got.WriteString(line)
		case strings.HasPrefix(line, "$ "):
			typed := strings.NewReplacer("URL", url, "HOST", host, "PORT", port).Replace(strings.TrimPrefix(line, "$ "))
			said := strings.NewReplacer(url, "URL", host+":"+port, "HOST:PORT", "--port "+port, "--port PORT", dir, "DIR").Replace(unlisted(saysTo(t, dir, typed)))
			got.WriteString(line + said)
		}
	}
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(text), got.String()); diff != "" && !*update {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// ofMachine is before a number that is the machine's.
var ofMachine = regexp.MustCompile(`(the limit is |in all, and )[0-9.]+`)

// saysTo is what a command line is answered with, in a folder.
func saysTo(t *testing.T, dir, line string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + dir, "HOME=" + dir}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var said strings.Builder
	for line := range strings.Lines(stderr.String()) {
		if strings.HasPrefix(line, "servebench") || strings.HasPrefix(line, "WARNING") || strings.Contains(line, " is taken as ") {
			said.WriteString("  " + line)
		}
	}
	return fmt.Sprintf("%s  exit %d\n", ofMachine.ReplaceAllString(said.String(), "${1}N"), cmd.ProcessState.ExitCode())
}
