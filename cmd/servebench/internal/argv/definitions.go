package argv

import (
	"cmp"
	"strings"

	"github.com/spf13/pflag"
)

// Definitions are the flags that a command defines. Define them with the methods of pflag, and add with
// these methods what pflag lacks: the words that a flag takes, and what help and completion say about
// them. A usage that begins with a word in backquotes names the flag's argument. Definitions are not safe
// for concurrent use.
type Definitions struct{ *pflag.FlagSet }

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

func (d Definitions) annotate(name, key string, values ...string) {
	if err := d.SetAnnotation(name, key, values); err != nil {
		panic(err) // no flag has the name
	}
}

// has says whether a flag is annotated with the key.
func has(flag *pflag.Flag, key string) bool {
	_, ok := flag.Annotations[key]
	return ok
}

// Common makes the short help show only these flags. Without it, it shows all.
func (d Definitions) Common(names ...string) {
	for _, name := range names {
		d.annotate(name, commonKey)
	}
}

// ListVar defines a flag that takes several words. The words of one occurrence
// replace the words of an earlier one, unless they are Gathered.
func (d Definitions) ListVar(to *[]string, name string, arity Arity, usage string) {
	d.StringArrayVar(to, name, nil, usage)
	d.annotate(name, arityKey, string(arity))
}

// arityOf is the Arity of a flag.
func arityOf(flag *pflag.Flag) Arity {
	if flag.NoOptDefVal != "" {
		return None
	}
	return cmp.Or(Arity(strings.Join(flag.Annotations[arityKey], "")), One)
}

// Choices are all values that a flag accepts.
func (d Definitions) Choices(name string, words ...string) { d.annotate(name, choicesKey, words...) }

// Unbuilt are values that vLLM accepts for a flag with Choices, and servebench does not. The error
// for them says so.
func (d Definitions) Unbuilt(name string, words ...string) { d.annotate(name, unbuiltKey, words...) }

// Verbatim makes a flag take the word after it even if that looks like a flag.
func (d Definitions) Verbatim(name string) { d.annotate(name, verbatimKey) }

// Offer makes completion offer words for a flag, and files if none of them fits.
func (d Definitions) Offer(name string, words ...string) { d.annotate(name, offerKey, words...) }

// OfferList makes completion offer words for a flag that takes several with commas between.
func (d Definitions) OfferList(name string, words ...string) {
	d.annotate(name, offerKey, words...)
	d.annotate(name, listKey)
}

// OfferFiles makes completion offer files for a flag: all, or those with these extensions.
func (d Definitions) OfferFiles(name string, extensions ...string) {
	d.annotate(name, filesKey, extensions...)
}

// OfferFolders makes completion offer folders for these flags.
func (d Definitions) OfferFolders(names ...string) {
	for _, name := range names {
		d.annotate(name, foldersKey)
	}
}

// all are the flags in the order of their definition.
func (d Definitions) all() (flags []*pflag.Flag) {
	d.VisitAll(func(flag *pflag.Flag) { flags = append(flags, flag) })
	return flags
}

// common are the flags of the short help, nil for all.
func (d Definitions) common() (flags []*pflag.Flag) {
	for _, flag := range d.all() {
		if has(flag, commonKey) {
			flags = append(flags, flag)
		}
	}
	return flags
}

// lookup is the flag with this name as written, with its dashes; nil for none.
func (d Definitions) lookup(option string) *pflag.Flag {
	if name, ok := strings.CutPrefix(option, "--"); ok {
		return d.FlagSet.Lookup(name)
	}
	if name, ok := strings.CutPrefix(option, "-"); ok && len(name) == 1 {
		return d.ShorthandLookup(name)
	}
	return nil
}

// GroupOf is the name of a flag's group; empty for none.
func GroupOf(flag *pflag.Flag) string {
	name, _, _ := strings.Cut(headingOf(flag), ":")
	return name
}

// headingOf is the name of a flag's group and what it is about; empty for none.
func headingOf(flag *pflag.Flag) string { return strings.Join(flag.Annotations[groupKey], "") }

// fallback is the default of a flag as a user would write it; empty for none.
func fallback(flag *pflag.Flag) string {
	if arityOf(flag) == None || flag.DefValue == "[]" {
		return ""
	}
	return flag.DefValue
}

// optionOf is a flag as argparse names it in errors: with all its names.
func optionOf(flag *pflag.Flag) string {
	if flag.Shorthand != "" {
		return "-" + flag.Shorthand + "/--" + flag.Name
	}
	return "--" + flag.Name
}
