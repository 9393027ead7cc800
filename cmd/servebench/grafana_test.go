//go:build live && linux

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// grafanaPackages are Grafana's own types of a dashboard, and what reads them.
var grafanaPackages = []string{"@grafana/schema@13.2.3", "typescript@5.9.3"}

// The dashboard has the keys and types that Grafana's schema has. Grafana itself is in
// none of the package registries that we know.
func TestLiveDashboardHasGrafanasTypes(t *testing.T) {
	dir := grafanaTypes(t)
	board, err := os.ReadFile(dashboard + "grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	if said, err := typeCheck(t, dir, string(board)); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
	misspelt := strings.Replace(string(board), `"gridPos"`, `"gridPosition"`, 1)
	if said, err := typeCheck(t, dir, misspelt); err == nil || !strings.Contains(said, "'\"gridPosition\"' does not exist") {
		t.Errorf("a misspelt key passes: %v\n%s", err, said)
	}
}

// typeCheck reads a dashboard in JSON as a value of Grafana's types.
func typeCheck(t *testing.T, dir, board string) (said string, err error) {
	t.Helper()
	text := "import type { Dashboard, Panel } from '@grafana/schema';\n" +
		"export const board: Omit<Dashboard, 'panels'> & { panels: Panel[] } = " + board
	if err := os.WriteFile(filepath.Join(dir, "board.ts"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	tsc := exec.CommandContext(t.Context(), "node", "node_modules/typescript/bin/tsc", "--noEmit", "--strict", "--skipLibCheck",
		"--module", "esnext", "--moduleResolution", "bundler", "--target", "es2022", "board.ts")
	tsc.Dir = dir
	out, err := tsc.CombinedOutput()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), err
}

// grafanaTypes is a folder with grafanaPackages, which npm fetches.
func grafanaTypes(t *testing.T) (dir string) {
	t.Helper()
	for _, program := range []string{"npm", "node"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("there is no %s: apt-get install npm", program)
		}
	}
	dir = t.TempDir()
	args := append([]string{"install", "--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund"}, grafanaPackages...)
	fetch := exec.CommandContext(t.Context(), "npm", args...)
	fetch.Dir = dir
	if out, err := fetch.CombinedOutput(); err != nil {
		t.Skipf("npm does not fetch %q: %v\n%s", grafanaPackages, err, out)
	}
	return dir
}
