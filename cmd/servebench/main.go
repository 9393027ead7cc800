// Command servebench is a load generator for LLM serving endpoints.
//
// Each verb is a file of this package and turns its flags into the structs of
// the other packages; nothing below this package knows a flag. Stdout is data,
// stderr is talk.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// Exit codes. An interrupted run ends with 130, as the shell has it.
const (
	exitNo          = 1 // the answer is no: every request failed, nothing could be read
	exitMisuse      = 2
	exitInterrupted = 130
)

// version is the version of servebench, in User-Agent and in what it writes.
const version = "0.1.0"

func main() {
	os.Exit(servebench(context.Background(), os.Args[1:]))
}

// servebench runs one command line and gives its exit code.
func servebench(ctx context.Context, args []string) int {
	root := newRootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var exit exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		if exit.error != nil {
			fmt.Fprintln(os.Stderr, "servebench:", exit.error)
		}
		return exit.code
	default:
		fmt.Fprintln(os.Stderr, "servebench:", err)
		return exitMisuse
	}
}

// An exitError ends the program with a code of its own. A nil error inside has
// been said already.
type exitError struct {
	error
	code int
}

func (e exitError) Unwrap() error { return e.error }

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "servebench",
		Short:         "A load generator for LLM serving endpoints",
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(newRunCommand(), newSimCommand(), newReportCommand(), newDatasetCommand())
	return root
}
