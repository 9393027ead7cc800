package argv

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Of are the flags of a command, which from then on reads its command line by the rules of this
// package. Set its RunE before; it gets the words that belong to no flag. A command whose Args is
// nil accepts none.
func Of(cmd *cobra.Command) *Flags {
	f := New(cmd.Flags())
	f.Arguments = cmd.Args != nil
	check, run := cmd.Args, cmd.RunE
	cmd.Args = cobra.ArbitraryArgs
	cmd.DisableFlagParsing = true
	cmd.ValidArgsFunction = completion{accepted{f}}.complete
	cmd.SetUsageFunc(func(cmd *cobra.Command) error { return help{accepted{f}}.overview(cmd) })
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		switch err := f.Parse(words); {
		case errors.Is(err, pflag.ErrHelp):
			return help{accepted{f}}.print(cmd)
		case err != nil:
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
