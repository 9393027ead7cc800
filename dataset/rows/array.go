package rows

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"github.com/servebench/servebench/metrics/pyjson"
)

// An Array is a file that holds one JSON array.
type Array struct {
	Name string
	File io.ReadSeeker
}

// An Element is one element of an Array. It follows the offset After of the file, with only white
// space and a comma in between.
type Element[T any] struct {
	Value T
	After int64
}

// Elements yields the elements of the array, from where its file stands.
func Elements[T any](a Array) iter.Seq2[Element[T], error] {
	return func(yield func(Element[T], error) bool) {
		within := Bound(pyjson.Strict(a.File))
		dec := json.NewDecoder(within)
		err := opened(dec)
		for err == nil && dec.More() {
			e := Element[T]{After: dec.InputOffset()}
			if err = dec.Decode(&e.Value); err != nil {
				yield(e, a.Fault(e.After, err))
				return
			}
			if !yield(e, nil) {
				return
			}
			within.Renew()
		}
		if err == nil {
			err = closed(dec)
		}
		if err != nil {
			yield(Element[T]{}, a.Fault(dec.InputOffset(), err))
		}
	}
}

// At is the element of an array that follows the offset after of its file.
func At[T any](file io.ReaderAt, after int64) (value T, err error) {
	r := bufio.NewReader(pyjson.Strict(io.NewSectionReader(file, after, math.MaxInt64-after)))
	skipComma(r)
	err = json.NewDecoder(r).Decode(&value)
	return value, err
}

// opened reads the beginning of the array.
func opened(dec *json.Decoder) error {
	first, err := dec.Token()
	if err == io.EOF {
		return errors.New("the file is empty")
	}
	_, number := errors.AsType[*json.UnmarshalTypeError](err) // beyond the range of any
	if number || err == nil && first != json.Delim('[') {
		return errors.New("not a JSON array")
	}
	return err
}

// closed reads the end of the array, and makes sure that nothing follows it.
func closed(dec *json.Decoder) error {
	if _, err := dec.Token(); err == io.EOF {
		return io.ErrUnexpectedEOF
	} else if err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("something follows the array")
	}
	return nil
}

// Fault adds the name of the file and the line to err, which is about something after the offset
// after.
func (a Array) Fault(after int64, err error) error {
	line, unknown := a.line(after, err)
	if unknown != nil {
		return fmt.Errorf("%s: %w", a.Name, Plain(err))
	}
	return fmt.Errorf("%s:%d: %w", a.Name, line, Plain(err))
}

// line is the line of err in the element after the offset after, or the line on which the element
// begins. It reads the element again, because the decoder's errors do not name a line.
func (a Array) line(after int64, err error) (int, error) {
	if _, err := a.File.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	r := bufio.NewReader(pyjson.Strict(a.File))
	lines := newlines(0)
	if _, err := io.CopyN(&lines, r, after); err != nil {
		return 0, err
	}
	lines += skipComma(r)
	if errors.Is(err, errLongRecord) { // which nobody reads again
		return 1 + int(lines+skipComma(r)), nil
	}
	var text bytes.Buffer
	again := json.NewDecoder(io.TeeReader(r, &text)).Decode(new(json.RawMessage))
	lines.Write(text.Bytes()[:faultOffset(text.Bytes(), err, again)])
	return 1 + int(lines), nil
}

// skipComma skips white space, and a comma, if one follows. It returns how many newlines it skipped.
func skipComma(r *bufio.Reader) (skipped newlines) {
	for {
		next, err := r.Peek(1)
		if err != nil || !bytes.ContainsAny(next, " \t\r\n,") {
			return skipped
		}
		comma := next[0] == ','
		skipped.Write(next)
		r.Discard(1)
		if comma {
			return skipped
		}
	}
}

// faultOffset is the offset of err in the text of an element; again is the error of
// decoding only that text.
func faultOffset(text []byte, err, again error) int64 {
	if syntax, ok := errors.AsType[*json.SyntaxError](again); ok {
		return syntax.Offset
	}
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return min(kind.Offset, int64(len(text)))
	}
	if errors.Is(again, io.ErrUnexpectedEOF) {
		return int64(len(text))
	}
	return int64(len(text) - len(bytes.TrimLeft(text, " \t\r\n")))
}

// Plain is err in words without Go's types, if it says that a JSON value has the
// wrong type. Other errors stay as they are.
func Plain(err error) error {
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		wrong := errors.New("unexpected JSON " + kind.Value)
		if kind.Value == "object" { // see pyjson.Strict
			wrong = errors.New("unexpected JSON object, or NaN")
		}
		if kind.Field != "" {
			return fmt.Errorf("%s: %w", kind.Field, wrong)
		}
		return wrong
	}
	return err
}

// newlines counts the newlines written to it.
type newlines int

func (n *newlines) Write(p []byte) (int, error) {
	*n += newlines(bytes.Count(p, []byte("\n")))
	return len(p), nil
}
