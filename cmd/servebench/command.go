package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
)

// loadCommand makes a verb that takes the flags of `vllm bench serve`.
func loadCommand(cmd *cobra.Command, do func(context.Context, *options) error) *cobra.Command {
	var f *form
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o, err := f.fill()
		if err != nil {
			return err
		}
		hideArguments(o.Server.Secrets)
		return do(cmd.Context(), o)
	}
	f = newForm(argv.Of(cmd))
	return cmd
}
