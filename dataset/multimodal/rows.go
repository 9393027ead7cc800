package multimodal

import (
	"fmt"
	"os"

	"github.com/servebench/servebench/dataset/rows"
)

// readRows reads the JSON lines of the file at path and returns what row makes of each. It adds the
// line to row's errors, and refuses a file without lines.
func readRows[L, T any](path string, row func(*rows.Line[L]) (T, error)) (list []T, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for line, err := range rows.Lines[L](path, f) {
		if err != nil {
			return nil, err
		}
		made, err := row(&line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, line.Number, err)
		}
		list = append(list, made)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: the file is empty", path)
	}
	return list, nil
}
