package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// Every `$ servebench` line of the README runs, against a simulated server in
// the place of the one that it names, with files of the names it uses.
func TestReadmeCommandsRun(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := readmeCommands(string(text))
	if len(commands) < 8 {
		t.Fatalf("found %d commands: %q", len(commands), commands)
	}
	var script strings.Builder
	script.WriteString("server\ncp $DATA/golden/sharegpt_input.json sharegpt.json\ncp $DATA/seeds/mps-sm-partition.md notes.md\n")
	for _, c := range commands {
		c = strings.ReplaceAll(c, "http://127.0.0.1:8000", "$URL")
		if strings.HasPrefix(c, "servebench sim") {
			fmt.Fprintf(&script, "exec %s --port 0 --ready-file up &sim&\nawaitfile up\nkill -INT sim\nwait sim\n", c)
		} else {
			fmt.Fprintf(&script, "exec %s\nstdout .\n", c)
		}
	}
	script.WriteString("-- prompts.jsonl --\n{\"prompt\": \"tok1 tok2 tok3\"}\n{\"prompt\": \"tok4 tok5\"}\n")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "readme.txtar"), []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, scripts(dir))
}

// readmeCommands are the commands in fenced blocks, continued lines joined.
func readmeCommands(text string) []string {
	var commands []string
	fenced := false
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", "")) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if c, ok := strings.CutPrefix(strings.TrimSpace(line), "$ "); ok && fenced {
			commands = append(commands, c)
		}
	}
	return commands
}
