package sweep

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/published"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/sharing"
	"github.com/servebench/servebench/metrics/stream"
	"github.com/servebench/servebench/metrics/verdict"
	"github.com/servebench/servebench/report/against"
	"github.com/servebench/servebench/report/comparison"
	"github.com/servebench/servebench/report/neighbours"
	"github.com/servebench/servebench/report/runs"
	"github.com/servebench/servebench/report/save"
	"github.com/servebench/servebench/report/screen"
)

// A result is what a sweep has measured so far.
type result struct {
	*Sweep
	Result
	sums    map[string][]*metrics.Summary // by runOf
	answers []string                      // of searches, once document has written them
}

// read sums up the record stream of the sweep.
func (s *Sweep) read() (*result, error) {
	r := &result{Sweep: s, Result: Result{Runs: len(s.journal.history.entries), Decision: s.decision},
		sums: map[string][]*metrics.Summary{}}
	name := s.journal.records.Name()
	f, err := stream.OpenFiles(name)
	if err != nil {
		return r, err
	}
	defer f.Close()
	var ask metrics.Ask
	for _, load := range s.Plan.loads.of {
		ask.Trace = ask.Trace || load.Requests
	}
	sums, err := stream.Read(f, ask)
	if err != nil && !errors.Is(err, stream.ErrNothing) {
		return r, fmt.Errorf("%s: %w", name, err)
	}
	for _, sum := range sums {
		r.sums[runOf(sum)] = append(r.sums[runOf(sum)], sum)
	}
	for _, c := range s.Plan.cells() {
		if found, known := r.journal.history.edge(c); known && found.open() {
			r.Open = true
		}
	}
	unused := s.journal.history.disturbed()
	for c, e := range r.all() {
		switch {
		case e.Failed != "":
			r.Failed++
		case r.sums[e.Run] == nil:
			return r, fmt.Errorf("%s: run %s of the journal is not in it", name, e.Run)
		case s.Plan.loads.first(c).Strict && s.Plan.Search == nil && unused[c.repeat+1] == "":
			for _, sum := range r.sums[e.Run] {
				if r.Doubted == nil && sum.Trust != nil && sum.Trust.Verdict != verdict.Valid {
					r.Doubted = sum
				}
			}
		}
	}
	return r, nil
}

// all are the runs in the order of the file.
func (r *result) all() iter.Seq2[cell, entry] {
	return func(yield func(cell, entry) bool) {
		for _, c := range r.Plan.cells() {
			for _, e := range r.journal.history.runs(c) {
				if !yield(c, e) {
					return
				}
			}
		}
	}
}

// write prints the blocks and the table, which fits a terminal, and writes both into the
// folder.
func (r *result) write() error {
	if r.Runs == 0 {
		return nil
	}
	var blocks, table, shown strings.Builder
	rows := r.table()
	if err := errors.Join(r.document(&blocks), r.tables(&table, rows, screen.Screen{})); err != nil {
		return err
	}
	shown.WriteString(table.String())
	if out := screen.Of(r.Out); out.IsTerminal() {
		shown.Reset()
		if err := r.tables(&shown, rows, out); err != nil {
			return err
		}
	}
	whole := func(text string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
	}
	if r.Decision != nil {
		var verdict strings.Builder
		if err := comparison.Text(&verdict, r.Decision); err != nil {
			return err
		}
		if err := r.save("verdict.txt", whole(verdict.String())); err != nil {
			return err
		}
		shown.WriteString("\n" + verdict.String())
	}
	if documents := r.against(); documents != nil {
		if err := r.save(published.FileName, func(w io.Writer) error { return published.Write(w, documents) }); err != nil {
			return err
		}
	}
	var shared strings.Builder
	if err := neighbours.SharingJSON(&shared, r.experiments()); err != nil {
		return err
	}
	if shared.Len() > 0 {
		if err := r.save("sharing.json", whole(shared.String())); err != nil {
			return err
		}
	}
	return errors.Join(r.save("blocks.txt", whole(blocks.String())),
		r.save("table.md", whole(table.String())), r.save("table.csv", rows.CSV), r.save("table.json", rows.JSON),
		whole(blocks.String()+"\n"+shown.String())(r.Out))
}

// mostRows is how many runs have rows on a terminal if there are medians.
const mostRows = 24

// tables writes the rows of the runs, their medians over the repeats, the results of searches, the
// slowdowns of targets, and the blocks of documents. A terminal with medians has the rows of few runs only.
func (r *result) tables(w *strings.Builder, rows runs.Table, shown screen.Screen) error {
	var err error
	switch {
	case !shown.IsTerminal():
		err = rows.Markdown(w)
	case len(rows.Rows) > mostRows && rows.Repeated():
		fmt.Fprintf(w, "The %d runs have their rows in %s.\n", len(rows.Rows), filepath.Join(r.Dir, "table.md"))
	default:
		err = rows.Text(w, shown.Width, filepath.Join(r.Dir, "table.csv"))
	}
	err = errors.Join(err, rows.Medians(w, shown))
	if r.answers != nil {
		w.WriteString("\n- " + strings.Join(r.answers, "\n- ") + "\n")
	}
	return errors.Join(err, neighbours.Slowdowns(w, rows, shown), neighbours.Sharing(w, shown, r.experiments()),
		against.Write(w, r.against(), shown))
}

// experiments are the loads on several targets. The probes of a search are none.
func (r *result) experiments() []sharing.Load {
	if r.Plan.Search != nil {
		return nil
	}
	var sums []*metrics.Summary
	for _, e := range r.all() {
		sums = append(sums, r.sums[e.Run]...)
	}
	return sharing.Loads(sums, nil)
}

// table has a row for each target of each run, in the order of the file.
func (r *result) table() (table runs.Table) {
	table.Numbers = r.Numbers
	unused := r.journal.history.disturbed()
	for c, e := range r.all() {
		row := runs.Row{Labels: r.labels(c, e), Notes: slices.Clone(e.Notes), More: r.answerJSON(c)}
		if e.Broke != "" {
			row.Notes = append(row.Notes, e.Broke)
		}
		if row.Unused = unused[c.repeat+1] != ""; row.Unused {
			row.Notes = append(row.Notes, "not used, since its pair was disturbed")
		}
		if row.Failed = e.Failed; e.Failed != "" {
			table.Rows = append(table.Rows, row)
		}
		for _, s := range r.sums[e.Run] {
			row := row
			row.Summary = s
			if s.Header.Target != "" {
				row.Labels = append(slices.Clone(row.Labels), metrics.KV{Key: "target", Value: s.Header.TargetName()})
			}
			table.Rows = append(table.Rows, row)
		}
	}
	return table
}

// labels distinguish a run from the others.
func (r *result) labels(c cell, e entry) []metrics.KV {
	kvs := append([]metrics.KV{{Key: "arm", Value: r.Plan.Arms[c.arm].Name}}, r.Plan.Arms[c.arm].Labels...)
	for _, s := range r.Plan.Points[c.point].Settings {
		kvs = append(kvs, metrics.KV{Key: s.Flag, Value: s.Value})
	}
	kvs = append(kvs, metrics.KV{Key: "repeat", Value: fmt.Sprint(c.repeat + 1)})
	if e.Value != nil {
		kvs = append(kvs, metrics.KV{Key: r.Plan.Search.Flag, Value: fmt.Sprintf("%g", *e.Value)},
			metrics.KV{Key: "probe", Value: e.verdict()})
	}
	return kvs
}

// verdict is the result of a probe in a word.
func (e *entry) verdict() string {
	switch {
	case e.Failed != "":
		return ""
	case e.Passed:
		return "passed"
	case e.Doubted:
		return "in doubt"
	}
	return "failed"
}

// answer is the result of a cell's search in a line, "" before it is known.
func (r *result) answer(c cell) string {
	found, known := r.journal.history.edge(c)
	if !known {
		return ""
	}
	return r.Plan.describe(c) + ": " + r.Plan.Search.say(found)
}

// answerJSON is the same as a member of the cell's rows in JSON, nil before it is known.
func (r *result) answerJSON(c cell) pyjson.Object {
	found, known := r.journal.history.edge(c)
	if !known {
		return nil
	}
	return pyjson.Object{{Key: "search", Value: pyjson.Object{
		{Key: "flag", Value: r.Plan.Search.Flag}, {Key: "passes", Value: found.passesBy.json(found.passes)},
		{Key: "fails", Value: found.failsBy.json(found.fails)},
		{Key: "why", Value: found.why}, {Key: "text", Value: r.Plan.Search.say(found)},
	}}}
}

// save writes a file of the folder, whole or not at all.
func (r *result) save(name string, write func(io.Writer) error) error {
	name = filepath.Join(r.Dir, name)
	if err := save.Replace(name, 0o666, write); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}
