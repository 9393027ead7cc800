package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/report"
)

// head says which of several targets a block is of.
func (e *experiment) head(s *metrics.Summary) {
	if !e.several() {
		return
	}
	fmt.Fprintf(e.out, "\n%s\n", report.TargetHeading(s))
	if e.talk != e.out {
		fmt.Fprintf(e.talk, "\n%s\n", report.TargetHeading(s))
	}
}

// compare writes what all targets did together, and what they did to each other.
func (e *experiment) compare(done []measured) error {
	var sums []*metrics.Summary
	for _, m := range done {
		sums = append(sums, m.sum)
	}
	if slices.ContainsFunc(sums, func(s *metrics.Summary) bool { return s.Trace == nil }) {
		return nil // there were too many requests to keep, as their warnings say
	}
	var errs []error
	for _, g := range compare.Groups(sums) {
		errs = append(errs, report.Group(e.out, &g, e.Results.VLLMVersion))
	}
	if err := errors.Join(errs...); err != nil {
		return exitError{err, exitNo}
	}
	return nil
}

// repeats writes all runs side by side, how much they differ, and what the pairs among
// them say.
func (e *experiment) repeats() error {
	var table report.Table
	var names []string
	byName := map[string][]*metrics.Summary{}
	for _, m := range e.done {
		name := "Over all repeats"
		if e.several() {
			name = report.TargetHeading(m.sum) + ", over all repeats"
		}
		if byName[name] == nil {
			names = append(names, name)
		}
		byName[name] = append(byName[name], m.sum)
		row := report.Row{Summary: m.sum}
		if e.several() {
			row.Labels = append(row.Labels, metrics.KV{Key: "target", Value: report.TargetHeading(m.sum)})
		}
		row.Labels = append(row.Labels, metrics.KV{Key: "repeat", Value: fmt.Sprint(len(byName[name]))})
		table = append(table, row)
	}
	var b bytes.Buffer
	b.WriteByte('\n')
	err := table.Markdown(&b)
	for _, name := range names {
		b.WriteByte('\n')
		err = errors.Join(err, report.Spread(&b, name, byName[name]))
	}
	var sums []*metrics.Summary
	for _, m := range e.done {
		sums = append(sums, m.sum)
	}
	err = errors.Join(err, report.PairedBySeries(&b, sums))
	if _, failed := e.out.Write(b.Bytes()); err != nil || failed != nil {
		return exitError{errors.Join(err, failed), exitNo}
	}
	return nil
}

// A prefixed writer puts a text before each line. It is safe for concurrent use
// where w is.
type prefixed struct {
	w      io.Writer
	prefix string

	mu   sync.Mutex
	rest []byte // of a line whose end has not come
}

func (p *prefixed) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rest = append(p.rest, text...)
	var whole strings.Builder
	for {
		line, rest, ok := bytes.Cut(p.rest, []byte("\n"))
		if !ok {
			break
		}
		whole.WriteString(p.prefix + string(line) + "\n")
		p.rest = rest
	}
	if whole.Len() > 0 {
		if _, err := io.WriteString(p.w, whole.String()); err != nil {
			return 0, err
		}
	}
	return len(text), nil
}
