package dataset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
)

// A jsonArray is a file that holds one JSON array. It is read element by element,
// because the file may be larger than the memory.
type jsonArray struct {
	name string
	file io.ReadSeeker
}

// An element is one element of a jsonArray. It follows the offset after of the file,
// with only white space and a comma in between.
type element[T any] struct {
	value T
	after int64
}

// elements yields the elements of the array. An error names the file and the line.
func elements[T any](a jsonArray) iter.Seq2[element[T], error] {
	return func(yield func(element[T], error) bool) {
		dec := json.NewDecoder(a.file)
		err := opened(dec)
		for err == nil && dec.More() {
			e := element[T]{after: dec.InputOffset()}
			if err = dec.Decode(&e.value); err != nil {
				yield(e, a.fault(e.after, err))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
		if err == nil {
			err = closed(dec)
		}
		if err != nil {
			yield(element[T]{}, a.fault(dec.InputOffset(), err))
		}
	}
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

// fault adds the name of the file and the line to err, which is about something after the offset
// after.
func (a jsonArray) fault(after int64, err error) error {
	line, unknown := a.line(after, err)
	if unknown != nil {
		return fmt.Errorf("%s: %w", a.name, plain(err))
	}
	return fmt.Errorf("%s:%d: %w", a.name, line, plain(err))
}

// line is the line of err in the element after the offset after, or the line on which the element
// begins. It reads the element again, because the decoder's errors do not name a line.
func (a jsonArray) line(after int64, err error) (int, error) {
	if _, err := a.file.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	r := bufio.NewReader(a.file)
	lines := newlines(0)
	if _, err := io.CopyN(&lines, r, after); err != nil {
		return 0, err
	}
	for {
		next, err := r.Peek(1)
		if err != nil || !bytes.ContainsAny(next, " \t\r\n,") {
			break
		}
		lines.Write(next)
		r.Discard(1)
		if next[0] == ',' {
			break
		}
	}
	var text bytes.Buffer
	again := json.NewDecoder(io.TeeReader(r, &text)).Decode(new(json.RawMessage))
	lines.Write(text.Bytes()[:faultOffset(text.Bytes(), err, again)])
	return 1 + int(lines), nil
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

// plain is err in words without Go's types, if it says that a JSON value has the
// wrong type. Other errors stay as they are.
func plain(err error) error {
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		wrong := errors.New("unexpected JSON " + kind.Value)
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
