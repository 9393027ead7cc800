package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"sort"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/servebench/servebench/metrics/pyjson"
)

// arrowFile is a file of messages of Apache Arrow: a stream, as the library datasets keeps it, or a
// file with a footer, which is a stream between two more parts. The schemas of the messages' heads are
// Message.fbs and Schema.fbs of Arrow's format.
type arrowFile struct {
	path    string
	file    *os.File
	size    int64
	fields  []*arrowField
	batches []arrowBatch // with rows
	firsts  []int        // the first row of each batch, and the number of all rows
}

// An arrowBatch is a message with rows: its head, and where its body is.
type arrowBatch struct {
	head flatbuffers.Table
	body int64
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
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	a := &arrowFile{path: path, file: f, size: info.Size(), firsts: []int{0}}
	at := int64(0)
	if magic, err := a.bytes(0, int64(len(arrowMagic))); err == nil && string(magic) == arrowMagic {
		at = int64(len(magic))
	}
	for {
		size, err := a.message(at)
		if err == io.EOF && a.fields != nil {
			return a, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading Arrow: %w", noEOF(err))
		}
		at += size
	}
}

// damagedArrow turns a panic of reading a damaged head into an error.
func damagedArrow(err *error) {
	if cause := recover(); cause != nil {
		*err = fmt.Errorf("reading Arrow: the file is damaged: %v", cause)
	}
}

// bytes reads a part of the file.
func (a *arrowFile) bytes(at, n int64) ([]byte, error) {
	if at < 0 || n < 0 || at > a.size || n > a.size-at {
		return nil, errors.New("it ends in the middle of a message")
	}
	text := make([]byte, n)
	_, err := a.file.ReadAt(text, at)
	return text, err
}

// message takes the message at an offset, and gives its length. io.EOF means that there is none.
func (a *arrowFile) message(at int64) (int64, error) {
	if at == a.size {
		return 0, io.EOF
	}
	prefix, err := a.bytes(at, 8) // continuation, length of the head
	if err != nil {
		return 0, err
	}
	length := int64(binary.LittleEndian.Uint32(prefix[4:]))
	switch {
	case binary.LittleEndian.Uint32(prefix) != math.MaxUint32:
		return 0, errors.New("it is no stream of messages")
	case length == 0:
		return 0, io.EOF
	}
	text, err := a.bytes(at+8, length)
	if err != nil {
		return 0, err
	}
	head := flatbuffers.Table{Bytes: text, Pos: flatbuffers.GetUOffsetT(text)}
	body := at + 8 + length
	size := head.GetInt64Slot(10, 0)
	if size < 0 || size > a.size-body {
		return 0, errors.New("it ends in the middle of a message")
	}
	var content flatbuffers.Table
	if o := flatbuffers.UOffsetT(head.Offset(8)); o != 0 {
		head.Union(&content, o)
	}
	switch head.GetByteSlot(6, 0) {
	case schemaMessage:
		a.fields, err = arrowFields(content, 6, 0)
	case dictionaryMessage:
		err = errors.New("a column has a dictionary, which is not supported: write the file as Parquet")
	case batchMessage:
		err = a.addBatch(arrowBatch{content, body})
	}
	return body + size - at, err
}

// addBatch takes a message with rows.
func (a *arrowFile) addBatch(b arrowBatch) error {
	rows := b.head.GetInt64Slot(4, 0)
	switch {
	case b.head.Offset(10) != 0:
		return errors.New("its rows are compressed, which is not supported: write the file as Parquet")
	case rows < 0 || rows > 8*a.size: // a row has a bit at least
		return errors.New("a message has a wrong number of rows")
	}
	a.batches = append(a.batches, b)
	a.firsts = append(a.firsts, a.count()+int(rows))
	return nil
}

func (a *arrowFile) count() int { return a.firsts[len(a.firsts)-1] }

func (a *arrowFile) read(at []int, columns []string, each func(pyjson.Object)) (err error) {
	defer func() { err = named(a.path, err) }()
	defer damagedArrow(&err)
	for _, i := range at {
		number := sort.Search(len(a.batches), func(k int) bool { return a.firsts[k+1] > i })
		values, err := a.columns(number)
		if err != nil {
			return fmt.Errorf("reading Arrow: %w", err)
		}
		var row pyjson.Object
		for k, field := range a.fields {
			if columns != nil && !slices.Contains(columns, field.name) {
				continue
			}
			value, err := a.cell(values[k], int64(i-a.firsts[number]))
			if err != nil {
				return fmt.Errorf("reading Arrow: row %d: column %s: %w", i+1, field.name, err)
			}
			row = append(row, pyjson.Member{Key: field.name, Value: value})
		}
		each(row)
	}
	return nil
}
