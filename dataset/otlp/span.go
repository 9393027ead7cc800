// Package otlp reads spans of OpenTelemetry from the JSON of OTLP.
//
// A file is one document, or one a line, as the Collector's file exporter writes them. Spans are read one after the
// other, since a document may be large, and a Place finds one again.
package otlp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/servebench/servebench/dataset/rows"
	"github.com/servebench/servebench/metrics/pyjson"
)

// A Span is a span as the JSON of OTLP has it.
type Span struct {
	Trace      rows.Name   `json:"traceId"`
	ID         rows.Name   `json:"spanId"`
	Parent     rows.Name   `json:"parentSpanId"`
	Start      rows.Name   `json:"startTimeUnixNano"`
	End        rows.Name   `json:"endTimeUnixNano"`
	Attributes []Attribute `json:"attributes"`
	Events     []struct {
		Name       string      `json:"name"`
		Attributes []Attribute `json:"attributes"`
	} `json:"events"`
	Status struct {
		Code rows.Name `json:"code"`
	} `json:"status"`
}

// An Attribute is a value with its name.
type Attribute struct {
	Key   string `json:"key"`
	Value Value  `json:"value"`
}

// A Value has one of its fields.
type Value struct {
	Text   *string         `json:"stringValue"`
	Int    rows.Name       `json:"intValue"`
	Double json.RawMessage `json:"doubleValue"`
	Bool   json.RawMessage `json:"boolValue"`
	Array  *struct {
		Values []Value `json:"values"`
	} `json:"arrayValue"`
	List *struct {
		Values []Attribute `json:"values"`
	} `json:"kvlistValue"`
}

// details is the event that has the texts of a request if the attributes have none.
const details = "gen_ai.client.inference.operation.details"

// attribute is the first attribute that has one of the names, in their order; nil if there is none.
func (s *Span) attribute(names ...string) (value *Value, found string) {
	for _, name := range names {
		for i := range s.Attributes {
			if a := &s.Attributes[i]; a.Key == name {
				return &a.Value, name
			}
		}
	}
	return nil, ""
}

// Content is the attribute of that name, of the span or of its event with details; nil if there is none.
func (s *Span) Content(name string) *Value {
	if value, _ := s.attribute(name); value != nil {
		return value
	}
	for i := range s.Events {
		if e := &s.Events[i]; e.Name == details {
			if value, _ := (&Span{Attributes: e.Attributes}).attribute(name); value != nil {
				return value
			}
		}
	}
	return nil
}

// Text is the first text under one of the names, or empty.
func (s *Span) Text(names ...string) string {
	if value, _ := s.attribute(names...); value != nil {
		return value.scalar()
	}
	return ""
}

// Count is the first number of tokens under one of the names; −1 without one.
func (s *Span) Count(names ...string) (int, error) {
	value, name := s.attribute(names...)
	if value == nil || value.scalar() == "" {
		return -1, nil
	}
	n, err := strconv.ParseFloat(value.scalar(), 64)
	if err != nil || !(n >= 0 && n < maxLen) || n != math.Trunc(n) {
		return 0, fmt.Errorf("%q is %q: must be a whole number of tokens from 0 to below 2²⁸", name, value.scalar())
	}
	return int(n), nil
}

// Times are the start and the end, in nanoseconds since 1970.
func (s *Span) Times() (start, end int64, err error) {
	for _, field := range []struct {
		name string
		text rows.Name
		into *int64
	}{{"startTimeUnixNano", s.Start, &start}, {"endTimeUnixNano", s.End, &end}} {
		if field.text == "" {
			return 0, 0, fmt.Errorf("no %q", field.name)
		}
		if *field.into, err = strconv.ParseInt(string(field.text), 10, 64); err != nil || *field.into < 0 {
			return 0, 0, fmt.Errorf("%q is %q: must be a whole number of nanoseconds since 1970", field.name, field.text)
		}
	}
	if end < start {
		return 0, 0, fmt.Errorf("the span ends %v before its start", time.Duration(start-end))
	}
	return start, end, nil
}

// Failed reports whether the span says that it is an error.
func (s *Span) Failed() bool { return s.Status.Code == "2" || s.Status.Code == "STATUS_CODE_ERROR" }

// scalar is a text or a number as it is written; empty for others.
func (v *Value) scalar() string {
	switch {
	case v.Text != nil:
		return *v.Text
	case v.Int != "":
		return string(v.Int)
	}
	var text string // of a number, as the JSON of protobuf may have it
	if json.Unmarshal(v.Double, &text) == nil {
		return text
	}
	return string(v.Double)
}

// JSON is the value as plain JSON. A text is taken to be JSON already.
func (v *Value) JSON() []byte {
	if v.Text != nil {
		return []byte(*v.Text)
	}
	return v.appendTo(nil)
}

// appendTo appends the value as plain JSON.
func (v *Value) appendTo(text []byte) []byte {
	switch {
	case v.Text != nil:
		return append(text, quoted(*v.Text)...)
	case v.Array != nil:
		text = append(text, '[')
		for i := range v.Array.Values {
			text = append(v.Array.Values[i].appendTo(text), ',')
		}
		return append(bytes.TrimSuffix(text, []byte(",")), ']')
	case v.List != nil:
		text = append(text, '{')
		for i := range v.List.Values {
			a := &v.List.Values[i]
			text = append(append(text, quoted(a.Key)...), ':')
			text = append(a.Value.appendTo(text), ',')
		}
		return append(bytes.TrimSuffix(text, []byte(",")), '}')
	case v.Int != "":
		return append(text, v.Int...)
	case v.Double != nil:
		return append(text, v.Double...)
	case v.Bool != nil:
		return append(text, v.Bool...)
	}
	return append(text, "null"...)
}

// quoted is a text as JSON.
func quoted(text string) []byte {
	raw, _ := json.Marshal(text) // texts have no errors
	return raw
}

// maxLen is longer than any model accepts: a longer prompt or answer means a broken file.
const maxLen = 1 << 28

// levels are where the spans are in a document.
var levels = []string{"resourceSpans", "scopeSpans", "spans"}

// A reader finds the spans of a file, one after the other, because a document may be large.
type reader struct {
	dec    *json.Decoder
	within *rows.Bounded
	after  int64 // what it reads now follows this offset
	found  func(span *Span, at Place) error
}

// A Place is where a span is in its file: so many bytes after an offset, with the white space and
// the comma before it.
type Place struct {
	after int64
	size  int32
}

// Span is the span at a place that is known to have one.
func (at Place) Span(file io.ReaderAt) (span Span, err error) {
	text := make([]byte, at.size)
	if _, err := file.ReadAt(text, at.after); err != nil && err != io.EOF {
		return span, err
	}
	err = json.Unmarshal(pyjson.StrictText(bytes.TrimLeft(text, " \t\r\n,")), &span)
	return span, err
}

// Spans calls found for each span of the documents in a file. An error names the file by name, and the line.
func Spans(file io.ReaderAt, name string, found func(span *Span, at Place) error) error {
	within := rows.Bound(pyjson.Strict(io.NewSectionReader(file, 0, math.MaxInt64)))
	r := reader{dec: json.NewDecoder(within), within: within, found: found}
	for {
		err := r.begin('{', "not a JSON object")
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = r.object(levels)
		}
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return fault(file, name, r.after, err)
		}
	}
}

// Fault adds the file and the line to an error about the span at a place.
func (at Place) Fault(file io.ReaderAt, name string, err error) error {
	return fault(file, name, at.after, err)
}

// fault adds the file and the line to an error about what follows an offset.
func fault(file io.ReaderAt, name string, after int64, err error) error {
	var next [1]byte
	for n := 1; n == 1; after++ { // past the colon after a key
		if n, _ = file.ReadAt(next[:], after); n == 0 || !bytes.ContainsAny(next[:], " \t\r\n:") {
			break
		}
	}
	return rows.Array{Name: name, File: io.NewSectionReader(file, 0, math.MaxInt64)}.Fault(after, err)
}

// token reads a token.
func (r *reader) token() (json.Token, error) {
	r.after = r.dec.InputOffset()
	r.within.Renew()
	return r.dec.Token()
}

// begin reads the beginning of an object or a list; wrong is the error if another value is there.
func (r *reader) begin(delim json.Delim, wrong string) error {
	token, err := r.token()
	if err == nil && token != delim {
		err = errors.New(wrong)
	}
	return err
}

// object reads the rest of an object, with the lists in it that path names.
func (r *reader) object(path []string) error {
	for r.dec.More() {
		key, err := r.token()
		switch {
		case err != nil:
		case key == path[0]:
			err = r.list(path)
		default:
			r.after = r.dec.InputOffset()
			err = r.dec.Decode(new(json.RawMessage))
		}
		if err != nil {
			return err
		}
	}
	_, err := r.token()
	return err
}

// list reads the list that path begins with.
func (r *reader) list(path []string) error {
	if token, err := r.token(); err != nil || token == nil { // null is an empty list
		return err
	} else if token != json.Delim('[') {
		return errors.New(strconv.Quote(path[0]) + " is not a list")
	}
	for r.dec.More() {
		var err error
		if len(path) > 1 {
			if err = r.begin('{', strconv.Quote(path[0])+" has an element that is not an object"); err == nil {
				err = r.object(path[1:])
			}
		} else {
			r.after = r.dec.InputOffset()
			r.within.Renew()
			var span Span
			if err = r.dec.Decode(&span); err == nil {
				err = r.found(&span, Place{r.after, int32(r.dec.InputOffset() - r.after)})
			}
		}
		if err != nil {
			return err
		}
	}
	_, err := r.token()
	return err
}
