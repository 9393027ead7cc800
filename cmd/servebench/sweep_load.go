package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/servebench/servebench/loadgen"
	"github.com/servebench/servebench/loadgen/spool"
	"github.com/servebench/servebench/loadgen/sweep"
	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/report/save"
)

// load makes one run of a sweep, as servebench run does.
func (c *sweepCommand) load(ctx context.Context, job *sweep.Job) (*sweep.Outcome, error) {
	o, err := parseRun(job.Args)
	if err != nil {
		return nil, err
	}
	e := newExperiment(o, c.log, c.log)
	e.exported, e.arm = c.exported, c.plan.Arms[job.Cell.Arm].Name
	if !o.Results.NoProgress {
		e.screen = c.talk
	}
	for _, o := range o.all() {
		o.Limits.Drain = 0 // what is cut short is done again
		o.Report.Metadata = append(o.Report.Metadata, metrics.KV{Key: "arm", Value: c.plan.Arms[job.Cell.Arm].Name},
			metrics.KV{Key: "repeat", Value: fmt.Sprint(job.Cell.Repeat + 1)})
	}
	written, err := e.withhold()
	if err != nil {
		return nil, err
	}
	c.say("%s", c.pace.line(c.journal, job))
	fmt.Fprintf(c.log, "--- %s: %s: servebench run %s\n", time.Now().Format(time.DateTime), job.Name,
		strings.Join(c.shown(o, job.Args), " "))
	out, err := c.measure(ctx, e, job)
	if out != nil {
		out.Counted = written
	}
	if err != nil {
		fmt.Fprintln(c.log, "servebench:", o.Server.Secrets.Mask(err.Error()))
	}
	return out, err
}

// shown are the words of a command line that may be seen.
func (c *sweepCommand) shown(o *options, args []string) []string {
	var words []string
	for _, arg := range args {
		words = append(words, o.Server.Secrets.Mask(arg))
	}
	return words
}

// measure is the load test of a job, whose records go to the sweep's stream.
func (c *sweepCommand) measure(ctx context.Context, e *experiment, job *sweep.Job) (*sweep.Outcome, error) {
	if c.plan.Between.Reset {
		for _, o := range e.all() {
			if err := o.plan().ResetPrefixCache(ctx); err != nil {
				note := "the prefix cache was not reset: " + o.Server.Secrets.Mask(err.Error())
				job.Notes = append(job.Notes, note)
				c.say("WARNING: %s", note)
			}
		}
	}
	e.warn(e.Warnings)
	plan := e.plan()
	plan.Repeat, plan.Backward = 1, job.Cell.Repeat%2 == 1
	plan.Keep.Records = spool.To(c.journal.Records)
	plan.Keep.Records.Say = sayTo(c.log)
	err := errors.Join(e.load(ctx, plan), e.unwritten)
	plan.Keep.Records.End(spool.Waiting{Context: ctx})
	if lost := plan.Keep.Records.Broken(); lost != nil {
		return nil, &sweep.StorageError{Err: lost}
	}
	// To a search the failures of a run that was given up are an answer.
	if _, stopped := errors.AsType[loadgen.AbortError](err); err != nil && !(stopped && c.plan.Search != nil) {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	out := &sweep.Outcome{Run: e.done[0].Header.Run}
	if e.several {
		out.Run = e.done[0].Header.Group
	}
	for _, r := range e.done {
		if err := failure(r); err != nil && c.plan.Search == nil {
			return nil, err
		}
		out.Sums = append(out.Sums, r.Summary)
		c.tell(r.Summary)
	}
	return out, nil
}

// tell says in a line what a run came to, with the TTFT that decides a search where that
// is another than vLLM's.
func (c *sweepCommand) tell(s *metrics.Summary) {
	of := ""
	if s.Header.Target != "" {
		of = s.Header.TargetName() + ": "
	}
	fmt.Fprintf(c.talk, "  %s%d of %d requests, %.2f req/s, mean TTFT %.2f ms, mean TPOT %.2f ms", of, s.Completed, s.Completed+s.Failed,
		s.RequestThroughput, s.TTFT.Mean(), s.TPOT.Mean())
	if d, words := s.Decisive("ttft"); words != "" {
		fmt.Fprintf(c.talk, ", mean TTFT %s %.2f ms", words, d.Mean())
	}
	if s.Trust != nil {
		fmt.Fprintf(c.talk, ", %s", s.Trust.Verdict)
	}
	fmt.Fprintln(c.talk)
}

// writeTo is a file of a sweep's folder, written whole or not at all.
func (c *sweepCommand) writeTo(name string, write func(io.Writer) error) error {
	name = filepath.Join(c.dir, name)
	if err := save.Replace(name, 0o666, write); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}
