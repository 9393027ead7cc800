package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report"
)

// An experiment is what one command line of servebench run asks for: one load
// test, or several on one target or many.
type experiment struct {
	*options // of the command line itself
	targets  []*options
	records  *recordFile
	log      *intervalFile  // nil without one
	exported *metricsServer // nil without one
	arm      string         // of a sweep
	series   string         // id of all repeats together; empty where there is one
	backward bool           // all targets together come first, and the last alone
	out      io.Writer      // what vLLM's client prints
	talk     io.Writer      // all else
	screen   io.Writer      // where progress is shown; nil shows none
	patience time.Duration  // for a call that is not part of the load
	done     []measured

	unwritten error // what kept results of done from being printed and saved; the next run may do better
}

// measured is a run and what it came to.
type measured struct {
	*bench
	sum    *metrics.Summary
	advice string // what may be wrong where no request was answered; empty when nothing is known
}

// failure says why a run that was not interrupted came to nothing, if it did.
func (m *measured) failure() error {
	switch s := m.sum; {
	case s.Completed > 0:
		return nil
	case s.Failed == 0:
		return m.named(errors.New("no request was sent: none was due, or had a slot, before the end"))
	default:
		return m.named(fmt.Errorf("%w%s", m.allFailed(s), m.advice))
	}
}

// forget lets go of what is needed no more once the files of a run are written:
// there may be many repeats, of which only the numbers are compared.
func (m *measured) forget() {
	m.bench = &bench{options: m.options, name: m.name, workload: &workload{n: m.n, ids: m.ids}}
	m.sum.Condense()
}

func newExperiment(o *options, out, talk io.Writer) *experiment {
	e := &experiment{options: o, targets: o.Targets, out: out, talk: talk, patience: 10 * time.Second}
	if e.targets == nil {
		e.targets = []*options{o}
	}
	return e
}

// run does it all, as often as was asked for.
func (e *experiment) run(ctx context.Context) (err error) {
	e.warn()
	if e.exported, err = serveMetrics(e.Watch.Listen, e.talk); err != nil {
		return err
	}
	defer e.exported.Close()
	if e.records, err = openRecords(&e.Results, e.talk); err != nil {
		return err
	}
	if e.log, err = openIntervals(&e.Results, e.talk); err != nil {
		return errors.Join(err, e.records.Close(waiting{ctx: ctx}))
	}
	if e.Repeat > 1 {
		e.series = newRunID()
	}
	for repeat := range e.Repeat {
		first := len(e.done)
		e.backward = repeat%2 == 1
		err = e.once(ctx, repeat)
		for i := range e.done[first:] {
			e.done[first+i].forget()
		}
		if err != nil || ctx.Err() != nil {
			break
		}
	}
	if e.Repeat > 1 && len(e.done) > 0 {
		err = errors.Join(err, e.repeats())
	}
	wait := waiting{ctx, e.Limits.Drain}
	err = errors.Join(err, e.unwritten, e.records.Close(wait), e.log.Close(wait))
	if _, stopped := errors.AsType[abortError](err); err == nil || stopped {
		return cmp.Or(err, e.outcome(ctx))
	}
	if told := e.outcome(ctx); told != nil {
		fmt.Fprintln(e.talk, "servebench:", told)
	}
	return err
}

// several says whether there is more than one target.
func (e *experiment) several() bool { return e.Targets != nil }

// warn says what the command line has that has no effect.
func (e *experiment) warn() {
	for _, w := range e.Warnings {
		fmt.Fprintln(e.talk, "WARNING:", w)
	}
}

// once makes each load test once, of every target alone, where that was asked for,
// and of all together.
func (e *experiment) once(ctx context.Context, repeat int) (err error) {
	var group string
	if e.several() {
		group = cmp.Or(e.Shard.RunID, newRunID())
	}
	first := len(e.done)
	for _, only := range e.order() {
		if err = e.trial(ctx, group, repeat, only); err != nil || ctx.Err() != nil {
			break
		}
	}
	if e.several() && len(e.done) > first {
		e.unwritten = errors.Join(e.unwritten, e.compare(e.done[first:]))
	}
	return err
}

// order is that of the load tests, each of the target that is alone. Backward, it is
// the other way round: what drifts in the course of both slows down in one as much
// what it speeds up in the other.
func (e *experiment) order() []int {
	var order []int
	if e.SoloFirst {
		for i := range e.targets {
			order = append(order, i)
		}
	}
	order = append(order, everyone)
	if e.backward {
		slices.Reverse(order)
	}
	return order
}

// everyone stands for no single target.
const everyone = -1

// trial makes one load test of a target alone or of everyone, and tells what came
// of it. The error is what kept it from being done.
func (e *experiment) trial(ctx context.Context, group string, repeat, only int) error {
	t := &trial{group: group, series: e.series, solo: only != everyone, talk: e.talk, screen: e.screen}
	for i := range e.targets {
		if t.solo && i != only {
			continue
		}
		o := e.seeded(i, repeat, t.solo)
		b := &bench{options: o, name: o.Target, out: e.out, talk: e.talk, patience: e.patience, series: e.exported.series(e.arm, o.Target)}
		if e.several() {
			b.out = &prefixed{w: e.talk, prefix: o.Target + ": "}
			b.talk = b.out
		}
		var err error
		if b.results, err = openResults(b.Results, e.records, e.log); err != nil {
			return err
		}
		t.benches = append(t.benches, b)
	}
	sums, err := t.test(ctx)
	for i, s := range sums {
		m := measured{bench: t.benches[i], sum: s}
		if s.Completed == 0 && s.Classes[metrics.Status] > 0 {
			m.advice = m.unlisted(ctx)
		}
		e.done = append(e.done, m)
		e.unwritten = errors.Join(e.unwritten, e.tell(m))
	}
	for _, b := range t.benches {
		b.stopProfiler(ctx)
	}
	return err
}

// tell prints the block of a run, writes its files and says what is to be known
// of it.
func (e *experiment) tell(m measured) error {
	s, version := m.sum, m.Results.VLLMVersion
	m.Shard.tellPart(e.talk)
	e.head(s)
	parts := &m.Results.Parts
	parts.cut(e.talk, s)
	var block bytes.Buffer
	printed := errors.Join(vllm.Failures(&block, s, version), vllm.Block(&block, s, version), parts.show(&block, s, version))
	if _, err := e.out.Write(block.Bytes()); err != nil {
		printed = fmt.Errorf("printing the result block: %w", err)
	}
	for _, w := range s.Warnings {
		fmt.Fprintln(e.talk, "WARNING:", w)
	}
	said := report.Causes(e.talk, s)
	if s.Completed > 0 { // if not, it comes last
		for _, advice := range m.adviceOn(s) {
			fmt.Fprintln(e.talk, "  "+advice)
		}
	}
	said = errors.Join(said, report.Truth(e.talk, s), report.Verdict(e.talk, s))
	if err := errors.Join(printed, said, m.results.close(s)); err != nil {
		return exitError{err, exitNo}
	}
	return nil
}

// outcome is the exit code of what was done, and why.
func (e *experiment) outcome(ctx context.Context) error {
	for _, m := range e.done {
		if s := m.sum; s.Interrupted {
			of := fmt.Sprintf(" of %d", m.Shard.Share(m.n))
			if m.endless() {
				of = ""
			}
			return exitError{m.named(fmt.Errorf("interrupted after %d%s requests", s.Completed+s.Failed, of)), exitInterrupted}
		}
	}
	if n := e.Repeat * int(e.slots()) * len(e.targets); ctx.Err() != nil && len(e.done) < n {
		return exitError{fmt.Errorf("interrupted after %d of %d runs", len(e.done), n), exitInterrupted}
	}
	for _, m := range e.done {
		if err := m.failure(); err != nil {
			return exitError{err, exitNo}
		}
	}
	for _, m := range e.done {
		if err := strict(m.sum); m.Results.Strict && err != nil {
			return exitError{m.named(err), exitNoVerdict}
		}
	}
	return nil
}
