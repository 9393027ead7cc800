package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/servebench/servebench/loadgen/sweep"
)

// newHolderCommand makes the verb that sweep runs in a process of its own for
// each server.
func newHolderCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "sweep-holder JSON",
		Short:  "Run a server until standard input ends",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			// Unread, they have no effect here, and what is started here does not inherit that.
			signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGHUP)
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM)
			defer stop()
			var h sweep.Holder
			if err := json.Unmarshal([]byte(args[0]), &h); err != nil {
				return err
			}
			err := h.Run(ctx, cmd.InOrStdin())
			var own interface{ ExitCode() int }
			switch {
			case errors.As(err, &own):
				return exitError{nil, own.ExitCode()} // whose reason the command has told
			case err != nil:
				return exitError{err, exitNo}
			}
			return nil
		},
	}
}

// holderCommand is that verb of this program.
func holderCommand(h *sweep.Holder) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "sweep-holder", string(text))
	cmd.Args[0] = "servebench" // whatever the file is called
	return cmd, nil
}
