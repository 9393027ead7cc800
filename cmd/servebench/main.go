// Command servebench is a load generator for LLM serving endpoints.
//
// Each verb is a file of this package and turns its flags into the structs of the other packages.
// Packages below this one parse no flag. Messages of package loadgen name settings, by the flags that
// advice.Spelling has for them; remedies name the flags to use. Stdout has data, stderr has messages.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	_ "golang.org/x/crypto/x509roots/fallback" // certificates for https if the system has none, as in an empty image

	"github.com/servebench/servebench/cmd/servebench/internal/argv"
	"github.com/servebench/servebench/cmd/servebench/internal/version"
	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/loadgen/progress"
	"github.com/servebench/servebench/loadgen/sweep/hold"
	"github.com/servebench/servebench/report/screen"
)

// Exit codes. An interrupted run ends with 130, as the shell has it.
const (
	exitNo          = 1 // the answer is no: every request failed, nothing could be read
	exitMisuse      = 2
	exitNoVerdict   = 3 // the numbers cannot be trusted
	exitInterrupted = 130
)

func main() {
	host.HeedMemoryLimit()
	os.Exit(servebench(context.Background(), os.Args[1:]))
}

// servebench runs one command line and gives its exit code.
func servebench(ctx context.Context, args []string) int {
	var copies []string // see argv.Hide
	for _, arg := range args {
		copies = append(copies, strings.Clone(arg))
	}
	program := newProgram(args...)
	words, said, err := program.Route(copies)
	if said != "" {
		fmt.Fprintln(os.Stderr, said)
	}
	if err == nil {
		program.SetArgs(words)
		err = program.ExecuteContext(ctx)
	}
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

// complain prints each line of an error, which may join several errors.
func complain(err error) {
	for _, line := range slices.Compact(strings.Split(err.Error(), "\n")) {
		if line != "" {
			screen.Of(os.Stderr).Say(os.Stderr, "servebench: "+screen.CleanLines(line)+"\n")
		}
	}
}

// interruptible is ctx until the first SIGINT, SIGTERM or SIGHUP; a second signal ends the program
// at once. It also works if a shell has made a background command ignore SIGINT. The program does
// not end if nobody reads its output: the write then fails.
func interruptible(ctx context.Context) (interrupted context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	// signal.Ignore would be inherited by child processes; a channel that nobody reads is not.
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

// shown is a writer to f. If f is a terminal, text from outside, such as a server's, cannot command
// it. Anywhere else all bytes are kept.
func shown(f *os.File) io.Writer {
	if screen.Of(f).IsTerminal() {
		return progress.NewTalk(f)
	}
	return f
}

// exitError makes the program exit with code. If error is nil, it prints nothing.
type exitError struct {
	error
	code int
}

func (e exitError) Unwrap() error { return e.error }

// otherPrograms are the commands of other programs that start a load test, which people try first.
var otherPrograms = []argv.Alias{
	{Words: "vllm bench serve", Means: "run"},
	{Words: "bench serve", Means: "run"},
	{Words: "bench", Means: "run"},
	{Words: "benchmark", Means: "run"},
	{Words: "serve", Means: "run"},
	{Words: "version", Means: "--version"},
}

const rootHelp = `Load an LLM server, measure its answers, and say what to believe.

  servebench sim                                   # a server to try it on
  servebench run --base-url http://127.0.0.1:8000  # one load test
  servebench run --help                            # what else it can do`

// newProgram makes the program for a command line. If that begins with a command, the program has no
// other: the flags of all commands take longer than most commands.
func newProgram(args ...string) *argv.Program {
	root := &cobra.Command{
		Use:           "servebench",
		Short:         "A load generator for LLM serving endpoints",
		Long:          rootHelp,
		Version:       version.Number(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(shown(os.Stdout))
	root.SetErr(progress.NewTalk(os.Stderr))
	root.SetVersionTemplate("{{.Name}} version {{.Version}}\n" + version.Text())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w: see %s --help", err, cmd.CommandPath())
	})
	program := &argv.Program{Command: root, Usual: "run", Aliases: otherPrograms}
	verbs := map[string]func() *cobra.Command{
		"run": newRunCommand, "sim": newSimCommand, "report": newReportCommand, "compare": newCompareCommand,
		"dataset": newDatasetCommand, "selftest": newSelftestCommand, "selftest-server": newSelftestServerCommand,
		"sweep": newSweepCommand, hold.Verb: newHolderCommand,
		"shard": func() *cobra.Command { return newShardCommand(time.Now) },
	}
	if len(args) > 0 && verbs[args[0]] != nil {
		root.AddCommand(verbs[args[0]]())
		return program
	}
	root.AddCommand(newManualCommand(program))
	for _, newVerb := range verbs {
		root.AddCommand(newVerb())
	}
	return program
}

// newManualCommand makes the verb that writes the manual pages, for packagers.
func newManualCommand(program *argv.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages into a folder",
		Long: "Write the manual pages into a folder: servebench.1, servebench-run.1 and one for\neach other command. " +
			"They say what --help says.",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("man takes one folder, for the pages")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return err
			}
			return program.Manual(func(name string, page []byte) error {
				return os.WriteFile(filepath.Join(args[0], name+".1"), page, 0o666)
			})
		},
	}
}
