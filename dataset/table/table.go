// Package table reads rows of datasets from local files: Parquet, Arrow, JSON lines, a JSON array
// or CSV.
//
// A Table is one or more files of one form, one after another. It knows how many rows they have, and
// reads only the rows and columns that are asked for, because files of images are larger than the
// memory. A row is a pyjson.Object, in the order of the file's columns. It has the values of
// pyjson, and a []byte for bytes. All cells of CSV are texts, or nil if they are empty.
package table

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/servebench/servebench/metrics/pyjson"
)

// A Table is the rows of one or more files. It is safe for concurrent use. Its files stay open for as
// long as it is used.
type Table struct {
	files  []file
	firsts []int // the first row of each file, and the number of all rows
}

// A file reads rows of one file.
type file interface {
	// count is how many rows the file has.
	count() int
	// read calls each with the rows of those numbers, which ascend. Rows need have only these columns;
	// no columns means all.
	read(at []int, columns []string, each func(row pyjson.Object)) error
}

// formats are what opens files, by the ends of their names.
var formats = map[string]func(path string, f *os.File) (file, error){
	".parquet": openParquet,
	".arrow":   openArrow,
	".jsonl":   openLines,
	".ndjson":  openLines,
	".json":    openJSON,
	".csv":     openCSV,
	".tsv":     openCSV,
}

// Format is the end of a file's name that says how it is read, such as .parquet; empty if this package
// does not read it.
func Format(path string) string {
	end := strings.ToLower(filepath.Ext(path))
	if formats[end] == nil {
		return ""
	}
	return end
}

// Open opens the files, at least one. An error names the file.
func Open(paths []string) (*Table, error) {
	t := &Table{firsts: []int{0}}
	for _, path := range paths {
		opened, err := openFile(path)
		if err != nil {
			return nil, err
		}
		t.files = append(t.files, opened)
		t.firsts = append(t.firsts, t.Len()+opened.count())
	}
	if t.Len() == 0 {
		return nil, fmt.Errorf("%s: it has no rows", paths[0])
	}
	return t, nil
}

func openFile(path string) (file, error) {
	open := formats[Format(path)]
	if open == nil {
		return nil, fmt.Errorf("%s: its name must end in .parquet, .arrow, .jsonl, .json, .csv or .tsv", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	opened, err := open(path, f)
	if err != nil {
		f.Close()
		return nil, named(path, err)
	}
	return opened, nil
}

// named adds the name of the file to err, unless it is there. No error stays none.
func named(path string, err error) error {
	if err == nil || strings.HasPrefix(err.Error(), path+":") {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// Len is how many rows there are.
func (t *Table) Len() int { return t.firsts[len(t.firsts)-1] }

// Lens is how many rows each file has, in the order of the files.
func (t *Table) Lens() []int {
	lens := make([]int, len(t.files))
	for i, f := range t.files {
		lens[i] = f.count()
	}
	return lens
}

// Rows reads the rows of those numbers, from 0, in the order of at. They have at least the named
// columns that the table has; no names mean all columns.
func (t *Table) Rows(at []int, columns []string) ([]pyjson.Object, error) {
	places := make([]int, len(at)) // in at, by ascending numbers
	for i := range places {
		places[i] = i
	}
	slices.SortFunc(places, func(a, b int) int { return at[a] - at[b] })
	list := make([]pyjson.Object, len(at))
	for len(places) > 0 {
		number := t.fileOf(at[places[0]])
		n := sort.Search(len(places), func(i int) bool { return at[places[i]] >= t.firsts[number+1] })
		numbers := make([]int, n)
		for i, place := range places[:n] {
			numbers[i] = at[place] - t.firsts[number]
		}
		took := 0
		err := t.files[number].read(numbers, columns, func(row pyjson.Object) {
			list[places[took]] = row
			took++
		})
		if err != nil {
			return nil, err
		}
		places = places[n:]
	}
	return list, nil
}

// fileOf is the file that has a row.
func (t *Table) fileOf(row int) int {
	return sort.Search(len(t.files), func(i int) bool { return t.firsts[i+1] > row })
}
