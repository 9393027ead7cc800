package builtin

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReadmeNamesAllFiltersAndTests keeps the lists of the README complete.
func TestReadmeNamesAllFiltersAndTests(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		heading string
		known   func(name string) bool
		least   int
	}{
		{"- **Filters**: ", func(name string) bool { _, ok := filterNamed(name); return ok }, len(filters)},
		{"- **Tests**: ", func(name string) bool {
			_, plain := plainTests[name]
			return plain || comparingTests[name] != "" || name == "divisibleby" || name == "sameas"
		}, len(plainTests)},
		{"- **Globals**: ", func(name string) bool { _, ok := Globals(nil)[name]; return ok }, 5},
	} {
		_, line, found := strings.Cut(string(text), c.heading)
		line, _, _ = strings.Cut(line, "\n")
		var names []string
		for _, quoted := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(line, -1) {
			if names = append(names, quoted[1]); !c.known(quoted[1]) {
				t.Errorf("%s%s is not known", c.heading, quoted[1])
			}
		}
		if slices.Sort(names); !found || len(slices.Compact(names)) < c.least {
			t.Errorf("%s%d names, want at least %d", c.heading, len(names), c.least)
		}
	}
}
