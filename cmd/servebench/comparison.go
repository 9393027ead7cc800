package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/report"
)

// repeats writes all runs side by side, how much they differ, and what the pairs among
// them say.
func repeats(out io.Writer, several bool, sums []*metrics.Summary) error {
	var table report.Table
	var names []string
	byName := map[string][]*metrics.Summary{}
	for _, s := range sums {
		name := "Over all repeats"
		if several {
			name = report.TargetHeading(s) + ", over all repeats"
		}
		if byName[name] == nil {
			names = append(names, name)
		}
		byName[name] = append(byName[name], s)
		row := report.Row{Summary: s}
		if several {
			row.Labels = append(row.Labels, metrics.KV{Key: "target", Value: report.TargetHeading(s)})
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
	err = errors.Join(err, report.PairedBySeries(&b, sums))
	if _, failed := out.Write(b.Bytes()); err != nil || failed != nil {
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
