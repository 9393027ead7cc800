// Package lexer splits the source of a chat template into tokens: text, tags and their words.
//
// The text between tags comes without the white space that jinja2 removes around them, and a number or
// a string has the value that Python gives it.
package lexer

import (
	"errors"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/servebench/servebench/dataset/jinja/python"
)

// A lexer splits a template into tokens. It removes white space as jinja2 does with
// trim_blocks and lstrip_blocks: the newline after a tag or a comment, and the white
// space before one that begins its line. A + in the tag keeps this white space, and
// a - removes all white space on its side.
type lexer struct {
	source     string
	pos        int
	line       int
	lineStarts bool // pos is at the start of a line
	open       []byte
	tokens     []Token
}

// Tokens splits a template. The last token is its end. An error names the line.
func Tokens(source string) (tokens []Token, err error) {
	if !utf8.ValidString(source) {
		return nil, errors.New("the template is not UTF-8")
	}
	source = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(source)
	l := &lexer{source: strings.TrimSuffix(source, "\n"), line: 1, lineStarts: true}
	err = python.Try(func() {
		for l.pos < len(l.source) {
			l.text()
		}
	})
	l.emit(Token{Kind: End})
	return l.tokens, err
}

func (l *lexer) emit(t Token) {
	t.Line = l.line
	l.tokens = append(l.tokens, t)
}

// advance moves on by n bytes and counts their lines.
func (l *lexer) advance(n int) string {
	passed := l.source[l.pos : l.pos+n]
	l.line += strings.Count(passed, "\n")
	l.pos += n
	return passed
}

func (l *lexer) rest() string { return l.source[l.pos:] }

func (l *lexer) fail(format string, args ...any) {
	python.Raise("line %d: "+format, append([]any{l.line}, args...)...)
}

var rawBegin = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\{%[-+]?[\s\v\x1c-\x1f\x{85}\p{Z}]*raw[\s\v\x1c-\x1f\x{85}\p{Z}]*-?%\}`)
})
var rawEnd = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{%([-+]?)[\s\v\x1c-\x1f\x{85}\p{Z}]*endraw[\s\v\x1c-\x1f\x{85}\p{Z}]*[-+]?%\}`)
})

// text reads the text before the next tag, and the tag.
func (l *lexer) text() {
	rest := l.rest()
	i := 0
	for {
		brace := strings.IndexByte(rest[i:], '{')
		if i += brace; brace < 0 || i+1 == len(rest) {
			l.emit(Token{Kind: Data, Text: rest})
			l.advance(len(rest))
			return
		}
		if strings.IndexByte("%{#", rest[i+1]) >= 0 {
			break
		}
		i++
	}
	kind := rest[i+1]
	sign := byte(0)
	if i+2 < len(rest) && (rest[i+2] == '-' || rest[i+2] == '+') {
		sign = rest[i+2]
	}
	if data := l.trimmed(rest[:i], sign, kind == '{'); data != "" {
		l.emit(Token{Kind: Data, Text: data})
	}
	l.advance(i)
	l.lineStarts = false
	if raw := rawBegin().FindString(l.rest()); raw != "" {
		l.raw(raw)
		return
	}
	if l.advance(2); sign != 0 {
		l.advance(1)
	}
	switch kind {
	case '#':
		l.comment()
	case '%':
		l.emit(Token{Kind: BlockBegin})
		l.code("%}", BlockEnd)
	default:
		l.emit(Token{Kind: VariableBegin})
		l.code("}}", VariableEnd)
	}
}

// trimmed is the text before a tag without the white space that the tag removes.
func (l *lexer) trimmed(data string, sign byte, variable bool) string {
	switch {
	case sign == '-':
		return strings.TrimRightFunc(data, python.IsSpace)
	case sign == '+' || variable:
		return data
	}
	start := strings.LastIndexByte(data, '\n') + 1
	if (start > 0 || l.lineStarts) && strings.TrimFunc(data[start:], python.IsSpace) == "" {
		return data[:start]
	}
	return data
}

// close moves past the end of a tag, and past the white space that it removes.
func (l *lexer) close(end string, trims bool) {
	sign := l.rest()[0]
	if sign == '-' || sign == '+' {
		l.advance(1)
	}
	passed := l.advance(len(end))
	switch {
	case sign == '-':
		rest := l.rest()
		passed = l.advance(len(rest) - len(strings.TrimLeftFunc(rest, python.IsSpace)))
	case sign != '+' && trims && strings.HasPrefix(l.rest(), "\n"):
		passed = l.advance(1)
	}
	l.lineStarts = strings.HasSuffix(passed, "\n")
}

func (l *lexer) comment() {
	end := strings.Index(l.rest(), "#}")
	if end < 0 {
		l.fail("a comment has no end")
	}
	if end > 0 && (l.rest()[end-1] == '-' || l.rest()[end-1] == '+') {
		end--
	}
	l.advance(end)
	l.close("#}", true)
}

func (l *lexer) raw(begin string) {
	l.advance(len(begin))
	if strings.HasSuffix(begin, "-%}") {
		rest := l.rest()
		l.advance(len(rest) - len(strings.TrimLeftFunc(rest, python.IsSpace)))
	}
	l.lineStarts = strings.HasSuffix(l.source[:l.pos], "\n")
	rest := l.rest()
	end := rawEnd().FindStringSubmatchIndex(rest)
	if end == nil {
		l.fail("a raw block has no end")
	}
	sign := byte(0)
	if end[2] < end[3] {
		sign = rest[end[2]]
	}
	if data := l.trimmed(rest[:end[0]], sign, false); data != "" {
		l.emit(Token{Kind: Data, Text: data})
	}
	closing := end[1] - len("%}")
	if rest[closing-1] == '-' || rest[closing-1] == '+' {
		closing--
	}
	l.advance(closing)
	l.close("%}", true)
}

// code reads the tokens of a tag up to its end. It ignores an end inside brackets.
func (l *lexer) code(end string, kind Kind) {
	l.open = l.open[:0]
	for l.pos < len(l.source) {
		rest := l.rest()
		signed := rest[0] == '-' || rest[0] == '+' && kind == BlockEnd
		if len(l.open) == 0 && (strings.HasPrefix(rest, end) || signed && strings.HasPrefix(rest[1:], end)) {
			l.emit(Token{Kind: kind})
			l.close(end, kind == BlockEnd)
			return
		}
		l.word(rest)
	}
	l.fail("a tag has no end")
}

// word reads one token inside a tag.
func (l *lexer) word(rest string) {
	r, size := utf8.DecodeRuneInString(rest)
	if python.IsSpace(r) {
		l.advance(size)
		return
	}
	afterDot := l.pos > 0 && l.source[l.pos-1] == '.'
	if err := python.Try(func() { l.lexeme(rest, afterDot) }); err != nil {
		l.fail("%w", err)
	}
}

func (l *lexer) lexeme(rest string, afterDot bool) {
	if number, isFloat := numberAt(rest, afterDot); number != "" {
		l.emit(Token{Kind: Number, Text: number, Value: numberValue(number, isFloat)})
		l.advance(len(number))
		return
	}
	if name := python.NameAt(rest); name != "" {
		if !python.IsIdentifier(name) {
			python.Raise("%q is not a name", name)
		}
		l.emit(Token{Kind: Name, Text: name})
		l.advance(len(name))
		return
	}
	if rest[0] == '\'' || rest[0] == '"' {
		quoted := quotedAt(rest)
		if quoted == "" {
			python.Raise("a string has no end")
		}
		l.emit(Token{Kind: String, Text: unescaped(quoted[1 : len(quoted)-1])})
		l.advance(len(quoted))
		return
	}
	op := operatorAt(rest)
	if op == "" {
		r, _ := utf8.DecodeRuneInString(rest)
		python.Raise("unexpected character %q", r)
	}
	l.balance(op)
	l.emit(Token{Kind: Operator, Text: op})
	l.advance(len(op))
}

func (l *lexer) balance(op string) {
	switch op {
	case "{", "(", "[":
		l.open = append(l.open, map[string]byte{"{": '}', "(": ')', "[": ']'}[op])
	case "}", ")", "]":
		if len(l.open) == 0 || l.open[len(l.open)-1] != op[0] {
			python.Raise("unexpected %q", op)
		}
		l.open = l.open[:len(l.open)-1]
	}
}
