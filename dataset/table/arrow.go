package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/servebench/servebench/metrics/pyjson"
)

// arrowFile is a file of messages of Apache Arrow: a stream, as the library datasets keeps it, or a
// file with a footer, which is a stream between two more parts.
type arrowFile struct {
	path    string
	file    *os.File
	schema  []byte  // the first message
	batches []batch // of rows
	firsts  []int   // the first row of each batch, and the number of all rows
}

// A batch is where a message with rows is.
type batch struct{ offset, length int64 }

// A message is the head of a message of Arrow: see Message.fbs and File.fbs of its format.
type message struct {
	kind byte
	rows int64
	size int64 // of all of it
}

// The kinds of messages.
const (
	schemaMessage     = 1
	dictionaryMessage = 2
	batchMessage      = 3
)

const arrowMagic = "ARROW1\x00\x00"

func openArrow(path string, f *os.File) (_ file, err error) {
	defer damagedArrow(&err)
	a := &arrowFile{path: path, file: f, firsts: []int{0}}
	at := int64(0)
	magic := make([]byte, len(arrowMagic))
	if _, err := f.ReadAt(magic, 0); err == nil && string(magic) == arrowMagic {
		at = int64(len(magic))
	}
	for {
		m, err := readMessage(f, at)
		if err == io.EOF && a.schema != nil {
			return a, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading Arrow: %w", noEOF(err))
		}
		switch m.kind {
		case schemaMessage:
			a.schema = make([]byte, m.size)
			if _, err := f.ReadAt(a.schema, at); err != nil {
				return nil, err
			}
		case dictionaryMessage:
			return nil, errors.New("reading Arrow: a column has a dictionary, which is not supported: write the file as Parquet")
		case batchMessage:
			a.batches = append(a.batches, batch{at, m.size})
			a.firsts = append(a.firsts, a.count()+int(m.rows))
		}
		at += m.size
	}
}

// damagedArrow turns a panic of the library, which some damaged files cause, into an error.
func damagedArrow(err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("reading Arrow: the file is damaged: %v", cause)
	}
}

// readMessage reads the head of the message at an offset. io.EOF means that there is none.
func readMessage(f *os.File, at int64) (m message, err error) {
	var prefix [8]byte // continuation, length of the head
	if n, err := f.ReadAt(prefix[:], at); err != nil && n == 0 {
		return m, io.EOF
	} else if err != nil {
		return m, io.ErrUnexpectedEOF
	}
	length := int64(binary.LittleEndian.Uint32(prefix[4:]))
	switch {
	case binary.LittleEndian.Uint32(prefix[:]) != 1<<32-1:
		return m, errors.New("it is not a stream of Arrow messages")
	case length == 0:
		return m, io.EOF
	case length > 1<<28:
		return m, errors.New("the head of a message is too long")
	}
	head := make([]byte, length)
	if _, err := f.ReadAt(head, at+8); err != nil {
		return m, io.ErrUnexpectedEOF
	}
	fields := flatbuffers.Table{Bytes: head, Pos: flatbuffers.GetUOffsetT(head)}
	m.size = 8 + length
	if o := flatbuffers.UOffsetT(fields.Offset(10)); o != 0 {
		body := fields.GetInt64(o + fields.Pos)
		if body < 0 {
			return m, errors.New("a message has a wrong length")
		}
		m.size += body
	}
	if o := flatbuffers.UOffsetT(fields.Offset(6)); o != 0 {
		m.kind = fields.GetByte(o + fields.Pos)
	}
	if o := flatbuffers.UOffsetT(fields.Offset(8)); o != 0 && m.kind == batchMessage {
		var header flatbuffers.Table
		fields.Union(&header, o)
		if rows := flatbuffers.UOffsetT(header.Offset(4)); rows != 0 {
			m.rows = header.GetInt64(rows + header.Pos)
		}
	}
	if info, err := f.Stat(); err != nil || m.rows < 0 || m.rows > 1<<31 || at+m.size > info.Size() {
		return m, io.ErrUnexpectedEOF
	}
	return m, nil
}

func (a *arrowFile) count() int { return a.firsts[len(a.firsts)-1] }

func (a *arrowFile) read(at []int, columns []string, each func(pyjson.Object)) (err error) {
	defer damagedArrow(&err)
	for len(at) > 0 {
		number := sort.Search(len(a.batches), func(i int) bool { return a.firsts[i+1] > at[0] })
		n := sort.SearchInts(at, a.firsts[number+1])
		if err := a.readBatch(number, at[:n], columns, each); err != nil {
			return named(a.path, fmt.Errorf("reading Arrow: %w", err))
		}
		at = at[n:]
	}
	return nil
}

// readBatch reads rows of one batch.
func (a *arrowFile) readBatch(number int, at []int, columns []string, each func(pyjson.Object)) error {
	b := a.batches[number]
	stream := io.MultiReader(bytes.NewReader(a.schema), io.NewSectionReader(a.file, b.offset, b.length))
	r, err := ipc.NewReader(stream)
	if err != nil {
		return err
	}
	defer r.Release()
	if !r.Next() {
		return noEOF(r.Err())
	}
	rows := r.RecordBatch()
	for _, i := range at {
		var row pyjson.Object
		for k, column := range rows.Columns() {
			name := rows.ColumnName(k)
			if columns != nil && !slices.Contains(columns, name) {
				continue
			}
			row = append(row, pyjson.Member{Key: name, Value: cell(column, i-a.firsts[number])})
		}
		each(row)
	}
	return nil
}

// cell is one value of an array. It shares no memory with the array.
func cell(values arrow.Array, i int) any {
	if values.IsNull(i) {
		return nil
	}
	switch v := values.(type) {
	case *array.Null:
		return nil
	case *array.String:
		return strings.Clone(v.Value(i))
	case *array.LargeString:
		return strings.Clone(v.Value(i))
	case *array.Binary:
		return slices.Clone(v.Value(i))
	case *array.LargeBinary:
		return slices.Clone(v.Value(i))
	case *array.Boolean:
		return v.Value(i)
	case *array.Float64:
		return v.Value(i)
	case *array.Float32:
		return float64(v.Value(i))
	case *array.Int64:
		return int(v.Value(i))
	case *array.Int32:
		return int(v.Value(i))
	case *array.Struct:
		return structure(v, i)
	case array.ListLike:
		return elementsOf(v, i)
	case array.ExtensionArray:
		return cell(v.Storage(), i)
	}
	return values.ValueStr(i) // numbers of other sizes, times
}

func structure(v *array.Struct, i int) any {
	object := pyjson.Object{}
	for k, field := range v.DataType().(*arrow.StructType).Fields() {
		value := cell(v.Field(k), i)
		object = append(object, pyjson.Member{Key: field.Name, Value: value})
	}
	return object
}

func elementsOf(v array.ListLike, i int) any {
	elements := []any{}
	from, to := v.ValueOffsets(i)
	for k := from; k < to; k++ {
		value := cell(v.ListValues(), int(k))
		elements = append(elements, value)
	}
	return elements
}
