package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
)

// A Row is one run of several that are shown together.
type Row struct {
	Labels  []metrics.KV     // what tells it from the others
	Summary *metrics.Summary // nil when there are no numbers
	Failed  string           // why there are none
	Notes   []string         // what is to be known beside the numbers
	More    pyjson.Object    // members of its object in JSON, after all others
}

// A Table is runs side by side.
type Table []Row

// labels are the names of the rows' labels, in the order in which they appear.
func (t Table) labels() []string {
	var names []string
	for _, row := range t {
		for _, kv := range row.Labels {
			if !slices.Contains(names, kv.Key) {
				names = append(names, kv.Key)
			}
		}
	}
	return names
}

func (r *Row) label(name string) string {
	for _, kv := range r.Labels {
		if kv.Key == name {
			return kv.Value
		}
	}
	return ""
}

// verdict is whether the row's numbers can be believed, in a word.
func (r *Row) verdict() string {
	switch {
	case r.Summary == nil:
		return "FAILED"
	case r.Summary.Trust == nil:
		return ""
	}
	return string(r.Summary.Trust.Verdict)
}

// remark is what is to be known of the row, in a line: why it failed, or what
// makes it suspect or overloaded.
func (r *Row) remark() string {
	remarks := slices.Clone(r.Notes)
	if r.Failed != "" {
		remarks = append(remarks, r.Failed)
	}
	if r.Summary != nil && r.Summary.Trust != nil && r.Summary.Trust.Verdict != metrics.Valid {
		for _, c := range r.Summary.Trust.Failed() {
			if said := strings.Join(remarks, "; "); !strings.Contains(said, c.Text) { // a probe's note has it already
				remarks = append(remarks, c.Text)
			}
		}
	}
	return strings.Join(strings.Fields(strings.Join(remarks, "; ")), " ")
}

// number is a column's value with as many digits as the block gives, or "" where
// it is not known.
func (r *Row) number(c column) string {
	if r.Summary == nil {
		return ""
	}
	switch v := c.of(r.Summary); {
	case math.IsNaN(v), v < 0: // a count that is not known is -1
		return ""
	case c.key == "completed" || c.key == "failed":
		return strconv.Itoa(int(v))
	default:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
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

// Cells are the table's texts, the head first; the first labels of each row are
// its labels, the last is its verdict, and those between are numbers. One with an
// asterisk rests on too few values.
func (t Table) Cells() (cells [][]string, labels int) {
	names, columns := t.labels(), t.columns()
	head := slices.Clone(names)
	for _, c := range columns {
		head = append(head, c.head)
	}
	cells = [][]string{append(head, "verdict")}
	for i := range t {
		var row []string
		for _, name := range names {
			row = append(row, t[i].label(name))
		}
		for _, c := range columns {
			number := t[i].number(c)
			if number != "" && c.few != nil && c.few(t[i].Summary) {
				number += few
			}
			row = append(row, number)
		}
		cells = append(cells, append(row, t[i].verdict()))
	}
	return cells, len(names)
}

// few marks a percentile of too few values.
const few = "*"

// fewMeans says what few does.
var fewMeans = fmt.Sprintf("fewer than %d values lie beyond this percentile: too few to decide anything by it", metrics.MinBeyond)

// Markdown writes the table with columns of even width, and below it a line for
// each row of which something is to be known.
func (t Table) Markdown(w io.Writer) error {
	var text strings.Builder
	cells, labels := t.Cells()
	marked := slices.ContainsFunc(cells, func(row []string) bool {
		return slices.ContainsFunc(row[labels:], func(cell string) bool { return strings.HasSuffix(cell, few) })
	})
	align(&text, cells, labels)
	if marked {
		text.WriteString("\n`" + few + "` " + fewMeans + "\n")
	}
	t.remarks(&text)
	_, err := io.WriteString(w, text.String())
	return err
}

// align writes cells, the first row being the head; columns from left on are
// numbers.
func align(text *strings.Builder, cells [][]string, left int) {
	widths := make([]int, len(cells[0]))
	for _, row := range cells {
		for i, cell := range row {
			row[i] = strings.ReplaceAll(cell, "|", `\|`)
			widths[i] = max(widths[i], len([]rune(row[i])), 3)
		}
	}
	for n, row := range cells {
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-len([]rune(cell)))
			if i < left || i == len(row)-1 {
				fmt.Fprintf(text, "| %s%s ", cell, pad)
			} else {
				fmt.Fprintf(text, "| %s%s ", pad, cell)
			}
		}
		text.WriteString("|\n")
		if n > 0 {
			continue
		}
		for i, width := range widths {
			rule := strings.Repeat("-", width)
			if i >= left && i < len(widths)-1 {
				rule = rule[1:] + ":"
			}
			fmt.Fprintf(text, "| %s ", rule)
		}
		text.WriteString("|\n")
	}
}

// remarks writes a line for each row that has one.
func (t Table) remarks(text *strings.Builder) {
	first := true
	for i := range t {
		remark := t[i].remark()
		if remark == "" {
			continue
		}
		var names []string
		for _, kv := range t[i].Labels {
			names = append(names, kv.Key+" "+kv.Value)
		}
		if first {
			text.WriteString("\n")
			first = false
		}
		fmt.Fprintf(text, "- %s: %s: %s\n", strings.Join(names, ", "), t[i].verdict(), remark)
	}
}

// CSV writes the table as comma-separated values, with units in the head.
func (t Table) CSV(w io.Writer) error {
	labels, columns := t.labels(), t.columns()
	out := csv.NewWriter(w)
	head := slices.Clone(labels)
	for _, c := range columns {
		head = append(head, c.key)
	}
	out.Write(append(head, "verdict", "remark"))
	for i := range t {
		var row []string
		for _, name := range labels {
			row = append(row, t[i].label(name))
		}
		for _, c := range columns {
			row = append(row, t[i].number(c))
		}
		out.Write(append(row, t[i].verdict(), t[i].remark()))
	}
	out.Flush()
	return out.Error()
}

// JSON writes the table as an array with an object for each row. Numbers that
// are not known are null.
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
