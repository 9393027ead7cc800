package report

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/servebench/servebench/metrics"
)

// A dict is a JSON object with ordered keys. Setting a key again changes its
// value and leaves its place, as in Python.
type dict struct {
	keys   []string
	values map[string]any
}

func (d *dict) set(key string, value any) {
	if d.values == nil {
		d.values = map[string]any{}
	}
	if _, ok := d.values[key]; !ok {
		d.keys = append(d.keys, key)
	}
	d.values[key] = value
}

// setKnown sets a number unless it is not known.
func (d *dict) setKnown(key string, value float64) {
	if !math.IsNaN(value) {
		d.set(key, value)
	}
}

// setCount sets a count unless it is not known.
func (d *dict) setCount(key string, n int) {
	if n >= 0 {
		d.set(key, n)
	}
}

// appendJSON writes v as Python's json.dumps does with its defaults: a space
// after colons and commas, floats as repr, everything beyond ASCII escaped.
func appendJSON(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case float64:
		return appendFloat(b, v)
	case string:
		return appendString(b, v)
	case []int:
		return appendList(b, v)
	case []float64:
		return appendList(b, v)
	case [][]float64:
		return appendList(b, v)
	case []string:
		return appendList(b, v)
	case []*dict:
		return appendList(b, v)
	case *dict:
		b = append(b, '{')
		for i, key := range v.keys {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = append(appendString(b, key), ": "...)
			b = appendJSON(b, v.values[key])
		}
		return append(b, '}')
	}
	panic(fmt.Sprintf("report: no JSON for %T", v))
}

func appendList[E any](b []byte, list []E) []byte {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = appendJSON(b, v)
	}
	return append(b, ']')
}

func appendFloat(b []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(b, "NaN"...)
	case math.IsInf(v, 1):
		return append(b, "Infinity"...)
	case math.IsInf(v, -1):
		return append(b, "-Infinity"...)
	}
	return append(b, metrics.FormatFloat(v)...)
}

func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r == '\b':
			b = append(b, `\b`...)
		case r == '\f':
			b = append(b, `\f`...)
		case r >= ' ' && r <= '~':
			b = append(b, byte(r))
		case r < utf8.RuneSelf || utf16.RuneLen(r) == 1:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		}
	}
	return append(b, '"')
}
