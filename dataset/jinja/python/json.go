package python

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

// ParseJSON reads one JSON value as Python's json.loads does: the keys of an
// object keep their order, and a number without a fraction is an int.
func ParseJSON(text []byte) (v Value, err error) {
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

func decodeJSON(decoder *json.Decoder, depth int) (Value, error) {
	if depth > MaxDepth {
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

func decodeArray(decoder *json.Decoder, depth int) (Value, error) {
	items := List{}
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

func decodeObject(decoder *json.Decoder, depth int) (Value, error) {
	object := NewDict()
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		item, err := decodeJSON(decoder, depth+1)
		if err != nil {
			return nil, err
		}
		object.Set(key, item)
	}
	_, err := decoder.Token()
	return object, err
}

func jsonNumber(n json.Number) (Value, error) {
	if strings.ContainsAny(n.String(), ".eE") {
		return n.Float64()
	}
	i, err := strconv.Atoi(n.String())
	if err != nil {
		return nil, fmt.Errorf("the integer %s is too large", n)
	}
	return i, nil
}

// A JSONStyle says how json.dumps spells JSON.
type JSONStyle struct {
	Ascii         bool   // other characters are escaped
	SortKeys      bool   // of objects
	Breaks        bool   // each item begins a line
	Indent        string // of one level, where items begin lines
	ItemSeparator string // after each item but the last
	KeyMark       string // between a key and its value
}

// Dumps is Python's json.dumps(v).
func Dumps(m *Meter, v Value, style JSONStyle) string {
	d := dumper{JSONStyle: style, Meter: m}
	d.dump(v, 0)
	return d.String()
}

// A dumper writes JSON.
type dumper struct {
	strings.Builder
	JSONStyle
	Meter *Meter
}

func (d *dumper) dump(v Value, depth int) {
	if depth > MaxDepth {
		Raise("tojson: values nest too deeply")
	}
	d.Meter.Charge(8)
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
	case List:
		d.items("[", "]", len(v), depth, func(i int) { d.dump(v[i], depth+1) })
	case Tuple:
		d.dump(List(v), depth)
	case *Dict:
		if d.SortKeys {
			v = sortedDict(d.Meter, v)
		}
		d.items("{", "}", len(v.keys), depth, func(i int) {
			d.quote(jsonKey(v.keys[i]))
			d.WriteString(d.KeyMark)
			d.dump(v.values[i], depth+1)
		})
	default:
		Raise("tojson: a value of type '%s' is not JSON serializable", TypeName(v))
	}
}

func (d *dumper) items(begin, end string, n, depth int, item func(i int)) {
	d.WriteString(begin)
	for i := range n {
		if i > 0 {
			d.WriteString(d.ItemSeparator)
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
	if d.Breaks {
		d.Meter.Charge(len(d.Indent) * depth)
		d.WriteString("\n" + strings.Repeat(d.Indent, depth))
	}
}

func (d *dumper) quote(s string) {
	d.Meter.Charge(len(s))
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
		case d.Ascii && c > 0xffff:
			high, low := utf16.EncodeRune(c)
			fmt.Fprintf(d, `\u%04x\u%04x`, high, low)
		case d.Ascii && c > 0x7e:
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
	return FloatText(f)
}

func jsonKey(key Value) string {
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
	Raise("tojson: keys must be str, int, float, bool or None, not %s", TypeName(key))
	return ""
}

func sortedDict(m *Meter, d *Dict) *Dict {
	sorted := NewDict()
	for _, pair := range SortBy(m, d.Pairs(), func(pair Value) Value { return pair.(Tuple)[0] }, false) {
		sorted.Set(pair.(Tuple)[0], pair.(Tuple)[1])
	}
	return sorted
}
