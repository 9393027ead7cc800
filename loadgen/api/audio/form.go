package audio

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/servebench/servebench/dataset"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
)

// A form is a body of several parts (RFC 7578) while it is written.
type form struct {
	boundary string
	body     []byte
}

// file adds a file.
func (f *form) file(u *dataset.Upload) {
	f.part(u.Type, `name="file"; filename="`+encoded(u.Name)+`"`)
	f.body = append(append(f.body, u.Data...), "\r\n"...)
}

// field adds a setting.
func (f *form) field(name string, value any) {
	f.part("text/plain; charset=utf-8", `name="`+quoted(name)+`"`)
	if text, ok := value.(string); ok {
		f.body = append(f.body, text...)
	} else {
		f.body = appendRepr(f.body, value)
	}
	f.body = append(f.body, "\r\n"...)
}

// part begins a part.
func (f *form) part(kind, disposition string) {
	for _, text := range []string{"--", f.boundary, "\r\nContent-Type: ", kind, "\r\nContent-Disposition: form-data; ",
		disposition, "\r\n\r\n"} {
		f.body = append(f.body, text...)
	}
}

// end is the whole form.
func (f *form) end() []byte {
	return append(append(append(f.body, "--"...), f.boundary...), "--\r\n"...)
}

// quoted is a name between quotes, with the escapes of vLLM's client. That fails on a control
// character, which is sent as a percent code here.
func quoted(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		switch {
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, "%%%02X", c)
		case c == '\\' || c == '"' || c == ' ':
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// encoded is a file name as Python's urllib.parse.quote writes it.
func encoded(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("_.-~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// appendRepr appends a value as Python's repr writes it. It takes the values of a pyjson.Object.
func appendRepr(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "None"...)
	case bool:
		if v {
			return append(b, "True"...)
		}
		return append(b, "False"...)
	case string:
		return append(b, pyjson.Quote(v)...)
	case float64:
		return append(b, repr(v)...)
	case json.RawMessage:
		if parsed, err := pyjson.Parse(string(v)); err == nil {
			return appendRepr(b, parsed)
		}
	case pyjson.Object:
		b = append(b, '{')
		for i, m := range v {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = append(append(b, pyjson.Quote(m.Key)...), ": "...)
			b = appendRepr(b, m.Value)
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendRepr(b, item)
		}
		return append(b, ']')
	}
	return pyjson.Append(b, v) // numbers are the same
}

// repr is a float as Python writes it.
func repr(v float64) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	}
	return metrics.FormatFloat(v)
}
