package main

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
)

// A flag is a row of the table that parsing, help, completion, refusal and the
// recorded configuration have in common.
type flag struct {
	name     string
	short    string   // one letter, empty for none
	args     arity    // how many arguments it takes
	meta     string   // what its argument stands for in the help
	choices  []string // where only some words are allowed
	unbuilt  []string // words that vLLM has beside them and servebench does not yet
	fallback string   // the default, as it would be given; empty for unset
	help     string
	set      setter              // called once for each argument, or once for a switch
	list     *[]string           // instead of set, for many arguments
	conceal  func(string) string // makes an argument fit to be recorded; nil when it is
	gathers  bool                // a list to which each occurrence adds
	bare     bool                // a list that may be left out: then it is a switch
	missing  string              // what servebench lacks: the flag is refused when given
	harmless []string            // arguments that are not refused, as they ask for nothing
	ours     bool                // not one of vLLM's

	values []string // as given
	given  bool
}

// An arity says how many arguments a flag takes, in argparse's letters.
type arity byte

const (
	one  arity = 0
	none arity = '0'
	many arity = '*'
	some arity = '+'
)

// A group is the flags under one heading of the help.
type group struct {
	title string
	flags []*flag
}

// A table is all flags of a command. It belongs to one parse: its setters write
// into that parse's form.
type table []group

func (t table) all() iter.Seq[*flag] {
	return func(yield func(*flag) bool) {
		for _, g := range t {
			for _, f := range g.flags {
				if !yield(f) {
					return
				}
			}
		}
	}
}

// lookup finds a flag by its full name as written, with its dashes.
func (t table) lookup(option string) *flag {
	for f := range t.all() {
		if option == "--"+f.name || f.short != "" && option == "-"+f.short {
			return f
		}
	}
	return nil
}

// options are the flag's names as written, as argparse shows them in errors.
func (f *flag) option() string {
	if f.short != "" {
		return "-" + f.short + "/--" + f.name
	}
	return "--" + f.name
}

// accept takes the arguments of one occurrence of the flag. They replace those
// of an earlier one.
func (f *flag) accept(values []string) error {
	if err := f.check(values); err != nil {
		return fmt.Errorf("argument %s: %w", f.option(), err)
	}
	f.given = true
	if !f.gathers {
		f.values = nil
	}
	f.values = append(f.values, values...)
	return nil
}

func (f *flag) check(values []string) error {
	if f.missing != "" {
		if len(values) == 1 && slices.Contains(f.harmless, values[0]) {
			return nil
		}
		return fmt.Errorf("servebench has no %s yet", f.missing)
	}
	switch {
	case f.list != nil && f.gathers:
		*f.list = append(*f.list, values...)
		return nil
	case f.list != nil:
		*f.list = append([]string{}, values...) // not nil: the flag was given
		return nil
	case f.args == none:
		return f.set("")
	case slices.Contains(f.unbuilt, values[0]):
		return fmt.Errorf("servebench has no %s yet (it has %s)", values[0], strings.Join(f.choices, ", "))
	case f.choices != nil && !slices.Contains(f.choices, values[0]):
		return invalidChoice(values[0], f.choices)
	}
	return f.set(values[0])
}

// shown are the flag's values, fit to be shown.
func (f *flag) shown() []string {
	if f.conceal == nil {
		return f.values
	}
	var shown []string
	for _, v := range f.values {
		shown = append(shown, f.conceal(v))
	}
	return shown
}

// record lists every flag that has a value, in the order of the table and fit
// to be shown.
func (t table) record() []metrics.KV {
	var kvs []metrics.KV
	for f := range t.all() {
		var value string
		switch {
		case f.given && (f.args == none || f.bare && len(f.values) == 0):
			value = "true"
		case f.given:
			value = strings.Join(f.shown(), " ")
		case f.fallback != "":
			value = f.fallback
		default:
			continue
		}
		kvs = append(kvs, metrics.KV{Key: f.name, Value: value})
	}
	return kvs
}
