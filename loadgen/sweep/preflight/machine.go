package preflight

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/sweep"
)

// A Machine is what checks ask. No answer takes longer than a minute.
type Machine struct {
	// Find gives the path of a program as the server's holder finds it.
	Find func(s *sweep.Server, program string) (string, error)

	// Run gives what a command prints to standard output. An error has the end of what it prints to
	// standard error.
	Run func(ctx context.Context, c Command) (string, error)

	Stat   func(path string) (fs.FileInfo, error)
	Getenv func(name string) string

	// Listens reports whether something listens at host:port, or has the port of this machine.
	Listens func(address string) bool

	Disk func(folder string) (bytes int64, known bool) // that are free
}

// A Command is a program with its arguments, as the shell would find it.
type Command struct {
	Words []string
	Env   []string // NAME=VALUE, besides our own
	Input string
}

// How long a command, or a connection, may take. vllm --version loads PyTorch first.
const (
	patience     = time.Minute
	dialPatience = time.Second
)

// This is the machine on which servebench runs.
func This() *Machine {
	return &Machine{
		Find: (*sweep.Server).Find, Run: limited(patience), Stat: os.Stat, Getenv: os.Getenv,
		Listens: listens, Disk: freeDisk,
	}
}

// limited runs commands that may take so long.
func limited(limit time.Duration) func(context.Context, Command) (string, error) {
	return func(ctx context.Context, c Command) (string, error) {
		timed, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		out, err := run(timed, c)
		if timed.Err() != nil && ctx.Err() == nil {
			return "", fmt.Errorf("no answer within %v", limit)
		}
		return out, err
	}
}

// run runs a command until it or ctx ends.
func run(ctx context.Context, c Command) (string, error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, c.Words[0], c.Words[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = append(os.Environ(), c.Env...), strings.NewReader(c.Input), &out, &errs
	cmd.WaitDelay = dialPatience // for children that keep its output open
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		return "", errors.New(cmp.Or(lines[len(lines)-1], err.Error()))
	}
	return out.String(), nil
}

// listens asks the address and, if it is of this machine, for the port on all interfaces.
func listens(address string) bool {
	conn, err := net.DialTimeout("tcp", address, dialPatience)
	if err == nil {
		conn.Close()
		return true
	}
	name, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(name); err != nil || name != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return false
	}
	l, err := net.Listen("tcp", net.JoinHostPort("", port))
	if err != nil {
		return true
	}
	l.Close()
	return false
}
