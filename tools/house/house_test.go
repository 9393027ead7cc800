// Package house holds the rules of this repository's packages, as a test.
//
// What may import what is in testdata/imports.txt. What breaks a rule today is in
// testdata/exceptions.txt, the exported names that nobody outside their package
// uses are in testdata/unused.txt, packages and structs that may be too large are in
// testdata/sizes.txt, files that spell units and labels of numbers are in
// testdata/spelled.txt, files that make numbers outside the catalogue are in
// testdata/formulas.txt, and files that ask for the name of a backend or a dataset are in
// testdata/named.txt. These lists may only shrink. Texts of package loadgen and of its rooms name no flag of
// servebench.
package house

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "remove from the lists in testdata what no longer has to be there")

func TestHouse(t *testing.T) {
	if testing.Short() {
		t.Skip("the rules of all packages: in go test without -short")
	}
	h := build(t, os.DirFS("../.."))
	table, err := os.ReadFile("testdata/imports.txt")
	if err != nil {
		t.Fatal(err)
	}
	onlyListed(t, "testdata/exceptions.txt", h.breaches(string(table)))
	onlyListed(t, "testdata/unused.txt", h.unused())
	sizes := h.sizes()
	for name := range exempt {
		if sizes[name] == 0 {
			t.Errorf("%s is exempt from the limits of sizes, and within them", name)
		}
		delete(sizes, name)
	}
	onlySmaller(t, "testdata/sizes.txt", sizes)
	onlySmaller(t, "testdata/spelled.txt", h.spelled())
	onlySmaller(t, "testdata/formulas.txt", h.formulas())
	onlySmaller(t, "testdata/named.txt", h.named())
	for _, problem := range h.astray(ways(t), 3) {
		t.Error(problem)
	}
	onlyStrangers(t, h.flags())
}

// onlyListed makes sure that all of found is listed in a file, and that nothing else is.
func onlyListed(t *testing.T, file string, found []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	added, gone := differences(lines(string(text)), found)
	for _, f := range added {
		t.Errorf("%s (%s may only shrink)", f, file)
	}
	if *update {
		kept := slices.DeleteFunc(found, func(f string) bool { return slices.Contains(added, f) })
		if err := os.WriteFile(file, []byte(strings.Join(append(kept, ""), "\n")), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, l := range gone {
		t.Errorf("%s lists %q, which is no longer so: go -C tools test ./house -update", file, l)
	}
}

// differences are what was found and is not listed, and what is listed and was not found.
func differences(listed, found []string) (added, gone []string) {
	for _, f := range found {
		if !slices.Contains(listed, f) {
			added = append(added, f)
		}
	}
	for _, l := range listed {
		if !slices.Contains(found, l) {
			gone = append(gone, l)
		}
	}
	return added, gone
}

func TestListsMayOnlyShrink(t *testing.T) {
	added, gone := differences([]string{"a", "b", "c"}, []string{"b", "c", "d"})
	if !slices.Equal(added, []string{"d"}) || !slices.Equal(gone, []string{"a"}) {
		t.Errorf("%q were added, %q are gone", added, gone)
	}
}

func lines(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
}

// Each file of testdata/broken is a module that breaks one rule, and what is found there:
// nothing else.
func TestEachRuleFindsWhatBreaksIt(t *testing.T) {
	files, err := filepath.Glob("testdata/broken/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			root := fstest.MapFS{}
			for _, f := range archive.Files {
				root[f.Name] = &fstest.MapFile{Data: f.Data}
			}
			h := build(t, root)
			found := append(h.breaches(string(root["imports.txt"].Data)), h.unused()...)
			if diff := cmp.Diff(lines(string(root["found.txt"].Data)), found, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
