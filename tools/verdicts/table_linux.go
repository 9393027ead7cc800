package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A table has a head and rows. The first column is text, and the others are numbers.
type table [][]string

// write writes a table as text, or as Markdown.
func (t table) write(w io.Writer, markdown bool) {
	if markdown {
		for i, row := range t {
			fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
			if i == 0 {
				fmt.Fprintln(w, "|---|"+strings.Repeat("---:|", len(row)-1))
			}
		}
		fmt.Fprintln(w)
		return
	}
	widths := make([]int, len(t[0]))
	for _, row := range t {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t {
		line := row[0] + strings.Repeat(" ", widths[0]-utf8.RuneCountInString(row[0]))
		for i, cell := range row[1:] {
			line += "  " + strings.Repeat(" ", widths[i+1]-utf8.RuneCountInString(cell)) + cell
		}
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
}

// write writes all that was counted.
func (t *tallies) write(w io.Writer, markdown bool) {
	total := ordered[tally]{names: []string{"all"}, values: map[string]*tally{"all": &t.total}}
	t.verdicts("", &total).write(w, markdown)
	t.verdicts("load", &t.loads).write(w, markdown)
	t.verdicts("condition", &t.conditions).write(w, markdown)
	checks := table{{"failed check", "right blocks", "alone", "wrong blocks", "alone"}}
	for _, name := range t.checks.names {
		c := t.checks.values[name]
		checks = append(checks, []string{
			name, fmt.Sprint(c.failed[0]), fmt.Sprint(c.alone[0]), fmt.Sprint(c.failed[1]), fmt.Sprint(c.alone[1]),
		})
	}
	checks.write(w, markdown)
	for _, j := range t.missed {
		fmt.Fprintf(w, "wrong and VALID: %s: %s\n", j.name, join(j.wrong()))
	}
	for _, name := range t.unjudged {
		fmt.Fprintf(w, "no numbers, so not counted: %s\n", name)
	}
	if t.changed > 0 {
		fmt.Fprintf(w, "%d runs printed another verdict than they have by the limits of today\n", t.changed)
	}
}

// verdicts is a table of truth against verdict, one row for each name. OVERLOADED has a column if
// it occurs.
func (t *tallies) verdicts(of string, rows *ordered[tally]) table {
	head := []string{of, "right, VALID", "right, doubted", "wrong, doubted", "wrong, VALID"}
	if t.total.overloaded > 0 {
		head = append(head, "OVERLOADED")
	}
	all := table{append(head, "right blocks doubted", "wrong blocks VALID", "largest error, VALID")}
	for _, name := range rows.names {
		r := rows.values[name]
		row := []string{name}
		for _, n := range []int{r.counts[0][0], r.counts[0][1], r.counts[1][1], r.counts[1][0]} {
			row = append(row, fmt.Sprint(n))
		}
		if t.total.overloaded > 0 {
			row = append(row, fmt.Sprint(r.overloaded))
		}
		largest := "–"
		if r.counts[0][0]+r.counts[1][0] > 0 {
			largest = fmt.Sprintf("%.1f %%", 100*r.largest)
		}
		all = append(all, append(row, r.rightDoubted().String(), r.wrongValid().String(), largest))
	}
	return all
}

func join[T fmt.Stringer](all []T) string {
	var texts []string
	for _, x := range all {
		texts = append(texts, x.String())
	}
	return strings.Join(texts, "; ")
}
