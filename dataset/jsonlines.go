package dataset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
)

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
