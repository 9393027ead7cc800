package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"

	"github.com/parquet-go/parquet-go"

	"github.com/servebench/servebench/metrics/pyjson"
)

// parquetFile is a file of Apache Parquet.
type parquetFile struct {
	path   string
	file   *parquet.File
	firsts []int // the first row of each row group, and the number of all rows
}

func openParquet(path string, f *os.File) (_ file, err error) {
	defer damaged(&err)
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := checkFooter(f, info.Size()); err != nil {
		return nil, fmt.Errorf("reading Parquet: %w", err)
	}
	opened, err := parquet.OpenFile(f, info.Size(), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("reading Parquet: %w", err)
	}
	p := &parquetFile{path: path, file: opened, firsts: []int{0}}
	for _, group := range opened.RowGroups() {
		p.firsts = append(p.firsts, p.count()+int(group.NumRows()))
	}
	return p, nil
}

// checkFooter refuses a file that says that its footer is longer than the file: the library would ask
// for that much memory.
func checkFooter(f *os.File, size int64) error {
	var end [8]byte // length of the footer, PAR1
	if _, err := f.ReadAt(end[:], max(size-int64(len(end)), 0)); err != nil || size < 12 {
		return errors.New("it is too short for a Parquet file")
	}
	if int64(binary.LittleEndian.Uint32(end[:])) > size-12 {
		return errors.New("its footer is damaged, or it is no Parquet file")
	}
	return nil
}

// damaged turns a panic of the library, which some damaged files cause, into an error.
func damaged(err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("reading Parquet: the file is damaged: %v", cause)
	}
}

func (p *parquetFile) count() int { return p.firsts[len(p.firsts)-1] }

func (p *parquetFile) read(at []int, columns []string, each func(pyjson.Object)) (err error) {
	defer func() { err = named(p.path, err) }()
	defer damaged(&err)
	for len(at) > 0 {
		number := sort.Search(len(p.firsts)-1, func(i int) bool { return p.firsts[i+1] > at[0] })
		n := sort.SearchInts(at, p.firsts[number+1])
		if err := p.readGroup(number, at[:n], columns, each); err != nil {
			return fmt.Errorf("reading Parquet: %w", err)
		}
		at = at[n:]
	}
	return nil
}

// readGroup reads rows of one row group.
func (p *parquetFile) readGroup(number int, at []int, columns []string, each func(pyjson.Object)) error {
	chunks := p.file.RowGroups()[number].ColumnChunks()
	list := make([]pyjson.Object, len(at))
	for _, column := range p.file.Root().Columns() {
		if columns != nil && !slices.Contains(columns, column.Name()) {
			continue
		}
		var cursors []*cursor
		for _, leaf := range leaves(column, nil) {
			c := newCursor(chunks[leaf.Index()])
			defer c.pages.Close()
			cursors = append(cursors, c)
		}
		levels := make([][]parquet.Value, len(cursors))
		for i, row := range at {
			for k, c := range cursors {
				if i > 0 && row == at[i-1] {
					break // levels has it
				}
				var err error
				if levels[k], err = c.row(int64(row-p.firsts[number]), levels[k][:0]); err != nil {
					return err
				}
			}
			list[i] = append(list[i], pyjson.Member{Key: column.Name(), Value: assembled(column, levels)})
		}
	}
	for _, row := range list {
		each(row)
	}
	return nil
}

// leaves appends the columns below a column that have values, in the order of their indices.
func leaves(c *parquet.Column, list []*parquet.Column) []*parquet.Column {
	if c.Leaf() {
		return append(list, c)
	}
	for _, child := range c.Columns() {
		list = leaves(child, list)
	}
	return list
}

// A cursor reads the values of one leaf row by row. Rows ascend.
type cursor struct {
	pages  parquet.Pages
	jumps  bool // the file says where its pages are
	values parquet.ValueReader
	buffer [64]parquet.Value
	ready  []parquet.Value // of buffer
	next   int64           // the row that begins with the next value
}

func newCursor(chunk parquet.ColumnChunk) *cursor {
	index, err := chunk.OffsetIndex()
	return &cursor{pages: chunk.Pages(), jumps: err == nil && index != nil}
}

// row appends the values of a row to list.
func (c *cursor) row(row int64, list []parquet.Value) ([]parquet.Value, error) {
	if row > c.next && c.jumps {
		if err := c.pages.SeekToRow(row); err != nil {
			return nil, err
		}
		c.values, c.ready, c.next = nil, nil, row
	}
	for {
		err := c.fill()
		if err == io.EOF && len(list) > 0 {
			return list, nil
		}
		if err != nil {
			return nil, noEOF(err)
		}
		switch v := c.ready[0]; {
		case v.RepetitionLevel() == 0 && c.next == row+1:
			return list, nil
		case v.RepetitionLevel() == 0:
			c.next++
			fallthrough
		default:
			if c.next == row+1 {
				list = append(list, v.Clone())
			}
		}
		c.ready = c.ready[1:]
	}
}

// fill makes sure that there is a value in ready. io.EOF means that there is none.
func (c *cursor) fill() error {
	for len(c.ready) == 0 {
		if c.values == nil {
			page, err := c.pages.ReadPage()
			if err != nil {
				return err
			}
			c.values = page.Values()
		}
		n, err := c.values.ReadValues(c.buffer[:])
		if c.ready = c.buffer[:n]; err == io.EOF {
			c.values = nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// noEOF is err, and a better one in place of io.EOF.
func noEOF(err error) error {
	if err == io.EOF {
		return errors.New("the file has fewer rows than it says")
	}
	return err
}

// assembled is what a column has in one row. levels are the values of its leaves, with the levels of
// repetition and definition that Dremel gives them.
func assembled(c *parquet.Column, levels [][]parquet.Value) any {
	first := levels[0][0]
	switch {
	case c.Repeated() && first.DefinitionLevel() < c.MaxDefinitionLevel():
		return []any{}
	case c.Repeated():
		var list []any
		for _, element := range elements(levels, c.MaxRepetitionLevel()) {
			list = append(list, content(c, element))
		}
		return list
	case c.Optional() && first.DefinitionLevel() < c.MaxDefinitionLevel():
		return nil
	}
	return content(c, levels)
}

// elements are the values of each element of a list: one begins where the level of repetition is the
// list's.
func elements(levels [][]parquet.Value, level int) [][][]parquet.Value {
	var list [][][]parquet.Value
	for k, values := range levels {
		number := 0
		for len(values) > 0 {
			end := 1
			for end < len(values) && values[end].RepetitionLevel() > level {
				end++
			}
			if number == len(list) {
				list = append(list, make([][]parquet.Value, len(levels)))
			}
			list[number][k], values = values[:end], values[end:]
			number++
		}
	}
	return list
}

// content is the value of a column that is there.
func content(c *parquet.Column, levels [][]parquet.Value) any {
	if c.Leaf() {
		return plain(c, levels[0][0])
	}
	if children := c.Columns(); len(children) == 1 && children[0].Repeated() { // a list in a group
		list := assembled(children[0], levels).([]any)
		for i, element := range list {
			if o, ok := element.(pyjson.Object); ok && len(o) == 1 && !children[0].Leaf() {
				list[i] = o[0].Value // the group around an element
			}
		}
		return list
	}
	var object pyjson.Object
	at := 0
	for _, child := range c.Columns() {
		n := len(leaves(child, nil))
		object = append(object, pyjson.Member{Key: child.Name(), Value: assembled(child, levels[at:at+n])})
		at += n
	}
	return object
}

// plain is a value as a value of a row.
func plain(c *parquet.Column, v parquet.Value) any {
	switch {
	case v.IsNull():
		return nil
	case v.Kind() == parquet.Boolean:
		return v.Boolean()
	case v.Kind() == parquet.Int32:
		return int(v.Int32())
	case v.Kind() == parquet.Int64:
		return int(v.Int64())
	case v.Kind() == parquet.Float:
		return float64(v.Float())
	case v.Kind() == parquet.Double:
		return v.Double()
	case c.Type().LogicalType() == nil:
		return v.ByteArray()
	}
	return v.String()
}
