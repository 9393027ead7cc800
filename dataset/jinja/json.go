package jinja

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
)

// parseJSON reads one JSON value as Python's json.loads does: the keys of an
// object keep their order, and a number without a fraction is an int.
func parseJSON(text []byte) (v value, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if v, err = decodeJSON(decoder, 0); err != nil {
		return nil, err
	}
	if _, err = decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more follows the JSON value")
	}
	return v, nil
}

func decodeJSON(decoder *json.Decoder, depth int) (value, error) {
	if depth > maxDepth {
		return nil, errors.New("the JSON nests too deeply")
	}
	t, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Number:
		return jsonNumber(t)
	case json.Delim:
		if t == '[' {
			return decodeArray(decoder, depth)
		}
		return decodeObject(decoder, depth)
	default:
		return t, nil
	}
}

func decodeArray(decoder *json.Decoder, depth int) (value, error) {
	items := list{}
	for decoder.More() {
		item, err := decodeJSON(decoder, depth+1)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	_, err := decoder.Token()
	return items, err
}

func decodeObject(decoder *json.Decoder, depth int) (value, error) {
	object := newDict()
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		item, err := decodeJSON(decoder, depth+1)
		if err != nil {
			return nil, err
		}
		object.set(key, item)
	}
	_, err := decoder.Token()
	return object, err
}

func jsonNumber(n json.Number) (value, error) {
	if strings.ContainsAny(n.String(), ".eE") {
		return n.Float64()
	}
	i, err := strconv.Atoi(n.String())
	if err != nil {
		return nil, fmt.Errorf("the integer %s is too large", n)
	}
	return i, nil
}

// A dumper writes JSON as Python's json.dumps spells it.
type dumper struct {
	strings.Builder
	ascii                  bool
	sortKeys               bool
	indent                 string // of one level
	breaks                 bool   // each item begins a line
	itemSeparator, keyMark string
	renderer               *renderer
}

func (d *dumper) dump(v value, depth int) {
	if depth > maxDepth {
		fail("tojson: values nest too deeply")
	}
	d.renderer.charge(8)
	switch v := v.(type) {
	case nil:
		d.WriteString("null")
	case bool:
		d.WriteString(strconv.FormatBool(v))
	case int:
		d.WriteString(strconv.Itoa(v))
	case float64:
		d.WriteString(jsonFloat(v))
	case string:
		d.quote(v)
	case list:
		d.items("[", "]", len(v), depth, func(i int) { d.dump(v[i], depth+1) })
	case tuple:
		d.dump(list(v), depth)
	case *dict:
		if d.sortKeys {
			v = sortedDict(d.renderer, v)
		}
		d.items("{", "}", len(v.keys), depth, func(i int) {
			d.quote(jsonKey(v.keys[i]))
			d.WriteString(d.keyMark)
			d.dump(v.values[i], depth+1)
		})
	default:
		fail("tojson: a value of type '%s' is not JSON serializable", typeName(v))
	}
}

func (d *dumper) items(begin, end string, n, depth int, item func(i int)) {
	d.WriteString(begin)
	for i := range n {
		if i > 0 {
			d.WriteString(d.itemSeparator)
		}
		d.newline(depth + 1)
		item(i)
	}
	if n > 0 {
		d.newline(depth)
	}
	d.WriteString(end)
}

func (d *dumper) newline(depth int) {
	if d.breaks {
		d.renderer.charge(len(d.indent) * depth)
		d.WriteString("\n" + strings.Repeat(d.indent, depth))
	}
}

func (d *dumper) quote(s string) {
	d.renderer.charge(len(s))
	d.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			d.WriteByte('\\')
			d.WriteRune(c)
		case c < 0x20:
			if short := strings.IndexRune("\b\t\n\f\r", c); short >= 0 {
				d.WriteByte('\\')
				d.WriteByte("btnfr"[short])
			} else {
				fmt.Fprintf(d, `\u%04x`, c)
			}
		case d.ascii && c > 0xffff:
			high, low := utf16.EncodeRune(c)
			fmt.Fprintf(d, `\u%04x\u%04x`, high, low)
		case d.ascii && c > 0x7e:
			if c == 0x7f {
				d.WriteRune(c)
			} else {
				fmt.Fprintf(d, `\u%04x`, c)
			}
		default:
			d.WriteRune(c)
		}
	}
	d.WriteByte('"')
}

func jsonFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return floatText(f)
}

func jsonKey(key value) string {
	switch key := key.(type) {
	case string:
		return key
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(key)
	case int:
		return strconv.Itoa(key)
	case float64:
		return jsonFloat(key)
	}
	fail("tojson: keys must be str, int, float, bool or None, not %s", typeName(key))
	return ""
}

func sortedDict(r *renderer, d *dict) *dict {
	sorted := newDict()
	for _, pair := range sortValues(r, d.pairs(), func(pair value) value { return pair.(tuple)[0] }, false) {
		sorted.set(pair.(tuple)[0], pair.(tuple)[1])
	}
	return sorted
}
