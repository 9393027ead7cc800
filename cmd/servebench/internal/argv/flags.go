// Package argv reads a command line as Python's argparse reads vLLM's, into flags of pflag.
//
// A command defines its flags in pflag, one line each, and adds what pflag lacks: their heading in
// the help, how many words they take, which words they accept. Parse then parses a command line by
// the rules of argparse (a unique prefix means its flag, underscores mean dashes, dotted flags mean
// JSON, a configuration file provides missing flags) and sets the flags. Of does that for a command
// of cobra, with help and completion. Errors have argparse's wording.
package argv

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Flags are the flags of one command, and the values from its command line. Define them with the
// methods of pflag. A usage that begins with a word in backquotes names the flag's argument. Flags
// are not safe for concurrent use.
type Flags struct {
	*pflag.FlagSet

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
	return &Flags{FlagSet: set, given: map[string][]string{}, conceals: map[string]func(string) string{}}
}

// An Arity says how many words a flag takes.
type Arity string

const (
	None     Arity = "0"  // it is a switch
	One      Arity = "1"  // as flags usually do
	Many     Arity = "*"  // none or more
	Some     Arity = "+"  // one or more
	Gathered Arity = "++" // one or more; later occurrences add to earlier ones
	Bare     Arity = "?*" // none or more; with none it is a switch
)

// The keys of annotations.
const (
	groupKey    = "group"
	argumentKey = "argument"
	commonKey   = "common"
	arityKey    = "arity"
	choicesKey  = "choices"
	unbuiltKey  = "unbuilt"
	verbatimKey = "verbatim"
	offerKey    = "offer"
	listKey     = "list"
	filesKey    = "files"
	foldersKey  = "folders"
)

func (f *Flags) annotate(name, key string, values ...string) {
	if err := f.SetAnnotation(name, key, values); err != nil {
		panic(err) // no flag has the name
	}
}

// has says whether a flag is annotated with the key.
func has(flag *pflag.Flag, key string) bool {
	_, ok := flag.Annotations[key]
	return ok
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

// GroupOf is the name of a flag's group; empty for none.
func GroupOf(flag *pflag.Flag) string {
	name, _, _ := strings.Cut(headingOf(flag), ":")
	return name
}

// headingOf is the name of a flag's group and what it is about; empty for none.
func headingOf(flag *pflag.Flag) string { return strings.Join(flag.Annotations[groupKey], "") }

// Common makes the short help show only these flags. Without it, it shows all.
func (f *Flags) Common(names ...string) {
	for _, name := range names {
		f.annotate(name, commonKey)
	}
}

// ListVar defines a flag that takes several words. The words of one occurrence
// replace the words of an earlier one, unless they are Gathered.
func (f *Flags) ListVar(to *[]string, name string, arity Arity, usage string) {
	f.StringArrayVar(to, name, nil, usage)
	f.annotate(name, arityKey, string(arity))
}

// arityOf is the Arity of a flag.
func arityOf(flag *pflag.Flag) Arity {
	if flag.NoOptDefVal != "" {
		return None
	}
	return cmp.Or(Arity(strings.Join(flag.Annotations[arityKey], "")), One)
}

// ConfigFile defines the flag that names a configuration file, see Parse.
func (f *Flags) ConfigFile(name, usage string) {
	f.String(name, "", usage)
	f.config = name
}

// Choices are all values that a flag accepts.
func (f *Flags) Choices(name string, words ...string) { f.annotate(name, choicesKey, words...) }

// Unbuilt are values that vLLM accepts for a flag with Choices, and servebench does not. The error
// for them says so.
func (f *Flags) Unbuilt(name string, words ...string) { f.annotate(name, unbuiltKey, words...) }

// Verbatim makes a flag take the word after it even if that looks like a flag.
func (f *Flags) Verbatim(name string) { f.annotate(name, verbatimKey) }

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

// fallback is the default of a flag as a user would write it; empty for none.
func fallback(flag *pflag.Flag) string {
	if arityOf(flag) == None || flag.DefValue == "[]" {
		return ""
	}
	return flag.DefValue
}

// all are the flags in the order of their definition.
func (f *Flags) all() (flags []*pflag.Flag) {
	f.VisitAll(func(flag *pflag.Flag) { flags = append(flags, flag) })
	return flags
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

// find is Find, also among the Other flags.
func (f *Flags) find(option string) []*pflag.Flag {
	if f.Other == nil || f.lookup(Dashed(option)) != nil {
		return f.Find(option)
	}
	if flag := f.Other.lookup(Dashed(option)); flag != nil {
		return []*pflag.Flag{flag}
	}
	found := f.Find(option)
	for _, flag := range f.Other.Find(option) {
		if f.FlagSet.Lookup(flag.Name) == nil {
			found = append(found, flag)
		}
	}
	return found
}

// own says whether a flag is not one of the Other ones.
func (f *Flags) own(flag *pflag.Flag) bool { return f.FlagSet.Lookup(flag.Name) == flag }

// Passed are the Other flags that Parse got, in their order. Their arguments are not checked.
func (f *Flags) Passed() []Setting { return f.passed }

// lookup is the flag with this name as written, with its dashes; nil for none.
func (f *Flags) lookup(option string) *pflag.Flag {
	if name, ok := strings.CutPrefix(option, "--"); ok {
		return f.FlagSet.Lookup(name)
	}
	if name, ok := strings.CutPrefix(option, "-"); ok && len(name) == 1 {
		return f.ShorthandLookup(name)
	}
	return nil
}

// optionOf is a flag as argparse names it in errors: with all its names.
func optionOf(flag *pflag.Flag) string {
	if flag.Shorthand != "" {
		return "-" + flag.Shorthand + "/--" + flag.Name
	}
	return "--" + flag.Name
}
