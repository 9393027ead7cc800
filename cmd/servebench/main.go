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
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	_ "golang.org/x/crypto/x509roots/fallback" // certificates for https where the system has none, as in an empty image

	"github.com/servebench/servebench/cmd/servebench/internal/version"
)

// Exit codes. An interrupted run ends with 130, as the shell has it.
const (
	exitNo          = 1 // the answer is no: every request failed, nothing could be read
	exitMisuse      = 2
	exitNoVerdict   = 3 // the numbers cannot be believed
	exitInterrupted = 130
)

func main() {
	os.Exit(servebench(context.Background(), os.Args[1:]))
}

// servebench runs one command line and gives its exit code.
func servebench(ctx context.Context, args []string) int {
	root := newRootCommand()
	var copies []string // see argv.Hide
	for _, arg := range args {
		copies = append(copies, strings.Clone(arg))
	}
	root.SetArgs(copies)
	err := root.ExecuteContext(ctx)
	var exit exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		if exit.error != nil {
			complain(exit.error)
		}
		return exit.code
	default:
		complain(err)
		return exitMisuse
	}
}

// complain prints each line of an error, which may be several joined ones.
func complain(err error) {
	for _, line := range slices.Compact(strings.Split(err.Error(), "\n")) {
		if line != "" {
			fmt.Fprintln(os.Stderr, "servebench:", line)
		}
	}
}

// interruptible is ctx until the first SIGINT, SIGTERM or SIGHUP; a second one
// ends the program at once. It holds too where a shell has made a background
// command ignore SIGINT. Nor does the program end when somebody stops reading what
// it prints: that is an error of the write.
func interruptible(ctx context.Context) (interrupted context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	// Unread, it has no effect here, and what is started here does not inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	done := make(chan struct{})
	go func() {
		for range 2 {
			select {
			case <-signals:
			case <-done:
				return
			}
			if ctx.Err() != nil {
				os.Exit(exitInterrupted)
			}
			cancel()
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel()
	}
}

// An exitError ends the program with a code of its own, without an error in silence.
type exitError struct {
	error
	code int
}

func (e exitError) Unwrap() error { return e.error }

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "servebench",
		Short:         "A load generator for LLM serving endpoints",
		Version:       version.Number(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetVersionTemplate("{{.Name}} version {{.Version}}\n" + version.Text())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w: see %s --help", err, cmd.CommandPath())
	})
	root.AddCommand(newRunCommand(), newSimCommand(), newReportCommand(), newCompareCommand(), newDatasetCommand(),
		newSelftestCommand(), newSelftestServerCommand(), newSweepCommand(), newShardCommand(time.Now), newHolderCommand())
	return root
}
