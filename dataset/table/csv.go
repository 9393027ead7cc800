package table

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/servebench/servebench/metrics/pyjson"
)

// cells is a file of comma-separated values, or of values separated by tabs.
type cells struct {
	path    string
	file    *os.File
	comma   rune
	names   []string
	offsets []int64 // of each row
}

func openCSV(path string, f *os.File) (file, error) {
	c := &cells{path: path, file: f, comma: ','}
	if strings.EqualFold(filepath.Ext(path), ".tsv") {
		c.comma = '\t'
	}
	start := beginning(f)
	r := c.reader(start)
	names, err := r.Read()
	if err == io.EOF {
		return nil, errors.New("the file is empty")
	}
	if err != nil {
		return nil, err
	}
	c.names = append(c.names, names...)
	for {
		at := start + r.InputOffset()
		row, err := r.Read()
		if err == io.EOF {
			return c, nil
		}
		if err == nil && len(row) != len(names) {
			line, _ := r.FieldPos(0)
			err = fmt.Errorf("%s:%d: it has %d cells, and the first line has %d", path, line, len(row), len(names))
		}
		if err != nil {
			return nil, err
		}
		c.offsets = append(c.offsets, at)
	}
}

// beginning is where the text of a file begins: after a byte order mark, which Excel writes.
func beginning(f *os.File) int64 {
	const mark = "\ufeff"
	first := make([]byte, len(mark))
	if _, err := f.ReadAt(first, 0); err == nil && string(first) == mark {
		return int64(len(mark))
	}
	return 0
}

func (c *cells) reader(offset int64) *csv.Reader {
	r := csv.NewReader(io.NewSectionReader(c.file, offset, math.MaxInt64-offset))
	r.Comma, r.FieldsPerRecord, r.ReuseRecord = c.comma, -1, true
	return r
}

func (c *cells) count() int { return len(c.offsets) }

func (c *cells) read(at []int, _ []string, each func(pyjson.Object)) error {
	var r *csv.Reader
	next := -1
	for _, i := range at {
		if i != next {
			r = c.reader(c.offsets[i])
		}
		texts, err := r.Read()
		if err != nil {
			return named(c.path, err)
		}
		row := make(pyjson.Object, len(c.names))
		for k, name := range c.names {
			if row[k].Key = name; texts[k] != "" {
				row[k].Value = strings.Clone(texts[k])
			}
		}
		each(row)
		next = i + 1
	}
	return nil
}
