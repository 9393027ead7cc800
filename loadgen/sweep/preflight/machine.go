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
	"path/filepath"
	"strings"
	"time"

	"github.com/servebench/servebench/dataset/cache"
	"github.com/servebench/servebench/dataset/hub"
	"github.com/servebench/servebench/loadgen/host"
	"github.com/servebench/servebench/loadgen/sweep"
)

// A Machine is what checks ask. No answer takes longer than a few seconds.
type Machine struct {
	// Find gives the path of a program as the server's holder finds it.
	Find func(s *sweep.Server, program string) (string, error)

	// Run gives what a command prints to standard output. An error has the end of what it prints to
	// standard error.
	Run func(ctx context.Context, c Command) (string, error)

	Stat      func(path string) (fs.FileInfo, error)
	Read      func(path string) ([]byte, error)
	Glob      func(pattern string) ([]string, error)
	LookupEnv func(name string) (value string, set bool)

	// Listens reports whether something listens at host:port, or has the port of this machine.
	Listens func(address string) bool

	// Model gives the bytes of a model's weights on this machine, 0 if it is there without weights.
	Model func(name string) (weights int64, err error)

	// Dataset is why a dataset of the Hugging Face Hub is not on this machine.
	Dataset func(path string) error

	Disk   func(folder string) (bytes int64, known bool) // that are free
	Memory func() (m host.Memory, known bool)
}

// A Command is a program with its arguments, as the shell would find it.
type Command struct {
	Words []string
	Env   []string // NAME=VALUE, besides our own
	Input string
}

// patience is how long a command, or a connection, may take.
const (
	patience     = 10 * time.Second
	dialPatience = time.Second
)

// This is the machine on which servebench runs.
func This() *Machine {
	return &Machine{
		Find: (*sweep.Server).Find, Run: limited(patience), Stat: os.Stat, Read: os.ReadFile, Glob: filepath.Glob, LookupEnv: os.LookupEnv,
		Listens: listens, Model: model, Disk: freeDisk, Memory: host.FreeMemory,
		Dataset: func(path string) error {
			_, err := hub.Open(path)
			return err
		},
	}
}

// getenv is the value of a variable, or nothing.
func (m *Machine) getenv(name string) string {
	value, _ := m.LookupEnv(name)
	return value
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

// model looks at a folder, or in the cache of Hugging Face.
func model(name string) (weights int64, err error) {
	folder := name
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		if folder, err = cache.Snapshot(cache.Of(os.LookupEnv).Model(name)); err != nil {
			return 0, err
		}
	}
	if _, err := os.Stat(filepath.Join(folder, "config.json")); err != nil {
		return 0, fmt.Errorf("no config.json in %s", folder)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.safetensors"))
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			weights += info.Size()
		}
	}
	return weights, err
}
