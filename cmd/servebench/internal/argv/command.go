package argv

import (
	"errors"
	"fmt"
	"strings"

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
	cmd.ValidArgsFunction = f.complete
	cmd.SetUsageFunc(func(cmd *cobra.Command) error { return f.overview(cmd) })
	cmd.RunE = func(cmd *cobra.Command, words []string) error {
		switch err := f.Parse(words); {
		case errors.Is(err, pflag.ErrHelp):
			return f.help(cmd)
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

// help prints the requested help.
func (f *Flags) help(cmd *cobra.Command) error {
	if f.topic != "" {
		return f.about(cmd, f.topic)
	}
	if long := strings.TrimSpace(cmd.Long); long != "" {
		for _, paragraph := range strings.Split(long, "\n\n") {
			fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n", filled(paragraph))
		}
	}
	return f.overview(cmd)
}
