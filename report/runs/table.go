// Package runs shows several runs next to each other: a row for each run, or one for each load.
//
// A Table has what distinguishes its rows, their numbers, and whether to believe them. In a terminal it has the
// numbers that fit, weightiest first, and that differ; in Markdown, CSV and JSON it has all.
package runs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/verdict"
	"github.com/servebench/servebench/report/layout"
	"github.com/servebench/servebench/report/reasons"
	"github.com/servebench/servebench/report/save"
	"github.com/servebench/servebench/report/screen"
)

// A Row is one of several runs that are shown together.
type Row struct {
	Labels  []metrics.KV     // what distinguishes it from the others
	Summary *metrics.Summary // nil if there are no numbers
	Failed  string           // why there are none
	Notes   []string         // what a reader should know about the numbers
	Unused  bool             // it is left out of medians
	More    pyjson.Object    // members of its object in JSON, after all others
}

// A Table is runs next to each other.
type Table struct {
	Rows []Row
	// Numbers are the columns between the labels and the verdict; nil for the usual ones of the runs.
	Numbers []metrics.Number
}

// labels are the names of the rows' labels, in the order in which they appear.
func (t Table) labels() []string {
	var names []string
	for _, row := range t.Rows {
		for _, kv := range row.Labels {
			names = append(names, kv.Key)
		}
	}
	return metrics.Distinct(names)
}

// verdict says in a word whether to believe the row's numbers.
func (r *Row) verdict() string {
	switch {
	case r.Summary == nil:
		return "FAILED"
	case r.Summary.Trust == nil:
		return ""
	}
	return string(r.Summary.Trust.Verdict)
}

// remark is one line about the row: its notes, why it failed, or what makes it SUSPECT
// or OVERLOADED.
func (r *Row) remark() string {
	var why []string
	if r.doubted() {
		for _, c := range r.Summary.Trust.Failed() {
			why = append(why, c.Text)
		}
	}
	return r.remarked(why)
}

// brief is the remark with the weightiest reason alone.
func (r *Row) brief() string {
	var why []string
	if r.doubted() {
		if all := reasons.Of(r.Summary.Trust); len(all) > 0 {
			all[0].Shorten()
			why = all[0].Texts
			if more := len(all) - 1; more > 0 {
				why = append(why, metrics.Counted(more, "more reason"))
			}
		}
	}
	return r.remarked(why)
}

// doubted says that the row's run is not VALID.
func (r *Row) doubted() bool {
	return r.Summary != nil && r.Summary.Trust != nil && r.Summary.Trust.Verdict != verdict.Valid
}

// judged reports that a note says the row's verdict with its reasons, as the note of a probe does.
func (r *Row) judged() bool {
	return r.doubted() && strings.Contains(strings.Join(r.Notes, "; "), r.verdict()+": ")
}

// line is a remark with the row's verdict before it, unless the run is VALID or the remark has it.
func (r *Row) line(remark string) string {
	if r.verdict() == string(verdict.Valid) || r.judged() {
		return remark
	}
	return r.verdict() + ": " + remark
}

// remarked is one line of the row's notes and of why its run is not VALID.
func (r *Row) remarked(why []string) string {
	remarks := slices.Clone(r.Notes)
	if r.Failed != "" {
		remarks = append(remarks, r.Failed)
	}
	if !r.judged() {
		remarks = append(remarks, why...)
	}
	return strings.Join(strings.Fields(strings.Join(remarks, "; ")), " ")
}

// number is a column's value with as many digits as in the block, or "" if unknown.
func (r *Row) number(c metrics.Number) string {
	if r.Summary == nil {
		return ""
	}
	v := c.Of(r.Summary)
	if math.IsNaN(v) || v < 0 { // an unknown count is -1
		return ""
	}
	return strconv.FormatFloat(v, 'f', c.Unit.Decimals(), 64)
}

// shown is the number for people.
func (r *Row) shown(c metrics.Number) string {
	if r.number(c) == "" {
		return ""
	}
	return c.Text(c.Of(r.Summary))
}

// value is the number for JSON, with the digits that are printed.
func (r *Row) value(c metrics.Number) any {
	text := r.number(c)
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return v
	}
	return nil
}

// Cells are the table's texts, the head first. Each row begins with its labels and ends with its
// verdict; between them are numbers. An asterisk marks a number that rests on too few samples.
func (t Table) Cells() (cells [][]string, labels int) {
	return t.cells(func(c metrics.Number) string { return c.Head }, func(r *Row, c metrics.Number) string {
		number := r.shown(c)
		if number != "" && c.Few(r.Summary) {
			number += layout.Few
		}
		return number
	})
}

// cells are the rows under a head: labels, numbers and the verdict.
func (t Table) cells(head func(metrics.Number) string, number func(*Row, metrics.Number) string) (cells [][]string,
	labels int) {
	names, columns := t.labels(), t.columns()
	heads := slices.Clone(names)
	for _, c := range columns {
		heads = append(heads, head(c))
	}
	cells = [][]string{append(heads, "verdict")}
	for i := range t.Rows {
		var row []string
		for _, name := range names {
			row = append(row, metrics.Value(t.Rows[i].Labels, name))
		}
		for _, c := range columns {
			row = append(row, number(&t.Rows[i], c))
		}
		cells = append(cells, append(row, t.Rows[i].verdict()))
	}
	return cells, len(names)
}

// Markdown writes the table with columns of even width, and below it a line for each row
// that needs a remark.
func (t Table) Markdown(w io.Writer) error {
	var text bytes.Buffer
	cells, labels := t.Cells()
	marked := slices.ContainsFunc(cells, func(row []string) bool {
		return slices.ContainsFunc(row[labels:], func(cell string) bool { return strings.HasSuffix(cell, layout.Few) })
	})
	g := &layout.Grid{Heads: 1, Names: labels, Found: true, Rows: cells}
	g.Markdown(&text)
	if marked {
		text.WriteString("\n`" + layout.Few + "` " + layout.FewMeans() + "\n")
	}
	t.remarks(&text)
	_, err := io.WriteString(w, screen.CleanLines(text.String()))
	return err
}

// remarks writes a line for each row that has one.
func (t Table) remarks(text *bytes.Buffer) {
	gap := "\n"
	for i := range t.Rows {
		remark := t.Rows[i].remark()
		if remark == "" {
			continue
		}
		var names []string
		for _, kv := range t.Rows[i].Labels {
			names = append(names, kv.Key+" "+kv.Value)
		}
		fmt.Fprintf(text, "%s- %s: %s\n", gap, strings.Join(names, ", "), t.Rows[i].line(remark))
		gap = ""
	}
}

// CSV writes the table as comma-separated values, with units in the head. No spreadsheet runs a cell.
func (t Table) CSV(w io.Writer) error {
	cells, _ := t.cells(func(c metrics.Number) string { return c.Key }, (*Row).number)
	cells[0] = append(cells[0], "remark")
	for i := range t.Rows {
		cells[i+1] = append(cells[i+1], t.Rows[i].remark())
	}
	return save.CSV(w, cells)
}

// JSON writes the table as an array with an object for each row. Unknown
// numbers are null.
func (t Table) JSON(w io.Writer) error {
	rows, columns := []json.RawMessage{}, t.columns()
	for i := range t.Rows {
		labels := pyjson.Object{}
		for _, kv := range t.Rows[i].Labels {
			labels = labels.With(kv.Key, kv.Value)
		}
		row := pyjson.Object{}.With("labels", labels)
		for _, c := range columns {
			row = row.With(c.Key, t.Rows[i].value(c))
		}
		if s := t.Rows[i].Summary; s != nil {
			row = row.With("run", s.Header.Run)
		}
		row = row.With("verdict", t.Rows[i].verdict()).With("remark", t.Rows[i].remark())
		rows = append(rows, pyjson.Append(nil, append(row, t.Rows[i].More...)))
	}
	text, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}
