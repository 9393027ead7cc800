package main

import (
	"errors"
	"fmt"
	"strings"
)

// strayError says why a word belongs to nothing.
func (t table) strayError(tok *token) error {
	if tok.kind != option {
		return fmt.Errorf("unrecognized arguments: %s: every argument belongs to a flag", tok.text)
	}
	name, _, _ := strings.Cut(tok.text, "=")
	err := fmt.Sprintf("unknown flag %s", name)
	if near := t.nearest(name); near != "" {
		err += ": did you mean " + near + "?"
	}
	return errors.New(err)
}

// nearest is the flag whose name takes the fewest edits to become the one given,
// empty when all are far from it.
func (t table) nearest(name string) string {
	name = strings.TrimLeft(name, "-")
	best, fewest := "", 1+len(name)/3
	for f := range t.all() {
		if n := edits(f.name, name); n <= fewest && (best == "" || n < fewest) {
			best, fewest = "--"+f.name, n
		}
	}
	return best
}

// edits is the Levenshtein distance between two strings.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
