package argv

import "github.com/spf13/cobra"

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
