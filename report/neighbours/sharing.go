package neighbours

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/sharing"
	"github.com/servebench/servebench/report/layout"
	"github.com/servebench/servebench/report/screen"
)

// Sharing writes who slows whom in each load: the matrix of slowdowns, how evenly the targets
// share, and whose prompts lengthen whose gaps. In a file it is Markdown. It writes nothing about
// what is unknown, and nothing that Paired says: two targets in few repeats have no intervals.
func Sharing(w io.Writer, shown screen.Screen, all []sharing.Load) error {
	var errs []error
	for i := range all {
		e := &all[i]
		of := ""
		if e.Name != "" {
			of = ", " + e.Name
		}
		var b bytes.Buffer
		says := e.Paired() || len(e.Groups) >= sharing.LeastRepeats
		if m := e.Matrices(); m != nil && says {
			errs = append(errs, matrices(&b, shown, m, of))
		}
		if len(e.Groups) > 1 && says {
			errs = append(errs, evennesses(&b, shown, e.Evenness(), of))
		}
		switch c := e.Causes(); {
		case c == nil:
		case c.Short() && says:
			errs = append(errs, note(&b, shown, fmt.Sprintf("Whose prompts lengthen whose gaps is unknown: that takes %s in "+
				"which all targets are loaded", c.Least())))
		case !c.Short():
			errs = append(errs, causes(&b, shown, c, of))
		}
		_, err := w.Write(b.Bytes())
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func matrices(b *bytes.Buffer, shown screen.Screen, all []sharing.Matrix, of string) error {
	heads := []string{"", "target", "alone"}
	for _, with := range all[0].With {
		heads = append(heads, "with "+strings.Trim(with, "()"))
	}
	g := &layout.Grid{Heads: 1, Names: 2, Rows: [][]string{heads}}
	repeats := 0
	for _, m := range all {
		unit := string(m.Measure.Unit)
		name := strings.TrimSuffix(m.Measure.Head, " "+unit)
		for _, row := range m.Rows {
			first, below := []string{name, row.Target, cmp.Or(layout.Decimal(row.Alone), "-") + " " + unit}, []string{"", "", ""}
			for _, s := range row.Slower {
				value, interval := times(s.Value), between95(s.Low, s.High)
				repeats = max(repeats, s.Repeats)
				if !shown.IsTerminal() && interval != "" {
					value += " (" + interval + ")"
				}
				first, below = append(first, value), append(below, interval)
			}
			if g.Add(first...); shown.IsTerminal() && strings.Join(below, "") != "" {
				g.Add(below...)
			}
			name = ""
		}
	}
	title := fmt.Sprintf("Who slows whom%s: times as slow as alone, from %s", of, metrics.Counted(repeats, "repeat"))
	err := g.Write(b, shown, title, false)
	return errors.Join(err, note(b, shown, "above 1 is worse; "+intervalsOf(repeats)))
}

// intervalsOf says what the intervals of so many repeats are.
func intervalsOf(repeats int) string {
	if repeats < sharing.LeastRepeats {
		return fmt.Sprintf("no intervals: they need %d repeats", sharing.LeastRepeats)
	}
	return "geometric means with 95 % intervals"
}

// between95 is an interval, empty where it is unknown.
func between95(low, high float64) string {
	if math.IsNaN(low) || math.IsNaN(high) {
		return ""
	}
	return layout.Decimal(low) + " … " + layout.Decimal(high)
}

// note writes a line below a table.
func note(b *bytes.Buffer, shown screen.Screen, text string) error {
	if !shown.IsTerminal() {
		b.WriteByte('\n')
		_, err := fmt.Fprintln(b, text)
		return err
	}
	var line bytes.Buffer
	screen.Wrap(&line, -1, groupWidth, text)
	_, err := b.WriteString(strings.TrimPrefix(line.String(), " "))
	return err
}

func evennesses(b *bytes.Buffer, shown screen.Screen, all []sharing.Evenness, of string) error {
	g := &layout.Grid{Heads: 1, Names: 1, Rows: [][]string{{"1 is even", "Jain's index", "95 % interval", "repeats"}}}
	for _, f := range all {
		index, interval := "-", "-"
		if !math.IsNaN(f.Jain.Value) {
			index = fmt.Sprintf("%.3f", f.Jain.Value)
		}
		if !math.IsNaN(f.Jain.Low) {
			interval = fmt.Sprintf("%.3f … %.3f", f.Jain.Low, f.Jain.High)
		}
		g.Add(fairnessNames[f.Of], index, interval, fmt.Sprint(f.Jain.Repeats))
	}
	return g.Write(b, shown, "Fairness over the repeats"+of, false)
}

func causes(b *bytes.Buffer, shown screen.Screen, c *sharing.Causes, of string) error {
	g := &layout.Grid{Heads: 1, Names: 2, Rows: [][]string{
		{"gaps of", "prompts of", "correlation", "interval", "lag ms", "effect ms", "interval"}}}
	for _, p := range c.Pairs {
		cells := []string{p.On, p.By, "-", "", "", "", ""}
		if !p.Confounded && !math.IsNaN(p.Correlation.Value) {
			cells[2], cells[4] = fmt.Sprintf("%.3f", p.Correlation.Value), fmt.Sprint(p.Lag.Milliseconds())
			cells[5], cells[6] = fmt.Sprintf("%+.2f", p.Effect.Value), between95(p.Effect.Low, p.Effect.High)
			if !math.IsNaN(p.Correlation.Low) {
				cells[3] = fmt.Sprintf("%.3f … %.3f", p.Correlation.Low, p.Correlation.High)
			}
		}
		g.Add(cells...)
	}
	title := fmt.Sprintf("Whose prompts lengthen whose gaps between tokens%s: cross-correlation in bins of %s", of, c.Bin)
	errs := []error{g.Write(b, shown, title, false)}
	for _, text := range verdicts(c) {
		errs = append(errs, note(b, shown, text))
	}
	return errors.Join(errs...)
}

// verdicts name the target that slows each one, and say where that is not possible.
func verdicts(c *sharing.Causes) (texts []string) {
	for _, s := range c.Slowed {
		switch {
		case s.By != "":
			texts = append(texts, fmt.Sprintf("%s: the prompts of %s lengthen its gaps", s.Target, s.By))
		case s.Among != nil:
			texts = append(texts, fmt.Sprintf("%s: the prompts of %s lengthen its gaps; these runs cannot say which of them "+
				"most", s.Target, strings.Join(s.Among, " or ")))
		default:
			texts = append(texts, fmt.Sprintf("%s: these runs do not show that anybody's prompts lengthen its gaps", s.Target))
		}
	}
	for _, same := range c.Same {
		texts = append(texts, fmt.Sprintf("%[1]s and %[2]s get requests at the same times, so these runs cannot say which "+
			"of the two is a cause: give one of them another delay, as in --target %[2]s=URL,delay=3s, or outside a sweep "+
			"another seed", same[0], same[1]))
	}
	return texts
}

// SharingJSON writes the same as an object on one line. Unknown numbers are null. It writes nothing
// about a single repeat without pairs, which GroupJSON has, unless it shows causes.
func SharingJSON(w io.Writer, all []sharing.Load) error {
	objects := []any{}
	for i := range all {
		e := &all[i]
		c := e.Causes()
		if len(e.Groups) == 1 && !e.Paired() && (c == nil || c.Short()) {
			continue
		}
		o := pyjson.Object{{Key: "name", Value: e.Name}, {Key: "repeats", Value: len(e.Groups)}}
		slowdowns, fairness := pyjson.Object{}, pyjson.Object{}
		for _, m := range e.Matrices() {
			slowdowns.Set(m.Measure.Name, matrixObject(&m))
		}
		for _, f := range e.Evenness() {
			fairness.Set(f.Of, pyjson.Object{{Key: "jain", Value: pyjson.Finite(f.Jain.Value)},
				{Key: "low", Value: pyjson.Finite(f.Jain.Low)}, {Key: "high", Value: pyjson.Finite(f.Jain.High)}})
		}
		o.Set("slowdowns", slowdowns)
		o.Set("fairness", fairness)
		if c != nil {
			o.Set("causes", causesObject(c))
		}
		objects = append(objects, o)
	}
	if len(objects) == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "%s\n", pyjson.Append(nil, pyjson.Object{{Key: "sharing", Value: objects}}))
	return err
}

func matrixObject(m *sharing.Matrix) (rows pyjson.Object) {
	for _, row := range m.Rows {
		with := pyjson.Object{}
		for i, s := range row.Slower {
			if m.With[i] != row.Target {
				with.Set(m.With[i], pyjson.Object{
					{Key: "ratio", Value: pyjson.Finite(s.Value)}, {Key: "low", Value: pyjson.Finite(s.Low)},
					{Key: "high", Value: pyjson.Finite(s.High)}, {Key: "repeats", Value: s.Repeats}})
			}
		}
		rows.Set(row.Target, pyjson.Object{{Key: "alone", Value: pyjson.Finite(row.Alone)}, {Key: "with", Value: with}})
	}
	return rows
}

func causesObject(c *sharing.Causes) pyjson.Object {
	interval := func(i sharing.Interval) pyjson.Object {
		return pyjson.Object{{Key: "value", Value: pyjson.Finite(i.Value)}, {Key: "low", Value: pyjson.Finite(i.Low)},
			{Key: "high", Value: pyjson.Finite(i.High)}}
	}
	pairs, slowed, same := []any{}, pyjson.Object{}, []any{}
	for _, p := range c.Pairs {
		o := pyjson.Object{{Key: "on", Value: p.On}, {Key: "by", Value: p.By}, {Key: "confounded", Value: p.Confounded}}
		if !p.Confounded {
			o.Set("correlation", interval(p.Correlation))
			o.Set("lag_ms", p.Lag.Milliseconds())
			o.Set("effect_ms", interval(p.Effect))
		}
		pairs = append(pairs, o)
	}
	for _, s := range c.Slowed {
		by := s.Among
		if s.By != "" {
			by = []string{s.By}
		}
		slowed.Set(s.Target, append([]string{}, by...))
	}
	for _, s := range c.Same {
		same = append(same, s[:])
	}
	return pyjson.Object{
		{Key: "bin_ms", Value: c.Bin.Milliseconds()}, {Key: "blocks", Value: c.Blocks},
		{Key: "pairs", Value: pairs}, {Key: "slowed_by", Value: slowed}, {Key: "same_arrivals", Value: same},
	}
}
