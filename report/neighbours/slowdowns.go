package neighbours

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/targets"
	"github.com/servebench/servebench/report/layout"
	"github.com/servebench/servebench/report/runs"
	"github.com/servebench/servebench/report/screen"
)

// Slowdowns writes a table with a row for each target of each load: how many times slower it was
// with the others than alone, as the geometric mean over the repeats. It writes nothing if no
// target was loaded alone and with others. In a file it is Markdown.
func Slowdowns(w io.Writer, t runs.Table, shown screen.Screen) error {
	names, loads := t.Loads("repeat", "target")
	g := layout.OfLoads(append(names, "target"), shown, append([]string{"|pairs"}, measureHeads()...)...)
	note := tableNote{compared: true}
	var notes bytes.Buffer
	for _, load := range loads {
		var sums []*metrics.Summary
		for _, row := range load.Rows {
			if row.Summary != nil {
				sums = append(sums, row.Summary)
			}
		}
		for _, p := range pairs(sums) {
			cells := append(load.Named(names), p.Target, fmt.Sprint(len(p.Effects)))
			for _, m := range targets.Measures() {
				mean, _, _ := p.Slowdown(m)
				text := times(mean)
				if p.Few(m) {
					text, note.marked = text+layout.Few, true
				}
				cells = append(cells, text)
			}
			if p.Bound {
				note.bound = append(note.bound, p.Target)
			}
			g.Add(cells...)
			wheres(&notes, strings.Join(append(load.Named(names), p.Target), " "), compare.DividePaired(&p))
		}
	}
	if len(g.Rows) == g.Heads {
		return nil
	}
	note.bound = metrics.Distinct(note.bound)
	tableNotes(&notes, note)
	err := g.Write(w, shown, "Slowdown of each target with the others, against itself alone", false)
	text := notes.String()
	if !shown.IsTerminal() {
		text = "\n" + text
	}
	_, wrote := io.WriteString(w, text)
	return errors.Join(err, wrote)
}

// pairs are the targets that were loaded alone and with others, also in one repeat alone.
func pairs(sums []*metrics.Summary) (found []targets.Paired) {
	groups := targets.Groups(sums)
	for i := range groups {
		if len(groups[i].Shared) < 2 {
			continue
		}
		in := groups[i].Interference()
		for _, e := range in.Effects {
			if e.Alone == nil {
				continue
			}
			at := slices.IndexFunc(found, func(p targets.Paired) bool { return p.Target == e.Target })
			if at < 0 {
				at = len(found)
				found = append(found, targets.Paired{Target: e.Target})
			}
			p := &found[at]
			p.Effects, p.Bound = append(p.Effects, e), p.Bound || slices.Contains(in.Bound, e.Target)
		}
	}
	return found
}
