// Package argv reads a command line as Python's argparse reads vLLM's, into flags of pflag.
//
// A command defines its flags in pflag, one line each, and adds what pflag lacks: their heading in
// the help, how many words they take, which words they accept. Parse then parses a command line by
// the rules of argparse (a unique prefix means its flag, underscores mean dashes, dotted flags mean
// JSON, a configuration file provides missing flags) and sets the flags. Of does that for a command
// of cobra, with help and completion. Errors have argparse's wording.
package argv

import (
	"iter"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Flags are the flags of one command, and the values from its command line. They are not safe for
// concurrent use.
type Flags struct {
	Definitions

	// Arguments says that the command accepts words that belong to no flag: Args has them. Without
	// it, such words are errors.
	Arguments bool

	// Extensions limits the files that completion offers as arguments; empty means all.
	Extensions []string

	// Instead says what to use instead of flags that do not exist, by their names with dashes in
	// front.
	Instead map[string]string

	// First names the flags that a prefix means if one of them fits; otherwise it means the rest. It
	// is called once there is a prefix; nil names none.
	First func() []string

	// Other are flags that the command accepts and does not set itself: Passed has them. Its own
	// flags of the same names take precedence.
	Other *Flags

	grouped  int // flags that Group has seen, the first of all
	passed   []Setting
	words    []string            // of the command line
	topic    string              // of the requested help
	given    map[string][]string // the arguments of each flag, as written
	conceals map[string]func(string) string
	config   string // name of the flag for a configuration file
}

// New makes the Flags of a set.
func New(set *pflag.FlagSet) *Flags {
	set.SortFlags = false
	return &Flags{Definitions: Definitions{set}, given: map[string][]string{}, conceals: map[string]func(string) string{}}
}

// Group puts the flags that define defines under a heading of the help: a name and a description,
// as "Traffic: when requests are sent".
func (f *Flags) Group(title string, define func(*Flags)) {
	define(f)
	n := 0
	f.VisitAll(func(flag *pflag.Flag) {
		if n++; n > f.grouped {
			f.annotate(flag.Name, groupKey, title)
		}
	})
	f.grouped = n
}

// ConfigFile defines the flag that names a configuration file, see Parse.
func (f *Flags) ConfigFile(name, usage string) {
	f.String(name, "", usage)
	f.config = name
}

// Conceal sets a func that hides secrets in the arguments of a flag.
func (f *Flags) Conceal(name string, conceal func(string) string) { f.conceals[name] = conceal }

// Words are all words that Parse got.
func (f *Flags) Words() []string { return f.words }

// Given are the arguments of a flag as they were written, nil for none.
func (f *Flags) Given(name string) []string { return f.given[name] }

// Shown are the arguments of a flag, without secrets.
func (f *Flags) Shown(name string) []string {
	var shown []string
	for _, value := range f.given[name] {
		shown = append(shown, f.Show(name, value))
	}
	return shown
}

// Show is an argument of a flag, without secrets.
func (f *Flags) Show(name, argument string) string {
	if conceal := f.conceals[name]; conceal != nil {
		return conceal(argument)
	}
	return argument
}

// Values yields every flag that has a value, given or by default, with its value without secrets,
// in the order of definition. A switch that was given is true.
func (f *Flags) Values() iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		for _, flag := range f.all() {
			value, arity := fallback(flag), arityOf(flag)
			switch {
			case flag.Changed && (arity == None || arity == Bare && len(f.given[flag.Name]) == 0):
				value = "true"
			case flag.Changed:
				value = strings.Join(f.Shown(flag.Name), " ")
			case value == "":
				continue
			}
			if !yield(flag.Name, value) {
				return
			}
		}
	}
}

// Find is the flag with this name, as --name or -n, or else those whose names begin with it.
func (f *Flags) Find(option string) []*pflag.Flag {
	option = Dashed(option)
	if flag := f.lookup(option); flag != nil {
		return []*pflag.Flag{flag}
	}
	if f.Instead[option] != "" || !strings.HasPrefix(option, "--") {
		return nil
	}
	var names []string
	if f.First != nil {
		names = f.First()
	}
	var first, others []*pflag.Flag
	for _, flag := range f.all() {
		switch {
		case !strings.HasPrefix("--"+flag.Name, option):
		case slices.Contains(names, flag.Name):
			first = append(first, flag)
		default:
			others = append(others, flag)
		}
	}
	if len(first) == 0 {
		return others
	}
	return first
}

// Passed are the Other flags that Parse got, in their order. Their arguments are not checked.
func (f *Flags) Passed() []Setting { return f.passed }
