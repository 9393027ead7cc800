package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/slicing"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report/layout"
)

// writeSlices writes the run in equal parts, one a line. If the server was sampled, it also writes
// what the server reported in each part, or in the whole run if there are no parts. It writes
// nothing for a Summary without either.
func writeSlices(w io.Writer, s *metrics.Summary) error {
	var b bytes.Buffer
	all, shown := s.Parts.Slices, slicing.Numbers()
	shown = slices.DeleteFunc(shown, func(n slicing.Number) bool { return n.Head == "" })
	numbers := slices.DeleteFunc(slices.Clone(shown), func(n slicing.Number) bool { return n.Seen })
	switch {
	case len(all) > 0:
		width := math.Round(all[0].Seconds()*1000) / 1000
		fmt.Fprintf(&b, "\nIn slices of %s s\n", strconv.FormatFloat(width, 'f', -1, 64))
		sliceTable(numbers, all).Text(&b)
	case s.Parts.Watched != nil:
		all = []metrics.Slice{*s.Parts.Watched}
	}
	seen := slices.DeleteFunc(shown, func(n slicing.Number) bool {
		return !n.Seen || !slices.ContainsFunc(all, func(s metrics.Slice) bool { return sliceText(&n, &s) != "" })
	})
	if len(seen) > 0 {
		b.WriteString("\nThe server meanwhile\n")
		sliceTable(append(numbers[:1:1], seen...), all).Text(&b)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// sliceText is the number in a table, "" if unknown. A reported number that is whole is printed as such.
func sliceText(n *slicing.Number, s *metrics.Slice) string {
	switch v := n.Of(s).(type) {
	case int:
		return vllm.Count(v)
	case float64:
		if n.Key == "from_s" {
			return strconv.FormatFloat(v, 'f', 3, 64)
		}
		return layout.Decimal(v)
	case *float64:
		if v == nil {
			return ""
		}
		if told := n.Value(s); told != math.Trunc(told) {
			return layout.Decimal(told)
		}
		return strconv.FormatFloat(n.Value(s), 'f', 0, 64)
	}
	return ""
}

// sliceTable has a line for each Slice.
func sliceTable(columns []slicing.Number, all []metrics.Slice) *layout.Grid {
	var heads []string
	for _, c := range columns {
		heads = append(heads, c.Head)
	}
	g := layout.TwoLined(0, heads...)
	for i := range all {
		var cells []string
		for _, c := range columns {
			cells = append(cells, cmp.Or(sliceText(&c, &all[i]), "-"))
		}
		g.Add(cells...)
	}
	return g
}

// sliceObjects are the objects of "slices" in a result file. Unknown numbers are null; numbers that
// the server did not report are left out.
func sliceObjects(all []metrics.Slice) []pyjson.Object {
	objects, numbers := []pyjson.Object{}, slicing.Numbers()
	for i := range all {
		var o pyjson.Object
		for _, c := range numbers {
			switch v := c.Of(&all[i]).(type) {
			case float64:
				o.Set(c.Key, pyjson.Finite(v))
			case *float64:
				if v != nil {
					o.Set(c.Key, *v)
				}
			default:
				o.Set(c.Key, v)
			}
		}
		objects = append(objects, o)
	}
	return objects
}
