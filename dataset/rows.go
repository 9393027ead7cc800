package dataset

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/servebench/servebench/dataset/rows"
)

// A promptRow is a prompt in a file.
type promptRow struct {
	prompt    string
	outputLen int
	line      int
	members   json.RawMessage // of its body; nil for none
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
func readRows[L, T any](path string, r io.Reader, row func(rows.Line[L]) (T, bool, error)) ([]T, error) {
	var list []T
	for line, err := range rows.Lines[L](path, r) {
		if err != nil {
			return nil, err
		}
		made, wanted, err := row(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, line.Number, err)
		}
		if wanted {
			list = append(list, made)
		}
	}
	return list, nil
}
