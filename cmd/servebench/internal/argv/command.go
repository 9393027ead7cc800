package argv

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Of are the flags of a command, which from then on reads its command line by the rules
// of this package. Its RunE gets the words beside the flags, and is set already. A
// command whose Args is nil takes none.
func Of(cmd *cobra.Command) *Flags {
	f := New(cmd.Flags())
	f.Arguments = cmd.Args != nil
	check, run := cmd.Args, cmd.RunE
	cmd.Args = cobra.ArbitraryArgs
	cmd.DisableFlagParsing = true
	cmd.ValidArgsFunction = f.complete
	cmd.SetUsageFunc(f.usage)
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		if err := f.Parse(words); err != nil {
			return err
		}
		if check != nil {
			if err := check(cmd, f.Args()); err != nil {
				return err
			}
		}
		return run(cmd, f.Args())
	}
	return f
}

// complete offers the words that a flag's argument may be, or else files. Names of
// flags are cobra's to complete.
func (f *Flags) complete(_ *cobra.Command, words []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(words) > 0 {
		if found := f.Find(words[len(words)-1]); len(found) == 1 && has(found[0], choicesKey) {
			return found[0].Annotations[choicesKey], cobra.ShellCompDirectiveNoFileComp
		}
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// usage writes how a command is used: a usage func of cobra's. It lists the flags by
// their groups, a line for each, and the refused ones in one paragraph.
func (f *Flags) usage(cmd *cobra.Command) error {
	w := cmd.OutOrStderr()
	fmt.Fprintf(w, "Usage:\n  %s\n", cmd.UseLine())
	if cmd.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	title, others := "", "Flags"
	var refused []string
	for _, flag := range f.all() {
		if has(flag, groupKey) {
			others = "Other"
		}
		if group := cmp.Or(GroupOf(flag), others); group != title {
			title = group
			fmt.Fprintf(w, "\n%s:\n", title)
		}
		if flag.Hidden {
			refused = append(refused, "--"+flag.Name)
			continue
		}
		describe(w, flag)
	}
	wrap(w, refused)
	return nil
}

// describe writes the line of a flag: how one writes it, what it is for, what it may be
// and its default.
func describe(w io.Writer, flag *pflag.Flag) {
	const width = 34
	head := "      --" + flag.Name
	if flag.Shorthand != "" {
		head = "  -" + flag.Shorthand + ", --" + flag.Name
	}
	argument, text := pflag.UnquoteUsage(flag)
	if strings.HasPrefix(flag.Usage, "`") {
		text = strings.TrimLeft(strings.TrimPrefix(text, argument), " ")
	}
	if argument != "" {
		head += " " + argument
	}
	if has(flag, arityKey) {
		head += " …"
	}
	if choices := flag.Annotations[choicesKey]; choices != nil {
		text += " (" + strings.Join(choices, ", ") + ")"
	}
	if value := fallback(flag); value != "" {
		text += " (default " + value + ")"
	}
	if len(head) > width {
		head += "\n" + strings.Repeat(" ", width)
	}
	fmt.Fprintf(w, "%-*s  %s\n", width, head, text)
}

func wrap(w io.Writer, words []string) {
	line := " "
	for i, word := range words {
		line += " " + word
		if i == len(words)-1 || len(line)+len(words[i+1]) > 98 {
			fmt.Fprintln(w, line)
			line = " "
		}
	}
}
