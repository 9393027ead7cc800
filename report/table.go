package report

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
type Table []Row

// labels are the names of the rows' labels, in the order in which they appear.
func (t Table) labels() []string {
	var names []string
	for _, row := range t {
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
		if reasons := reasonsOf(r.Summary.Trust); len(reasons) > 0 {
			reasons[0].shorten()
			why = reasons[0].texts
			if more := len(reasons) - 1; more > 0 {
				why = append(why, metrics.Counted(more, "more reason"))
			}
		}
	}
	return r.remarked(why)
}

// doubted says that the row's run is not VALID.
func (r *Row) doubted() bool {
	return r.Summary != nil && r.Summary.Trust != nil && r.Summary.Trust.Verdict != metrics.Valid
}

// judged reports that a note says the row's verdict with its reasons, as the note of a probe does.
func (r *Row) judged() bool {
	return r.doubted() && strings.Contains(strings.Join(r.Notes, "; "), r.verdict()+": ")
}

// line is a remark with the row's verdict before it, unless the run is VALID or the remark has it.
func (r *Row) line(remark string) string {
	if r.verdict() == string(metrics.Valid) || r.judged() {
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
func (r *Row) number(c column) string {
	if r.Summary == nil {
		return ""
	}
	switch v := c.of(r.Summary); {
	case math.IsNaN(v), v < 0: // an unknown count is -1
		return ""
	case c.key == "completed" || c.key == "failed":
		return strconv.Itoa(int(v))
	case c.fine:
		return strconv.FormatFloat(v, 'f', 4, 64)
	default:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
}

// shown is the number for people.
func (r *Row) shown(c column) string {
	text := r.number(c)
	if v, err := strconv.ParseFloat(text, 64); err == nil && v >= unreadable {
		return decimal(v)
	}
	return text
}

// decimal is a number with two digits for people; nothing if it is unknown.
func decimal(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return metrics.Readable(v, 2)
}

// value is the number for JSON, with the digits that are printed.
func (r *Row) value(c column) any {
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
	return t.cells(func(c column) string { return c.head }, func(r *Row, c column) string {
		number := r.shown(c)
		if number != "" && c.few != nil && c.few(r.Summary) {
			number += few
		}
		return number
	})
}

// cells are the rows under a head: labels, numbers and the verdict.
func (t Table) cells(head func(column) string, number func(*Row, column) string) (cells [][]string, labels int) {
	names, columns := t.labels(), t.columns()
	heads := slices.Clone(names)
	for _, c := range columns {
		heads = append(heads, head(c))
	}
	cells = [][]string{append(heads, "verdict")}
	for i := range t {
		var row []string
		for _, name := range names {
			row = append(row, metrics.Value(t[i].Labels, name))
		}
		for _, c := range columns {
			row = append(row, number(&t[i], c))
		}
		cells = append(cells, append(row, t[i].verdict()))
	}
	return cells, len(names)
}

// few marks a percentile of too few samples.
const few = "*"

// fewMeans explains few.
var fewMeans = fmt.Sprintf("fewer than %d values beyond this percentile: too few to decide anything by it",
	metrics.MinBeyond)

// Markdown writes the table with columns of even width, and below it a line for each row
// that needs a remark.
func (t Table) Markdown(w io.Writer) error {
	var text bytes.Buffer
	cells, labels := t.Cells()
	marked := slices.ContainsFunc(cells, func(row []string) bool {
		return slices.ContainsFunc(row[labels:], func(cell string) bool { return strings.HasSuffix(cell, few) })
	})
	g := &grid{heads: 1, names: labels, found: true, rows: cells}
	g.markdown(&text)
	if marked {
		text.WriteString("\n`" + few + "` " + fewMeans + "\n")
	}
	t.remarks(&text)
	_, err := io.WriteString(w, screen.CleanLines(text.String()))
	return err
}

// remarks writes a line for each row that has one.
func (t Table) remarks(text *bytes.Buffer) {
	gap := "\n"
	for i := range t {
		remark := t[i].remark()
		if remark == "" {
			continue
		}
		var names []string
		for _, kv := range t[i].Labels {
			names = append(names, kv.Key+" "+kv.Value)
		}
		fmt.Fprintf(text, "%s- %s: %s\n", gap, strings.Join(names, ", "), t[i].line(remark))
		gap = ""
	}
}

// CSV writes the table as comma-separated values, with units in the head. No spreadsheet runs a cell.
func (t Table) CSV(w io.Writer) error {
	cells, _ := t.cells(func(c column) string { return c.key }, (*Row).number)
	cells[0] = append(cells[0], "remark")
	for i := range t {
		cells[i+1] = append(cells[i+1], t[i].remark())
	}
	return save.CSV(w, cells)
}

// JSON writes the table as an array with an object for each row. Unknown
// numbers are null.
func (t Table) JSON(w io.Writer) error {
	rows, columns := []json.RawMessage{}, t.columns()
	for i := range t {
		labels := pyjson.Object{}
		for _, kv := range t[i].Labels {
			labels = labels.With(kv.Key, kv.Value)
		}
		row := pyjson.Object{}.With("labels", labels)
		for _, c := range columns {
			row = row.With(c.key, t[i].value(c))
		}
		if s := t[i].Summary; s != nil {
			row = row.With("run", s.Header.Run)
		}
		row = row.With("verdict", t[i].verdict()).With("remark", t[i].remark())
		rows = append(rows, pyjson.Append(nil, append(row, t[i].More...)))
	}
	text, err := json.MarshalIndent(rows, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}
