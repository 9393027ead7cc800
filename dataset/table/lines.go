package table

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/servebench/servebench/dataset/rows"
	"github.com/servebench/servebench/metrics/pyjson"
)

// lines is a file of JSON lines.
type lines struct {
	path    string
	file    *os.File
	offsets []int64 // of each line that is not blank, and the end of the file
	numbers []int32 // of these lines, from 1
}

func openLines(path string, f *os.File) (file, error) {
	l := &lines{path: path, file: f}
	r := bufio.NewReaderSize(f, 1<<20)
	var at, began int64
	number, blank := int32(1), true
	for {
		text, err := r.ReadSlice('\n')
		blank = blank && len(bytes.TrimSpace(text)) == 0
		at += int64(len(text))
		if at-began > rows.MaxRow {
			return nil, fmt.Errorf("%s:%d: the line is longer than %d MiB", path, number, rows.MaxRow>>20)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if !blank {
			l.offsets, l.numbers = append(l.offsets, began), append(l.numbers, number)
		}
		if err == io.EOF {
			l.offsets = append(l.offsets, at)
			return l, nil
		}
		if err != nil {
			return nil, err
		}
		began, blank = at, true
		number++
	}
}

func (l *lines) count() int { return len(l.numbers) }

func (l *lines) read(at []int, _ []string, each func(pyjson.Object)) error {
	for _, i := range at {
		text := make([]byte, l.offsets[i+1]-l.offsets[i])
		if _, err := l.file.ReadAt(text, l.offsets[i]); err != nil {
			return err
		}
		text, _, _ = bytes.Cut(text, []byte("\n"))
		row, err := object(text)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", l.path, l.numbers[i], err)
		}
		each(row)
	}
	return nil
}

// object reads a row that is written as a JSON object.
func object(text []byte) (pyjson.Object, error) {
	value, err := pyjson.Parse(string(pyjson.StrictText(text)))
	if err != nil {
		return nil, err
	}
	row, ok := value.(pyjson.Object)
	if !ok {
		return nil, errors.New("it is not a JSON object")
	}
	return row, nil
}

// list is a file with a JSON array of objects.
type list struct {
	path  string
	file  *os.File
	after []int64 // see rows.Element
}

// openJSON opens a file with a JSON array, or with an object on each line.
func openJSON(path string, f *os.File) (file, error) {
	first, err := firstByte(f)
	if err != nil {
		return nil, err
	}
	if first == '{' {
		return openLines(path, f)
	}
	a := &list{path: path, file: f}
	for e, err := range rows.Elements[json.RawMessage](rows.Array{Name: path, File: f}) {
		if err != nil {
			return nil, err
		}
		a.after = append(a.after, e.After)
	}
	return a, nil
}

// firstByte is the first byte of a file that is not white space. The file then stands at its
// beginning.
func firstByte(f *os.File) (byte, error) {
	r := bufio.NewReader(pyjson.Strict(io.NewSectionReader(f, 0, math.MaxInt64)))
	for {
		c, err := r.ReadByte()
		switch {
		case err == io.EOF:
			return 0, errors.New("the file is empty")
		case err != nil:
			return 0, err
		case !bytes.ContainsRune([]byte(" \t\r\n"), rune(c)):
			return c, nil
		}
	}
}

func (a *list) count() int { return len(a.after) }

func (a *list) read(at []int, _ []string, each func(pyjson.Object)) error {
	for _, i := range at {
		text, err := rows.At[json.RawMessage](a.file, a.after[i])
		if err != nil {
			return named(a.path, err)
		}
		row, err := object(text)
		if err != nil {
			return rows.Array{Name: a.path, File: io.NewSectionReader(a.file, 0, math.MaxInt64)}.Fault(a.after[i], err)
		}
		each(row)
	}
	return nil
}
