package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/servebench/servebench/metrics"
)

// Slices writes the run in equal parts, one a line, and where the server was
// watched what it said meanwhile, in the whole run where there are no parts. It
// writes nothing for a Summary without either.
func Slices(w io.Writer, s *metrics.Summary) error {
	var b bytes.Buffer
	all := s.Slices
	switch {
	case len(all) > 0:
		width := math.Round(all[0].Seconds()*1000) / 1000
		fmt.Fprintf(&b, "\nIn slices of %s s\n", strconv.FormatFloat(width, 'f', -1, 64))
		laid(sliceColumns, all).write(&b)
	case s.Watched != nil:
		all = []metrics.Slice{*s.Watched}
	}
	seen := slices.DeleteFunc(slices.Clone(seenColumns), func(c sliceColumn) bool {
		return !slices.ContainsFunc(all, func(s metrics.Slice) bool { return c.text(&s) != "" })
	})
	if len(seen) > 0 {
		b.WriteString("\nThe server meanwhile\n")
		laid(append(sliceColumns[:1:1], seen...), all).write(&b)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// A sliceColumn is one number of each Slice, "" where it is not known.
type sliceColumn struct {
	head string
	text func(*metrics.Slice) string
}

// sliceColumns are as many as find a place in 120 columns; all are in JSON.
var sliceColumns = []sliceColumn{
	{"from|s", func(s *metrics.Slice) string { return strconv.FormatFloat(s.From.Seconds(), 'f', 3, 64) }},
	{"|sent", func(s *metrics.Slice) string { return count(s.Sent) }},
	{"|completed", func(s *metrics.Slice) string { return count(s.Completed) }},
	{"|failed", func(s *metrics.Slice) string { return count(s.Failed) }},
	{"in flight|mean", func(s *metrics.Slice) string { return decimal(s.InFlight) }},
	{"output|tok/s", func(s *metrics.Slice) string { return decimal(float64(s.Output) / s.Seconds()) }},
	{"TTFT ms|mean", func(s *metrics.Slice) string { return decimal(s.TTFT.Mean) }},
	{"|P99", func(s *metrics.Slice) string { return decimal(s.TTFT.P99) }},
	{"TPOT ms|mean", func(s *metrics.Slice) string { return decimal(s.TPOT.Mean) }},
	{"|P99", func(s *metrics.Slice) string { return decimal(s.TPOT.P99) }},
	{"ITL ms|mean", func(s *metrics.Slice) string { return decimal(s.ITL.Mean) }},
	{"|P99", func(s *metrics.Slice) string { return decimal(s.ITL.P99) }},
	{"E2EL ms|mean", func(s *metrics.Slice) string { return decimal(s.E2EL.Mean) }},
}

// seenColumns are there as far as the server and its GPUs told.
var seenColumns = []sliceColumn{
	{"running|mean", func(s *metrics.Slice) string { return said(s.Seen.Running, 1) }},
	{"waiting|mean", func(s *metrics.Slice) string { return said(s.Seen.Waiting, 1) }},
	{"KV cache|%", func(s *metrics.Slice) string { return said(s.Seen.KVCache, 100) }},
	{"prefix hits|%", func(s *metrics.Slice) string { return said(s.Seen.PrefixHits, 100) }},
	{"|preemptions", func(s *metrics.Slice) string { return said(s.Seen.Preemptions, 1) }},
	{"GPU memory|MiB", func(s *metrics.Slice) string { return said(s.Seen.GPUMemory, 1) }},
	{"GPU busy|%", func(s *metrics.Slice) string { return said(s.Seen.GPUUtilization, 100) }},
	{"GPU power|W", func(s *metrics.Slice) string { return said(s.Seen.GPUPower, 1) }},
}

// said writes so many times a number, as a whole one where it is one.
func said(v *float64, times float64) string {
	if v == nil {
		return ""
	}
	if whole := *v * times; whole == math.Trunc(whole) {
		return strconv.FormatFloat(whole, 'f', 0, 64)
	}
	return decimal(*v * times)
}

func laid(columns []sliceColumn, all []metrics.Slice) *grid {
	g := &grid{}
	var heads []string
	for _, c := range columns {
		heads = append(heads, c.head)
	}
	g.head(heads...)
	for i := range all {
		var cells []string
		for _, c := range columns {
			cells = append(cells, orDash(c.text(&all[i])))
		}
		g.add(cells...)
	}
	return g
}
