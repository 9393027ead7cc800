package main

import (
	"github.com/spf13/cobra"

	"github.com/servebench/servebench/loadgen/sweep/hold"
)

// newHolderCommand makes the verb that sweep runs in a process of its own for
// each server.
func newHolderCommand() *cobra.Command {
	return &cobra.Command{
		Use:    hold.Verb + " JSON",
		Short:  "Run a server until standard input ends",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if code, err := hold.Main(args[0]); code != 0 {
				return exitError{err, code}
			}
			return nil
		},
	}
}
