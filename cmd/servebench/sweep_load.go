package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen/sweep"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/report"
)

// load makes one run of a sweep, as servebench run does.
func (c *sweepCommand) load(ctx context.Context, job *sweep.Job) (*metrics.Summary, error) {
	o, err := parseRun(job.Args)
	if err != nil {
		return nil, err
	}
	o.Limits.Drain = 0 // what is cut short is done again
	o.Results.Metadata = append(o.Results.Metadata, metrics.KV{Key: "arm", Value: c.plan.Arms[job.Cell.Arm].Name},
		metrics.KV{Key: "repeat", Value: fmt.Sprint(job.Cell.Repeat + 1)})
	c.say("%s", c.pace.line(c.journal, job))
	fmt.Fprintf(c.log, "--- %s: %s: servebench run %s\n", time.Now().Format(time.DateTime), job.Name,
		strings.Join(c.shown(o, job.Args), " "))
	b := &bench{options: o, out: c.log, talk: c.log, screen: c.talk, patience: 10 * time.Second}
	s, err := c.measure(ctx, b, job)
	if err != nil {
		err = errors.New(o.Server.Secrets.mask(err.Error()))
		fmt.Fprintln(c.log, "servebench:", err)
		return nil, err
	}
	return s, c.tell(s)
}

// shown are the words of a command line that may be seen.
func (c *sweepCommand) shown(o *options, args []string) []string {
	var words []string
	for _, arg := range args {
		words = append(words, o.Server.Secrets.mask(arg))
	}
	return words
}

// measure is one load test whose records go to the sweep's stream.
func (c *sweepCommand) measure(ctx context.Context, b *bench, job *sweep.Job) (*metrics.Summary, error) {
	if c.plan.Between.Reset {
		if err := b.resetPrefixCache(ctx); err != nil {
			note := "the prefix cache was not reset: " + b.Server.Secrets.mask(err.Error())
			job.Notes = append(job.Notes, note)
			c.say("WARNING: %s", note)
		}
	}
	for _, w := range b.Warnings {
		fmt.Fprintln(b.talk, "WARNING:", w)
	}
	var err error
	if b.results, err = openResults(b.Results); err != nil {
		return nil, err
	}
	b.results.shared = true
	b.results.streamTo(c.journal.Records)
	s, err := b.test(ctx)
	if err == nil && s.Interrupted {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	if err := b.results.close(s); err != nil {
		return nil, err
	}
	if s.Completed == 0 && s.Failed > 0 && c.plan.Search == nil {
		return nil, allFailed(s)
	}
	return s, nil
}

// resetPrefixCache has the server forget the prompts of earlier runs.
func (b *bench) resetPrefixCache(ctx context.Context) error {
	b.config = b.options.config()
	b.connect()
	defer b.transport.CloseIdleConnections()
	return b.server.ResetPrefixCache(ctx)
}

// tell says in a line what a run came to, and leaves the rest in the log.
func (c *sweepCommand) tell(s *metrics.Summary) error {
	fmt.Fprintf(c.talk, "  %d of %d requests, %.2f req/s, mean TTFT %.2f ms, mean TPOT %.2f ms", s.Completed, s.Completed+s.Failed,
		s.RequestThroughput, s.TTFT.Mean(), s.TPOT.Mean())
	if s.Trust != nil {
		fmt.Fprintf(c.talk, ", %s", s.Trust.Verdict)
	}
	fmt.Fprintln(c.talk)
	tellFailures(c.log, s)
	return errors.Join(report.Truth(c.log, s), report.Verdict(c.log, s))
}

// writeTo is a file of a sweep's folder, written whole or not at all.
func (c *sweepCommand) writeTo(name string, write func(io.Writer) error) error {
	r := &results{resultOptions: resultOptions{Dir: c.dir}, mode: 0o666}
	if err := r.replace(r.path(name), write); err != nil {
		return fmt.Errorf("writing %s: %w", r.path(name), err)
	}
	return nil
}
