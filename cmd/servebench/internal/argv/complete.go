package argv

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A completion offers a shell what may follow the words of a command line.
type completion struct{ accepted }

// complete offers what may come next: the value of a flag, or else an argument or a flag. cobra
// completes partial names of flags, but no values of flags that a command parses itself.
func (c completion) complete(_ *cobra.Command, words []string, begun string) ([]string, cobra.ShellCompDirective) {
	if name, value, ok := strings.Cut(begun, "="); ok && strings.HasPrefix(name, "--") {
		if found := c.find(name); len(found) == 1 {
			return c.values(found[0], value)
		}
	}
	if flag := c.taking(words); flag != nil {
		return c.values(flag, begun)
	}
	if c.flags.Other != nil && strings.HasPrefix(begun, "-") {
		return named(c.all()[len(c.flags.all()):]), cobra.ShellCompDirectiveNoFileComp
	}
	if c.flags.Arguments {
		if c.flags.Extensions == nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return c.flags.Extensions, cobra.ShellCompDirectiveFilterFileExt
	}
	flags := c.flags.common()
	switch {
	case begun != "":
		flags = nil
	case flags == nil:
		flags = c.flags.all()
	}
	return named(flags), cobra.ShellCompDirectiveNoFileComp
}

// named are the names of flags with what they do.
func named(flags []*pflag.Flag) (names []string) {
	for _, flag := range flags {
		names = append(names, "--"+flag.Name+"\t"+firstSentence(textOf(flag)))
	}
	return names
}

// taking is the flag to which the word after words belongs; nil for none.
func (c completion) taking(words []string) *pflag.Flag {
	for i, word := range slices.Backward(words) {
		if !IsOption(word) || strings.Contains(word, "=") {
			continue
		}
		found := c.find(word)
		if len(found) != 1 {
			return nil
		}
		switch arityOf(found[0]) {
		case None:
			return nil
		case One:
			if i < len(words)-1 {
				return nil
			}
		}
		return found[0]
	}
	return nil
}

// values are the possible values of a flag that begin with begun.
func (c completion) values(flag *pflag.Flag, begun string) ([]string, cobra.ShellCompDirective) {
	offered := flag.Annotations[offerKey]
	before := ""
	switch {
	case flag.Name == "help":
		return c.topics(), cobra.ShellCompDirectiveNoFileComp
	case has(flag, choicesKey):
		return flag.Annotations[choicesKey], cobra.ShellCompDirectiveNoFileComp
	case has(flag, foldersKey):
		return nil, cobra.ShellCompDirectiveFilterDirs
	case has(flag, filesKey) && len(flag.Annotations[filesKey]) > 0:
		return flag.Annotations[filesKey], cobra.ShellCompDirectiveFilterFileExt
	case has(flag, filesKey):
		return nil, cobra.ShellCompDirectiveDefault
	case offered == nil:
		return nil, cobra.ShellCompDirectiveNoFileComp
	case has(flag, listKey):
		before = begun[:strings.LastIndexByte(begun, ',')+1]
	}
	var fit []string
	directive := cobra.ShellCompDirectiveDefault
	for _, word := range offered {
		if given := slices.Contains(strings.Split(before, ","), word); !given && strings.HasPrefix(before+word, begun) {
			fit = append(fit, before+word)
			if strings.HasSuffix(word, ":") || strings.HasSuffix(word, "=") || has(flag, listKey) {
				directive = cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
			}
		}
	}
	return fit, directive
}

// topics are the topics of --help.
func (c completion) topics() []string {
	topics := []string{"all\tall flags"}
	for _, flag := range c.flags.all() {
		name, about, _ := strings.Cut(headingOf(flag), ": ")
		if topic := strings.ToLower(name) + "\t" + about; name != "" && !slices.Contains(topics, topic) {
			topics = append(topics, topic)
		}
	}
	return topics
}
