package dataset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
)

// A promptRow is a prompt in a file.
type promptRow struct {
	prompt    string
	outputLen int
	line      int
}

// readFile reads the rows of the file at path. It refuses a file without rows.
func readFile[T any](path string, rows func(io.Reader) ([]T, error)) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s: it is a folder: give the file itself", path)
	}
	list, err := rows(f)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%s: the file is empty", path)
	}
	return list, err
}

// readRows reads JSON lines and returns what row makes of each. It adds the line to
// row's errors, and leaves out lines for which row returns false.
func readRows[L, T any](path string, r io.Reader, row func(jsonLine[L]) (T, bool, error)) ([]T, error) {
	var rows []T
	for line, err := range jsonLines[L](path, r) {
		if err != nil {
			return nil, err
		}
		made, wanted, err := row(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, line.number, err)
		}
		if wanted {
			rows = append(rows, made)
		}
	}
	return rows, nil
}

// A jsonLine is one line of a file of JSON lines, and its number from 1.
type jsonLine[T any] struct {
	value  T
	number int
}

// jsonLines yields the lines of r that are not blank. Lines may be of any length.
// An error names the file and the line.
func jsonLines[T any](name string, r io.Reader) iter.Seq2[jsonLine[T], error] {
	return func(yield func(jsonLine[T], error) bool) {
		lines := bufio.NewReader(r)
		for number := 1; ; number++ {
			text, err := lines.ReadBytes('\n')
			if err != nil && err != io.EOF {
				yield(jsonLine[T]{}, fmt.Errorf("%s:%d: %w", name, number, err))
				return
			}
			if text = bytes.TrimSpace(text); len(text) > 0 {
				line := jsonLine[T]{number: number}
				if err := json.Unmarshal(text, &line.value); err != nil {
					yield(line, fmt.Errorf("%s:%d: %w", name, number, plain(err)))
					return
				}
				if !yield(line, nil) {
					return
				}
			}
			if err == io.EOF {
				return
			}
		}
	}
}
