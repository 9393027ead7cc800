// Package pyjson reads and writes JSON as Python's json module does, so that request bodies and
// result files equal the ones of vLLM's client byte for byte: objects keep the order of their keys,
// and numbers their spelling as far as Python keeps it.
package pyjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/servebench/servebench/metrics"
)

// An Object is a JSON object that keeps the order of its members, so a body has its keys in the
// order of vLLM's client.
//
// A value is nil, a bool, a string, an int, a float64, a json.Number holding an integer of any
// size, an Object, a []any of these, or a slice of one of the types that Append names. Parse makes
// no ints: as in Python, a number without a fraction or an exponent is an integer, a json.Number
// here, and any other is a float64.
type Object []Member

// A Member is one key of an Object with its value.
type Member struct {
	Key   string
	Value any
}

// Get is the value of a key, and whether there is one.
func (o Object) Get(key string) (any, bool) {
	for _, m := range o {
		if m.Key == key {
			return m.Value, true
		}
	}
	return nil, false
}

// With is o with one member set: at its place if the key exists, at the end if not. It may reuse
// the memory of o.
func (o Object) With(key string, value any) Object {
	for i := range o {
		if o[i].Key == key {
			o[i].Value = value
			return o
		}
	}
	return append(o, Member{key, value})
}

// Set sets one member of o, as With does.
func (o *Object) Set(key string, value any) { *o = o.With(key, value) }

// Merge is o with all members of over set in it, as Python's {**o, **over}. It changes neither.
func (o Object) Merge(over Object) Object {
	merged := slices.Clone(o)
	for _, m := range over {
		merged = merged.With(m.Key, m.Value)
	}
	return merged
}

// Parse reads one JSON value as Python's json.loads does: objects keep the order of their keys, and
// of two members with the same key the first place and the last value.
func Parse(text string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	v, err := parseValue(dec)
	if err == nil {
		if _, end := dec.Token(); end != io.EOF {
			err = errors.New("more after the value")
		}
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("it ends in the middle")
	case err != nil:
		return nil, fmt.Errorf("at byte %d: %w", dec.InputOffset(), err)
	}
	return v, nil
}

func parseValue(dec *json.Decoder) (any, error) {
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Number:
		return parseNumber(t), nil
	case json.Delim:
		if t == '{' {
			return parseObject(dec)
		}
		return parseArray(dec)
	}
	return t, nil
}

func parseObject(dec *json.Decoder) (any, error) {
	object := Object{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		value, err := parseValue(dec)
		if err != nil {
			return nil, err
		}
		object = object.With(key.(string), value)
	}
	_, err := dec.Token()
	return object, err
}

func parseArray(dec *json.Decoder) (any, error) {
	array := []any{}
	for dec.More() {
		value, err := parseValue(dec)
		if err != nil {
			return nil, err
		}
		array = append(array, value)
	}
	_, err := dec.Token()
	return array, err
}

// parseNumber keeps the spelling of an integer and rounds everything else to a float64, out of
// range to infinity.
func parseNumber(n json.Number) any {
	if !strings.ContainsAny(string(n), ".eE") {
		if n == "-0" {
			return json.Number("0")
		}
		return n
	}
	f, _ := strconv.ParseFloat(string(n), 64)
	return f
}

// Finite is v, or null if JSON cannot represent it.
func Finite(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}

// Append appends v as Python's json.dumps writes it: a space after each
// comma and colon, everything beyond ASCII as \u escapes, floats as
// metrics.FormatFloat. It takes the values that Object lists, slices of
// int, float64, []float64, string or Object, and a json.RawMessage, which it
// copies; it panics on others.
func Append(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case string:
		return appendString(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case float64:
		return appendFloat(b, v)
	case json.Number:
		return append(b, v...)
	case json.RawMessage:
		return append(b, v...)
	case Object:
		return appendObject(b, v)
	case []any:
		return appendArray(b, v)
	case []int:
		return appendInts(b, v)
	case []float64:
		return appendArray(b, v)
	case [][]float64:
		return appendArray(b, v)
	case []string:
		return appendArray(b, v)
	case []Object:
		return appendArray(b, v)
	}
	panic(fmt.Sprintf("pyjson: no JSON for a %T", v))
}

func appendObject(b []byte, o Object) []byte {
	b = append(b, '{')
	for i, m := range o {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(appendString(b, m.Key), ": "...)
		b = Append(b, m.Value)
	}
	return append(b, '}')
}

func appendArray[T any](b []byte, array []T) []byte {
	b = append(b, '[')
	for i, v := range array {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = Append(b, v)
	}
	return append(b, ']')
}

// appendInts is appendArray without an allocation for each number.
func appendInts(b []byte, array []int) []byte {
	b = append(b, '[')
	for i, v := range array {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendInt(b, int64(v), 10)
	}
	return append(b, ']')
}

func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0 // of the part that is not yet appended and needs no escapes
	for i := 0; i < len(s); {
		if c := s[i]; c >= ' ' && c <= '~' && c != '"' && c != '\\' {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		b = append(b, s[start:i]...)
		i += size
		start = i
		if r > 0xffff {
			high, low := utf16.EncodeRune(r)
			b = appendEscape(appendEscape(b, high), low)
		} else if short := shortEscape(r); short != 0 {
			b = append(b, '\\', short)
		} else {
			b = appendEscape(b, r)
		}
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

// shortEscape is the letter of the escape of r that has one, else 0.
func shortEscape(r rune) byte {
	switch r {
	case '"', '\\':
		return byte(r)
	case '\n':
		return 'n'
	case '\r':
		return 'r'
	case '\t':
		return 't'
	case '\f':
		return 'f'
	case '\b':
		return 'b'
	}
	return 0
}

func appendEscape(b []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
}

func appendFloat(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, "NaN"...)
	case math.IsInf(f, 1):
		return append(b, "Infinity"...)
	case math.IsInf(f, -1):
		return append(b, "-Infinity"...)
	}
	return append(b, metrics.FormatFloat(f)...)
}

// Quote is a text as Python's repr shows it: in single quotes, or in double quotes if it holds only
// single ones.
func Quote(text string) string {
	q := strconv.Quote(text)
	q = strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
	if strings.Contains(q, "'") {
		if !strings.Contains(q, `"`) {
			return `"` + q + `"`
		}
		q = strings.ReplaceAll(q, "'", `\'`)
	}
	return "'" + q + "'"
}
