package builtin

import (
	"strings"
	"time"

	"github.com/servebench/servebench/dataset/jinja/python"
)

// directives are the directives of C's strftime, in the C locale, as layouts of
// package time.
var directives = map[byte]string{
	'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'e': "_2", 'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM",
	'B': "January", 'b': "Jan", 'h': "Jan", 'A': "Monday", 'a': "Mon", 'j': "002",
	'F': "2006-01-02", 'T': "15:04:05", 'R': "15:04", 'D': "01/02/06",
}

// strftime is a time as Python's strftime formats it. It refuses directives of other locales.
func strftime(t time.Time, format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		unpadded := format[i] == '-' && i+1 < len(format)
		if unpadded {
			i++
		}
		switch layout, ok := directives[format[i]]; {
		case format[i] == '%':
			b.WriteByte('%')
		case !ok || unpadded && len(layout) > len("002"):
			python.Raise("strftime_now: %%%c is not supported", format[i])
		case unpadded:
			b.WriteString(unpad(t.Format(layout)))
		default:
			b.WriteString(t.Format(layout))
		}
	}
	return b.String()
}

func unpad(number string) string {
	if short := strings.TrimLeft(number, "0 "); short != "" {
		return short
	}
	return "0"
}
