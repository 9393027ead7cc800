package neighbours

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/compare"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/targets"
	"github.com/servebench/servebench/metrics/vllm"
	"github.com/servebench/servebench/report/comparison"
	"github.com/servebench/servebench/report/layout"
	"github.com/servebench/servebench/report/screen"
)

// measureHeads are the heads of targets.Measures, in two lines.
func measureHeads() []string {
	heads := layout.Heads(targets.Measures())
	if last := &heads[len(heads)-1]; strings.HasPrefix(*last, "|") {
		*last = "requests" + *last // req/s alone would seem to be of the heading before
	}
	return heads
}

// interference writes what the targets did to each other: a table of each target with the others,
// alone and how much slower it was, and how fair the sharing was. The heading says which part of
// the run it is about. It reports whether a percentile rests on too few samples.
func interference(b *bytes.Buffer, in *targets.Interference, shared, alone string) (marked bool) {
	b.WriteString("\nEach target " + shared)
	if in.Compared {
		b.WriteString(", against itself " + alone)
	}
	b.WriteByte('\n')
	measures := targets.Measures()
	if in.Effects[0].Shared.Parts.Of != nil {
		// What a part completes depends more on its beginning than on the server.
		measures = measures[:len(measures)-1]
	}
	g := layout.TwoLined(1, slices.Concat([]string{"|target", "|", "|failed"}, measureHeads()[:len(measures)])...)
	for i := range in.Effects {
		marked = effect(g, &in.Effects[i], measures, in.Compared) || marked
	}
	g.Text(b)
	for i := range in.Effects {
		wheres(b, in.Effects[i].Target, compare.DivideShared(&in.Effects[i]))
	}
	evenness(b, in.Fairness)
	return marked
}

// wheres says in which spans of requests the changes of mean latencies are that sharing made.
func wheres(b *bytes.Buffer, target string, all []compare.Where) {
	for i := range all {
		if all[i].Divided() {
			b.WriteString(target + ":")
			screen.Wrap(b, len(target)+1, groupWidth, all[i].String())
		}
	}
}

// A tableNote says what a table of interference has that needs an explanation.
type tableNote struct {
	marked   bool     // a percentile of too few samples
	compared bool     // slowdowns
	bound    []string // targets whose throughput the request rate limits
}

// tableNotes explains tables of interference.
func tableNotes(b *bytes.Buffer, n tableNote) {
	if n.compared {
		b.WriteString("× of a latency: shared / alone; of throughput: alone / shared; above 1 is worse\n")
	}
	if n.marked {
		b.WriteString(layout.Few + " " + layout.FewMeans() + "\n")
	}
	if n.bound != nil {
		b.WriteString("Note:")
		screen.Wrap(b, len("Note:"), groupWidth, "the request rate limits the throughput of "+strings.Join(n.bound, ", ")+
			", which therefore says little about interference")
	}
}

// groupWidth is the width of texts about several targets.
const groupWidth = 80

// effect adds the rows of a target, with a column for each measure. It reports whether a percentile
// rests on too few samples.
func effect(g *layout.Grid, e *targets.Sharing, measures []metrics.Number, compared bool) (marked bool) {
	numbers := func(name, what string, s *metrics.Summary) {
		cells := []string{name, what, ""}
		if s != nil && s.Failed > 0 {
			cells[2] = vllm.Count(s.Failed)
		}
		for _, m := range measures {
			text := cmp.Or(layout.Decimal(m.Value(s)), "-")
			if m.Few(s) {
				text += layout.Few
				marked = true
			}
			cells = append(cells, text)
		}
		g.Add(cells...)
	}
	numbers(e.Target, "shared", e.Shared)
	if !compared {
		return marked
	}
	numbers("", "alone", e.Alone)
	cells := []string{"", "slowdown", ""}
	for _, m := range measures {
		text := times(e.Slowdown(m))
		if m.Few(e.Shared) || m.Few(e.Alone) {
			text += layout.Few
		}
		cells = append(cells, text)
	}
	g.Add(cells...)
	return marked
}

// times writes a ratio.
func times(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return layout.Decimal(v) + " ×"
}

// fairnessNames describe what a targets.Fairness is about.
var fairnessNames = map[string]string{
	"progress":          "progress, output throughput shared/alone",
	"output_throughput": "output throughput",
	"ttft_slowdown":     "slowdown of mean TTFT",
	"tpot_slowdown":     "slowdown of mean TPOT",
}

// evenness writes a table of how fair the sharing was.
func evenness(b *bytes.Buffer, all []targets.Fairness) {
	if len(all) == 0 {
		return
	}
	g := &layout.Grid{Heads: 1, Names: 1, Rows: [][]string{{"Fairness (1 is even)", "Jain's index", "most/least"}}}
	for _, f := range all {
		index, ratio := "-", "-"
		if !math.IsNaN(f.Jain) {
			index, ratio = fmt.Sprintf("%.3f", f.Jain), layout.Decimal(f.Ratio)
		}
		if math.IsInf(f.Ratio, 1) {
			ratio = "∞"
		}
		g.Add(fairnessNames[f.Of], index, ratio)
	}
	g.Text(b)
}

// interferenceObject is the object "interference" of a result file. It has the measures
// of each target under the names of targets.Measures.
func interferenceObject(in *targets.Interference) pyjson.Object {
	targets, fairness := pyjson.Object{}, pyjson.Object{}
	for i := range in.Effects {
		e := &in.Effects[i]
		object := pyjson.Object{{Key: "shared", Value: measureObject(
			func(m metrics.Number) float64 { return m.Value(e.Shared) }, "_ms")}}
		if e.Alone != nil {
			object.Set("alone", measureObject(func(m metrics.Number) float64 { return m.Value(e.Alone) }, "_ms"))
			object.Set("slowdown", measureObject(e.Slowdown, ""))
			object.Set("where", comparison.Where(compare.DivideShared(e)))
		}
		targets.Set(e.Target, object)
	}
	for _, f := range in.Fairness {
		fairness.Set(f.Of, pyjson.Object{{Key: "jain", Value: pyjson.Finite(f.Jain)},
			{Key: "most_to_least", Value: pyjson.Finite(f.Ratio)}})
	}
	return pyjson.Object{
		{Key: "targets", Value: targets}, {Key: "fairness", Value: fairness},
		{Key: "bound_by_rate", Value: append([]string{}, in.Bound...)},
	}
}

// measureObject has a number for each measure. The key of a latency ends with the unit.
func measureObject(of func(metrics.Number) float64, unit string) (o pyjson.Object) {
	for _, m := range targets.Measures() {
		key := m.Name
		if m.Latency != "" {
			key += unit
		}
		o.Set(key, pyjson.Finite(of(m)))
	}
	return o
}
