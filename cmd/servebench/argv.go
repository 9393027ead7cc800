package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// A token is one word of a command line as Python's argparse sees it.
type token struct {
	text  string
	kind  tokenKind
	flag  *flag   // of an option; nil when it is unknown
	value *string // what an option has after its equals sign
}

type tokenKind byte

const (
	argument  tokenKind = iota
	option              // it looks like a flag, known or not
	separator           // the first --
)

// conceals says whether what follows may be the rest of a secret.
func (tok *token) conceals() bool { return tok.flag != nil && tok.flag.conceal != nil }

// A setting is one occurrence of a flag with its arguments.
type setting struct {
	flag   *flag
	values []string
}

// parse takes a command line by the rules of argparse, as vLLM's command lines
// are written for them: a unique prefix stands for its flag, a flag with many
// arguments takes all up to the next flag, the last occurrence wins.
func (t table) parse(args []string) error {
	args, err := nest(args)
	if err != nil {
		return err
	}
	tokens, err := t.tokens(args)
	if err != nil {
		return err
	}
	settings, rest := t.settings(tokens)
	for _, s := range settings {
		if s.flag.name == "config" {
			if err := t.parseConfig(s.values[0]); err != nil {
				return err
			}
		}
	}
	for _, s := range settings {
		if err := s.flag.accept(s.values); err != nil {
			return err
		}
	}
	return rest
}

// settings are the flags up to the first that lacks its arguments. The error is
// about that one, or else about the first word that belongs to no flag.
func (t table) settings(tokens []token) (settings []setting, err error) {
	for i := 0; i < len(tokens); {
		tok := &tokens[i]
		i++
		if tok.flag == nil {
			if err == nil && tok.kind == argument && i > 1 && tokens[i-2].conceals() {
				err = fmt.Errorf("unrecognized arguments after %s: a value that holds spaces needs quotes", tokens[i-2].flag.option())
			} else if err == nil {
				err = t.strayError(tok)
			}
			continue
		}
		values, bad := tok.arguments(tokens[i:])
		if bad != nil {
			return settings, fmt.Errorf("argument %s: %w", tok.flag.option(), bad)
		}
		settings = append(settings, setting{tok.flag, values})
		if tok.value == nil {
			i += len(values)
		}
	}
	return settings, err
}

// tokens says what each word is. As in argparse, an ambiguous prefix anywhere is
// an error before any flag is looked at.
func (t table) tokens(args []string) ([]token, error) {
	var tokens []token
	for i, arg := range args {
		if arg == "--" {
			tokens = append(tokens, token{text: arg, kind: separator})
			for _, arg := range args[i+1:] {
				tokens = append(tokens, token{text: arg})
			}
			break
		}
		tok, err := t.token(arg)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, tok)
	}
	return tokens, nil
}

var negativeNumber = regexp.MustCompile(`^-\d+$|^-\d*\.\d+$`)

func (t table) token(arg string) (token, error) {
	tok := token{text: arg}
	if !strings.HasPrefix(arg, "-") || arg == "-" {
		return tok, nil
	}
	name, value, hasValue := strings.Cut(arg, "=")
	if hasValue {
		tok.value = &value
	}
	found := t.find(name)
	switch {
	case len(found) > 1:
		return tok, ambiguous(arg, found)
	case len(found) == 1:
		tok.flag = found[0]
	case goneFlags[name] != "":
		return tok, fmt.Errorf("%s is gone: %s", name, goneFlags[name])
	case len(arg) > 2 && arg[1] != '-' && t.lookup(arg[:2]) != nil: // -oFILE
		rest := arg[2:]
		tok.flag, tok.value = t.lookup(arg[:2]), &rest
	case negativeNumber.MatchString(arg), strings.Contains(arg, " "):
		return token{text: arg}, nil
	}
	tok.kind = option
	return tok, nil
}

// find is the flag that has the name, or else those that begin with it. Our own
// flags count only where none of vLLM's fits, so that whatever is short for a
// flag there is so here.
func (t table) find(name string) []*flag {
	if f := t.lookup(name); f != nil {
		return []*flag{f}
	}
	if goneFlags[name] != "" || !strings.HasPrefix(name, "--") {
		return nil
	}
	var theirs, ours []*flag
	for f := range t.all() {
		switch {
		case !strings.HasPrefix("--"+f.name, name):
		case f.ours:
			ours = append(ours, f)
		default:
			theirs = append(theirs, f)
		}
	}
	if len(theirs) == 0 {
		return ours
	}
	return theirs
}

func ambiguous(arg string, found []*flag) error {
	var names []string
	for _, f := range found {
		names = append(names, "--"+f.name)
	}
	name, _, _ := strings.Cut(arg, "=") // what follows may be a secret
	return fmt.Errorf("ambiguous option: %s could match %s", name, strings.Join(names, ", "))
}

// arguments are the words that belong to a flag: what is after its equals sign,
// or as many of those that follow as it takes.
func (tok *token) arguments(following []token) ([]string, error) {
	args := tok.flag.args
	if tok.value != nil {
		if args == none {
			return nil, fmt.Errorf("ignored explicit argument %s", quoted(*tok.value))
		}
		return []string{*tok.value}, nil
	}
	var values []string
	for _, next := range following {
		if next.kind != argument || args == none || args == one && len(values) == 1 {
			break
		}
		values = append(values, next.text)
	}
	switch {
	case args == one && len(values) == 0:
		return nil, errors.New("expected one argument")
	case args == some && len(values) == 0:
		return nil, errors.New("expected at least one argument")
	}
	return values, nil
}
