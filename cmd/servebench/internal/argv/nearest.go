package argv

import (
	"fmt"
	"strings"
)

// strayError says why a word belongs to nothing.
func (f *Flags) strayError(tok *token) error {
	if tok.kind != option {
		return fmt.Errorf("unrecognized arguments: %s: there are no arguments beside flags", tok.text)
	}
	name, _, _ := strings.Cut(tok.text, "=")
	near := f.nearest(name)
	if near == "" {
		return fmt.Errorf("unknown flag %s", name)
	}
	return fmt.Errorf("unknown flag %s: did you mean %s?", name, near)
}

// nearest is the flag whose name takes the fewest edits to become the one given,
// empty when half of it would have to change.
func (f *Flags) nearest(name string) string {
	name = strings.TrimLeft(name, "-")
	best, fewest := "", 1+len(name)/2
	flags := f.all()
	if f.Other != nil {
		flags = append(flags, f.Other.all()...)
	}
	for _, flag := range flags {
		if n := edits(flag.Name, name); n < fewest {
			best, fewest = "--"+flag.Name, n
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
