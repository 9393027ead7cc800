package lexer

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/servebench/servebench/dataset/jinja/python"
)

// A Kind says what a token is.
type Kind int

const (
	End           Kind = iota // of the template
	Data                      // text between tags
	BlockBegin                // {%
	BlockEnd                  // %}
	VariableBegin             // {{
	VariableEnd               // }}
	Name                      // also of a tag, and words such as in
	String
	Number
	Operator // also brackets and commas
)

// A Token is a word of the language, or text between tags.
type Token struct {
	Kind  Kind
	Text  string       // of a string without its quotes and escapes; empty where kind says all
	Value python.Value // of a number
	Line  int          // of the template, from 1
}

// Is reports whether t is that name or operator.
func (t Token) Is(kind Kind, text string) bool { return t.Kind == kind && t.Text == text }

// String is t as a message names it.
func (t Token) String() string {
	switch t.Kind {
	case End:
		return "the end of the template"
	case BlockEnd:
		return "the end of the tag"
	case VariableEnd:
		return "the end of the expression"
	}
	return strconv.Quote(t.Text)
}

// operators are tried in this order.
var operators = []string{
	"//", "**", "==", "!=", ">=", "<=",
	"+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{", "}", ">", "<", "=", ".", ":", "|", ",", ";",
}

func operatorAt(s string) string {
	for _, op := range operators {
		if strings.HasPrefix(s, op) {
			return op
		}
	}
	return ""
}

// digitsAt is the longest run of digits at the start of s, with single underscores
// between them.
func digitsAt(s string, isDigit func(byte) bool) string {
	i := 0
	for i < len(s) && (isDigit(s[i]) || s[i] == '_' && i > 0 && s[i-1] != '_' && i+1 < len(s) && isDigit(s[i+1])) {
		i++
	}
	return s[:i]
}

func isDecimal(c byte) bool { return c >= '0' && c <= '9' }

// numberAt reads the number at the start of s. After a dot only an integer may follow.
func numberAt(s string, afterDot bool) (text string, isFloat bool) {
	whole := digitsAt(s, isDecimal)
	if whole == "" {
		return "", false
	}
	if n := len(whole); !afterDot {
		end := n
		if strings.HasPrefix(s[end:], ".") {
			if fraction := digitsAt(s[end+1:], isDecimal); fraction != "" {
				end += 1 + len(fraction)
			}
		}
		if exponent := exponentAt(s[end:]); exponent > 0 {
			end += exponent
		}
		if end > n {
			return s[:end], true
		}
	}
	return integerAt(s, whole), false
}

func exponentAt(s string) int {
	if s == "" || s[0] != 'e' && s[0] != 'E' {
		return 0
	}
	sign := 0
	if len(s) > 1 && (s[1] == '+' || s[1] == '-') {
		sign = 1
	}
	digits := digitsAt(s[1+sign:], isDecimal)
	if digits == "" {
		return 0
	}
	return 1 + sign + len(digits)
}

// integerAt is the part of whole that is an integer in Python: only zero itself
// starts with a zero.
func integerAt(s, whole string) string {
	if s[0] != '0' {
		return whole
	}
	if len(s) > 2 && strings.ContainsRune("bBoOxX", rune(s[1])) {
		python.Raise("integers of another base than ten are not supported")
	}
	return digitsAt(s, func(c byte) bool { return c == '0' })
}

func numberValue(text string, isFloat bool) python.Value {
	text = strings.ReplaceAll(text, "_", "")
	if isFloat {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			python.Raise("the number %s is out of range", text)
		}
		return f
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		python.Raise("the integer %s is too large", text)
	}
	return n
}

// quotedAt is the string literal at the start of s, with its quotes.
func quotedAt(s string) string {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return s[:i+1]
		}
	}
	return ""
}

var simpleEscapes = map[byte]string{
	'\n': "", '\\': `\`, '\'': "'", '"': `"`, 'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v",
}

// unescaped resolves the escapes of a string literal as Python does.
func unescaped(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 == len(s) {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		c := s[i+1]
		simple, ok := simpleEscapes[c]
		switch width := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]; {
		case ok:
			b.WriteString(simple)
			s = s[i+2:]
		case width > 0:
			b.WriteRune(codePoint(s[i+2:], width, 16))
			s = s[i+2+width:]
		case c >= '0' && c <= '7':
			digits := 1
			for digits < 3 && i+1+digits < len(s) && s[i+1+digits] >= '0' && s[i+1+digits] <= '7' {
				digits++
			}
			b.WriteRune(codePoint(s[i+1:], digits, 8))
			s = s[i+1+digits:]
		case c == 'N':
			python.Raise(`\N escapes are not supported`)
		default:
			b.WriteByte('\\')
			s = s[i+1:]
		}
	}
}

func codePoint(s string, digits, base int) rune {
	if len(s) < digits {
		python.Raise("a truncated escape in a string")
	}
	n, err := strconv.ParseUint(s[:digits], base, 32)
	if err != nil || !utf8.ValidRune(rune(n)) || n > unicode.MaxRune {
		python.Raise("the escape %q in a string is no character", s[:digits])
	}
	return rune(n)
}
