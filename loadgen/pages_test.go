package loadgen

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/servebench/servebench/dataset/kinds"
)

var (
	datasetTable = regexp.MustCompile("(?m)^\\| `--dataset-name` \\|.*\n((?:\\|.*\n)+)")
	datasetName  = regexp.MustCompile("`([a-z_-]+)`")
)

// The tables of datasets in the docs have each dataset once.
func TestThePagesHaveTheDatasets(t *testing.T) {
	var got []string
	for _, page := range []string{"../docs/prompts.md", "../docs/sessions.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		table := datasetTable.FindSubmatch(text)
		if table == nil {
			t.Fatalf("%s has no table of datasets", page)
		}
		for row := range strings.Lines(string(table[1])) {
			for _, name := range datasetName.FindAllStringSubmatch(strings.Split(row, "|")[1], -1) {
				got = append(got, name[1])
			}
		}
	}
	want := append(slices.Clone(kinds.Names(0)), "auto")
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the pages have %q, want %q", got, want)
	}
}
