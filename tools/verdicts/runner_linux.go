package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// A plan is the runs to make.
type plan struct {
	dir        string
	runs       int // of each load under each condition
	loads      []load
	conditions []condition
	set        set
	seed       uint64
	talk       io.Writer
}

// A maker makes one run in a folder, which exists. It writes the records and the truth, and fills in
// how the run ended.
type maker interface {
	measure(ctx context.Context, dir string, l *load, c *condition, a *about) error
}

// complete makes the runs that are not there yet. Neighbours in time differ in condition and load, so
// a machine that changes spoils none of them alone.
func (p *plan) complete(ctx context.Context, m maker) error {
	for n := range p.runs {
		for _, l := range p.loads {
			varied, seed := p.set.of(l, p.seed, n)
			for _, c := range p.conditions {
				name := filepath.Join(fmt.Sprintf("%s-%d", p.set, p.seed), l.name, c.name, fmt.Sprint(n))
				a := &about{
					Load: l.name, Condition: c.name, Set: p.set, Seed: seed,
					TTFT: varied.ttft, ITL: varied.itl, Output: varied.output,
				}
				if err := p.one(ctx, m, name, &varied, &c, a); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
			}
		}
	}
	return nil
}

// one makes a run under another name, and renames its folder once it is whole.
func (p *plan) one(ctx context.Context, m maker, name string, l *load, c *condition, a *about) error {
	final := filepath.Join(p.dir, name)
	if _, err := os.Stat(final); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	unfinished := filepath.Join(filepath.Dir(final), ".unfinished")
	if err := errors.Join(os.RemoveAll(unfinished), os.MkdirAll(unfinished, 0o777)); err != nil {
		return err
	}
	a.LoadAverage = loadAverage()
	if err := m.measure(ctx, unfinished, l, c, a); err != nil {
		return err
	}
	text, err := json.MarshalIndent(a, "", "\t")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(unfinished, aboutFile), append(text, '\n'), 0o666); err != nil {
		return err
	}
	fmt.Fprintf(p.talk, "%s: %s\n", name, a.Verdict)
	return os.Rename(unfinished, final)
}

// mostRun is how long a run may take.
const mostRun = 2 * time.Minute

// A client makes runs with servebench.
type client struct {
	program  string
	server   *serving
	priority []string      // of a quiet run
	wait     time.Duration // for an idle machine
}

func (m *client) measure(ctx context.Context, dir string, l *load, c *condition, a *about) error {
	url := m.server.url(l)
	if err := m.server.ask(ctx, fmt.Sprintf("%s/set?ttft=%v&itl=%v", url, l.ttft, l.itl), io.Discard); err != nil {
		return err
	}
	if c.quiet {
		awaitIdle(ctx, m.wait)
	}
	if err := m.run(ctx, l.arguments(url, filepath.Join(dir, recordsFile), a.Seed), c, a); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, truthFile))
	if err != nil {
		return err
	}
	packed, err := zstd.NewWriter(f)
	if err != nil {
		return err
	}
	return errors.Join(m.server.ask(ctx, url+"/truth", packed), packed.Close(), f.Close())
}

// run runs the client under a condition.
func (m *client) run(ctx context.Context, arguments []string, c *condition, a *about) (err error) {
	end, err := loops(c.busy)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	var priority []string
	if c.quiet {
		priority, a.Priority = m.priority, m.priority != nil
	}
	var talk bytes.Buffer
	limited, cancel := context.WithTimeout(ctx, mostRun)
	defer cancel()
	words := append(append([]string(nil), priority...), append([]string{m.program}, arguments...)...)
	cmd := exec.CommandContext(limited, words[0], words[1:]...)
	cmd.Stderr = &talk
	if err := cmd.Start(); err != nil {
		return err
	}
	if c.stop > 0 {
		running, stopped := context.WithCancel(limited)
		done := make(chan struct{})
		go func() { c.stops(running, cmd.Process); close(done) }()
		defer func() { stopped(); <-done }()
	}
	err = cmd.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		return err
	}
	a.ExitCode, a.Verdict = cmd.ProcessState.ExitCode(), verdictLine(talk.String())
	return nil
}

// verdictLine is the line of a run's stderr that begins with a verdict; empty for none.
func verdictLine(talk string) string {
	for line := range strings.Lines(talk) {
		for _, verdict := range []string{"VALID", "SUSPECT", "OVERLOADED"} {
			if strings.HasPrefix(line, verdict) {
				return strings.TrimSpace(line)
			}
		}
	}
	return ""
}
