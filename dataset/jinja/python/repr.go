package python

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// MaxDepth is how deep values may nest, and the expressions and calls of a program.
const MaxDepth = 200

// maxRepr bounds the text of one value: a small value may repeat a part many times.
const maxRepr = 1 << 20

// repr is Python's repr(v). It refuses values that Python shows with an address.
func repr(v Value) string {
	var b strings.Builder
	writeRepr(&b, v, 0)
	return b.String()
}

func writeRepr(b *strings.Builder, v Value, depth int) {
	if depth > MaxDepth || b.Len() > maxRepr {
		Raise("a value is too deep or too long to print")
	}
	switch v := v.(type) {
	case nil:
		b.WriteString("None")
	case bool:
		b.WriteString(map[bool]string{true: "True", false: "False"}[v])
	case int:
		b.WriteString(strconv.Itoa(v))
	case float64:
		b.WriteString(FloatText(v))
	case string:
		writeQuoted(b, v)
	case Undefined:
		b.WriteString("Undefined")
	case List:
		writeAll(b, "[", v, "]", depth)
	case Tuple:
		if len(v) == 1 {
			writeAll(b, "(", List(v), ",)", depth)
			return
		}
		writeAll(b, "(", List(v), ")", depth)
	case view:
		writeAll(b, v.kind+"([", v.items, "])", depth)
	case span:
		fmt.Fprintf(b, "range(%d, %d", v.start, v.stop)
		if v.step != 1 {
			fmt.Fprintf(b, ", %d", v.step)
		}
		b.WriteString(")")
	case *Dict:
		writeDict(b, v, depth)
	default:
		Raise("printing of a value of type '%s' is not supported", TypeName(v))
	}
}

func writeAll(b *strings.Builder, begin string, items List, end string, depth int) {
	b.WriteString(begin)
	for i, item := range items {
		if i > 0 {
			b.WriteString(", ")
		}
		writeRepr(b, item, depth+1)
	}
	b.WriteString(end)
}

func writeDict(b *strings.Builder, d *Dict, depth int) {
	b.WriteString("{")
	for i, key := range d.keys {
		if i > 0 {
			b.WriteString(", ")
		}
		writeRepr(b, key, depth+1)
		b.WriteString(": ")
		writeRepr(b, d.values[i], depth+1)
	}
	b.WriteString("}")
}

// FloatText is Python's repr of a float: the shortest digits that read back the same.
func FloatText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 0):
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(f, 'g', -1, 64)), "+")
	}
	if size := math.Abs(f); size != 0 && (size < 1e-4 || size >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func writeQuoted(b *strings.Builder, s string) {
	quote := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	b.WriteRune(quote)
	for _, c := range s {
		switch {
		case c == quote || c == '\\':
			b.WriteRune('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(c):
			b.WriteRune(c)
		case c < 0x100:
			fmt.Fprintf(b, `\x%02x`, c)
		case c < 0x10000:
			fmt.Fprintf(b, `\u%04x`, c)
		default:
			fmt.Fprintf(b, `\U%08x`, c)
		}
	}
	b.WriteRune(quote)
}
