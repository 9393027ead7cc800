package argv

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/servebench/servebench/metrics/pyjson"
)

// A token is one word of a command line as argparse sees it.
type token struct {
	text  string
	kind  tokenKind
	flag  *pflag.Flag // of an option; nil if unknown
	value *string     // what an option has after its equals sign
	last  bool        // it is after the first --
}

type tokenKind byte

const (
	argument  tokenKind = iota
	option              // it looks like a flag, known or not
	separator           // the first --
)

// A Setting is one occurrence of a flag with its arguments.
type Setting struct {
	Flag   *pflag.Flag
	Values []string
}

// Arity is the Arity of the flag.
func (s *Setting) Arity() Arity { return arityOf(s.Flag) }

// Parse sets the flags from the words. The words of a configuration file come before all others.
// The error for a flag is about its first wrong occurrence; pflag.ErrHelp requests the help.
func (f *Flags) Parse(words []string) error {
	f.words = append(f.words, words...)
	rest, err := f.parse(words)
	if err != nil {
		return err
	}
	return f.FlagSet.Parse(rest)
}

func (f *Flags) parse(words []string) (rest []string, err error) {
	by := argparse{accepted{f}}
	settings, rest, stray := by.read(words)
	for _, s := range settings {
		if s.Flag.Name == f.config {
			if err := (configuration{f}).parse(s.Values[0]); err != nil {
				return nil, err
			}
		}
	}
	for _, s := range settings {
		if !by.own(s.Flag) {
			f.passed = append(f.passed, s)
			continue
		}
		if err := f.accept(s); err != nil {
			return nil, err
		}
	}
	return rest, stray
}

// Settings are what words would set, in their order.
func (f *Flags) Settings(words []string) ([]Setting, error) {
	settings, _, err := argparse{accepted{f}}.read(words)
	return settings, err
}

// An argparse reads words as Python's argparse does, by the flags that a command accepts.
type argparse struct{ accepted }

// read splits words: into flags, up to the first one without its arguments, and the other words.
// The error is about that flag, or else about the first word that belongs to none.
func (a argparse) read(words []string) (settings []Setting, rest []string, err error) {
	if words, err = nest(words); err != nil {
		return nil, nil, err
	}
	tokens, err := a.tokens(words)
	if err != nil {
		return nil, nil, err
	}
	for i := 0; i < len(tokens); {
		tok := &tokens[i]
		i++
		switch {
		case tok.flag != nil:
			values, bad := tok.arguments(tokens[i:])
			if bad != nil {
				return settings, nil, fmt.Errorf("argument %s: %w", optionOf(tok.flag), bad)
			}
			settings = append(settings, Setting{tok.flag, values})
			if tok.value == nil {
				i += len(values)
			}
		case a.flags.Arguments && tok.kind != option && (tok.last || !looksNegative(tok.text)):
			rest = append(rest, tok.text)
		case err != nil:
		case tok.kind == argument && i > 1 && a.hides(&tokens[i-2]):
			err = fmt.Errorf("unrecognized arguments after %s: a value that holds spaces needs quotes",
				optionOf(tokens[i-2].flag))
		default:
			err = a.strayError(tok)
		}
	}
	return settings, rest, err
}

// hides reports whether the word after a token may be the rest of a secret.
func (a argparse) hides(tok *token) bool {
	if tok.flag == nil {
		return false
	}
	other := a.flags.Other
	return a.flags.conceals[tok.flag.Name] != nil || other != nil && argparse{accepted{other}}.hides(tok)
}

// tokens classifies each word. As in argparse, an ambiguous prefix anywhere is an error before any
// flag is parsed.
func (a argparse) tokens(words []string) ([]token, error) {
	var tokens []token
	verbatim := false
	for i, word := range words {
		if word == "--" {
			tokens = append(tokens, token{text: word, kind: separator})
			for _, word := range words[i+1:] {
				tokens = append(tokens, token{text: word, last: true})
			}
			break
		}
		if verbatim {
			tokens, verbatim = append(tokens, token{text: word}), false
			continue
		}
		tok, err := a.token(word)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, tok)
		verbatim = tok.flag != nil && tok.value == nil && has(tok.flag, verbatimKey)
	}
	return tokens, nil
}

var negativeNumber = regexp.MustCompile(`^-\d+$|^-\d*\.\d+$`)

// looksNegative reports whether a word is a negative number, which is no file name.
func looksNegative(word string) bool { return negativeNumber.MatchString(word) }

// IsOption reports whether a word looks like a flag: it begins with a dash and is not a number.
func IsOption(word string) bool {
	return strings.HasPrefix(word, "-") && !negativeNumber.MatchString(word)
}

func (a argparse) token(word string) (token, error) {
	tok := token{text: word}
	if !strings.HasPrefix(word, "-") || word == "-" {
		return tok, nil
	}
	name, value, hasValue := strings.Cut(word, "=")
	if hasValue {
		tok.value = &value
	}
	found := a.find(name)
	switch {
	case len(found) > 1:
		return tok, ambiguous(name, found)
	case len(found) == 1:
		tok.flag = found[0]
	case a.flags.Instead[name] != "":
		return tok, fmt.Errorf("there is no flag %s: %s", name, a.flags.Instead[name])
	case len(word) > 2 && word[1] != '-' && a.flags.lookup(word[:2]) != nil: // -oFILE
		rest := word[2:]
		tok.flag, tok.value = a.flags.lookup(word[:2]), &rest
	case !IsOption(word), strings.Contains(word, " "):
		return token{text: word}, nil
	}
	tok.kind = option
	return tok, nil
}

func ambiguous(name string, found []*pflag.Flag) error {
	var names []string
	for _, flag := range found {
		names = append(names, "--"+flag.Name)
	}
	return fmt.Errorf("ambiguous option: %s could match %s", name, strings.Join(names, ", "))
}

// arguments are the words that belong to a flag: the part after its equals sign, or as many of the
// following words as it takes.
func (tok *token) arguments(following []token) ([]string, error) {
	arity := arityOf(tok.flag)
	if tok.value != nil {
		if arity == None && tok.flag.Name != "help" {
			return nil, fmt.Errorf("ignored explicit argument %s", pyjson.Quote(*tok.value))
		}
		return []string{*tok.value}, nil
	}
	var values []string
	for _, next := range following {
		if next.kind != argument || arity == None || arity == One && len(values) == 1 {
			break
		}
		values = append(values, next.text)
	}
	switch {
	case arity == One && len(values) == 0:
		return nil, errors.New("expected one argument")
	case (arity == Some || arity == Gathered) && len(values) == 0:
		return nil, errors.New("expected at least one argument")
	}
	return values, nil
}

// accept handles one occurrence of a flag.
func (f *Flags) accept(s Setting) error {
	name := s.Flag.Name
	if name == "help" {
		f.topic = strings.Join(s.Values, " ")
		return pflag.ErrHelp
	}
	gathered := arityOf(s.Flag) == Gathered
	if gathered {
		s.Values = slices.Concat(f.given[name], s.Values)
	}
	if err := set(s.Flag, s.Values); err != nil {
		return fmt.Errorf("argument %s: %w", optionOf(s.Flag), err)
	}
	s.Flag.Changed = true
	f.given[name] = s.Values
	return nil
}

// set gives a flag its arguments.
func set(flag *pflag.Flag, values []string) error {
	if list, ok := flag.Value.(pflag.SliceValue); ok && has(flag, arityKey) {
		return list.Replace(values)
	}
	if len(values) == 0 {
		return flag.Value.Set(flag.NoOptDefVal)
	}
	choices := flag.Annotations[choicesKey]
	switch {
	case slices.Contains(flag.Annotations[unbuiltKey], values[0]):
		return fmt.Errorf("servebench has no %s yet (it has %s)", values[0], strings.Join(choices, ", "))
	case choices != nil && !slices.Contains(choices, values[0]):
		return invalidChoice(values[0], choices)
	}
	text, err := plain(flag.Value.Type(), values[0])
	if err != nil {
		return err
	}
	return flag.Value.Set(text)
}

func invalidChoice(text string, choices []string) error {
	var names []string
	for _, c := range choices {
		names = append(names, pyjson.Quote(c))
	}
	return fmt.Errorf("invalid choice: %s (choose from %s)", pyjson.Quote(text), strings.Join(names, ", "))
}
