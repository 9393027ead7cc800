package asked

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// clientName names the program that measured: its version, and the commit unless the version says it.
func clientName(version, commit string) string {
	if version == "" || commit == "" || commit == commitOf(version) {
		return version
	}
	return version + " (" + commit + ")"
}

// commitIn finds the commit in the name of a client: in brackets, at the end of what git describe
// prints, or at the end of a pseudo-version of a Go module.
var commitIn = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^v?|-g|[-.][0-9]{14}-|\()([0-9a-f]{7,40})([-+]dirty)?\)?$`)
})

// commitOf is the commit that a client was built from, as far as its name says, with +dirty behind it if
// files had been changed.
func commitOf(name string) string {
	found := commitIn().FindStringSubmatch(name)
	switch {
	case found == nil:
		return ""
	case found[2] != "":
		return found[1] + "+dirty"
	}
	return found[1]
}

// sameClient reports that two programs measure alike: they are of the same commit, which may be cut short
// in one, or of the same version, if the commit of one is unknown.
func sameClient(a, b string) bool {
	x, dirty := strings.CutSuffix(commitOf(a), "+dirty")
	y, alsoDirty := strings.CutSuffix(commitOf(b), "+dirty")
	if x == "" || y == "" {
		return dirty == alsoDirty && versionOf(a) == versionOf(b)
	}
	return dirty == alsoDirty && (strings.HasPrefix(x, y) || strings.HasPrefix(y, x))
}

// versionOf is the name of a client without its commit in brackets.
func versionOf(name string) string {
	version, _, _ := strings.Cut(name, " (")
	return strings.TrimPrefix(version, "v")
}

// distinctClients leaves out the names of programs that measure as another one. A name with a commit
// stays rather than one without.
func distinctClients(names []string) (distinct []string) {
	names = slices.Clone(names)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(len(commitOf(b)), len(commitOf(a))) })
	for _, name := range names {
		if !slices.ContainsFunc(distinct, func(other string) bool { return sameClient(name, other) }) {
			distinct = append(distinct, name)
		}
	}
	return distinct
}
