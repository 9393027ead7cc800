package rows

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"github.com/servebench/servebench/metrics/pyjson"
)

// A Line is one line of a file of JSON lines.
type Line[T any] struct {
	Value  T
	Number int   // from 1
	Offset int64 // of its first byte
}

// Lines yields the lines of r that are not blank, as pyjson.StrictText has them. A line longer than
// MaxRow is an error.
func Lines[T any](name string, r io.Reader) iter.Seq2[Line[T], error] {
	return func(yield func(Line[T], error) bool) {
		lines := bufio.NewReader(r)
		line := Line[T]{Number: 1}
		for {
			text, err := ReadLine(lines)
			if err != nil && err != io.EOF {
				yield(line, fmt.Errorf("%s:%d: %w", name, line.Number, err))
				return
			}
			length := len(text)
			if text = bytes.TrimSpace(text); len(text) > 0 {
				if err := json.Unmarshal(pyjson.StrictText(text), &line.Value); err != nil {
					yield(line, fmt.Errorf("%s:%d: %w", name, line.Number, Plain(err)))
					return
				}
				if !yield(line, nil) {
					return
				}
			}
			if err == io.EOF {
				return
			}
			line = Line[T]{Number: line.Number + 1, Offset: line.Offset + int64(length)}
		}
	}
}

// Present reports whether a field of a JSON object is there, and is neither null nor an empty
// string.
func Present(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "null" && string(raw) != `""`
}

// A Name is an id in a file: a text, or a number as it is written. An empty one is no id.
type Name string

// UnmarshalJSON reads a text, a number or null.
func (n *Name) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' {
		return json.Unmarshal(raw, (*string)(n))
	}
	var number json.Number
	err := json.Unmarshal(raw, &number)
	*n = Name(number)
	return err
}
