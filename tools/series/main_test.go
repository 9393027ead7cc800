package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A stand-in for servebench writes a journal of five runs, and ends with the code that the file says.
const standIn = `#!/bin/sh
[ "$1 $3 $4" = "sweep --sequential -o" ] || exit 2
mkdir -p "$5" && printf 'plan\n1\n2\n3\n4\n5\n' >"$5/journal.jsonl"
[ "$6" = --alpha ] && exit $(grep -c "seed: [13]" "$2")
exit 2
`

func TestVerdictsAreCounted(t *testing.T) {
	dir := t.TempDir()
	program, file := filepath.Join(dir, "servebench"), filepath.Join(dir, "aa.yaml")
	if err := os.WriteFile(program, []byte(standIn), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("seed: ${series}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it goes on after the last sweep
		var out bytes.Buffer
		s := series{n: 3, dir: filepath.Join(dir, "all"), program: program, file: file, flags: []string{"--alpha", "0.05"}, out: &out}
		if err := s.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "\n3 sweeps: 1 PASS, 2 REGRESSED, 0 NO VERDICT; pairs: mean 2.0, median 2, most 2;") {
			t.Errorf("%s", &out)
		}
	}
	s := series{n: 1, dir: dir, program: program, file: file, out: &bytes.Buffer{}}
	if err := s.run(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "001.txt") {
		t.Errorf("misuse gives %v", err)
	}
}
