package argv

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// strayError says why a word does not belong there, and what the user may have meant. A word may
// hold a secret: of what looks like a flag it shows the name alone, also where argparse sees no flag
// because of a space, and of a URL what the URL's flag shows.
func (a argparse) strayError(tok *token) error {
	name := flagName.FindString(tok.text)
	if tok.kind != option && !looksNegative(tok.text) && (name == "" || tok.last) {
		return fmt.Errorf("unrecognized arguments: %s: this command takes flags alone%s", a.shown(tok.text),
			a.urlFlag(tok.text))
	}
	if name == "" {
		name, _, _ = strings.Cut(tok.text, "=")
	}
	return fmt.Errorf("unknown flag %s%s", name, a.meant(name))
}

// flagName is the name at the start of a word that looks like a flag.
var flagName = regexp.MustCompile(`^--?[A-Za-z][A-Za-z0-9_.-]*`)

// shown is a word that no flag takes, without the secrets of a URL.
func (a argparse) shown(word string) string {
	switch {
	case !strings.Contains(word, "://") && !strings.Contains(word, "@"):
		return word
	case a.flags.conceals["base-url"] != nil:
		return a.flags.Show("base-url", word)
	case a.flags.Other != nil:
		return argparse{accepted{a.flags.Other}}.shown(word)
	}
	return "a word with a URL or an @"
}

// urlFlag says how to pass a word that is a URL, if it is one.
func (a argparse) urlFlag(word string) string {
	if strings.Contains(word, "://") && a.flags.FlagSet.Lookup("base-url") != nil {
		return ": give a URL as --base-url URL"
	}
	return ""
}

// meant is a hint at the flag that the user may have meant.
func (a argparse) meant(name string) string {
	name = strings.TrimLeft(name, "-")
	var names, having []string
	for _, flag := range a.all() {
		names = append(names, flag.Name)
		if slices.Contains(strings.Split(flag.Name, "-"), name) {
			having = append(having, "--"+flag.Name)
		}
	}
	if near := Nearest(name, names); near != "" && (having == nil || edits(near, name) == 1) {
		return fmt.Sprintf(": did you mean --%s?", near)
	}
	if n := len(having); n > 0 && n <= 4 {
		return fmt.Sprintf(": did you mean %s?", strings.Join(having, " or "))
	}
	return ": --help=all lists the flags"
}

// Nearest is the name with the smallest edit distance to the given one, empty if half of it would
// have to change.
func Nearest(name string, names []string) string {
	best, fewest := "", 1+(len(name)+1)/2
	for _, candidate := range names {
		if n := edits(candidate, name); n < fewest {
			best, fewest = candidate, n
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
