package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics/aspect/spans"
	"github.com/servebench/servebench/metrics/compare/brief"
	"github.com/servebench/servebench/metrics/compare/gating"
	"github.com/servebench/servebench/metrics/targets"
)

// A Where says which spans of requests the change of a mean latency is in. The changes of the spans
// add up to it.
type Where struct {
	Whole Change   // of TTFT or E2EL
	Spans []Change // in the order of a request; those without a length on either side are left out

	// Counted says that server queue and prefill of a side are means of the server's histograms.
	Counted bool
}

// A Change is by how much a time differs, in milliseconds.
type Change struct {
	Name      string  // of the span in words, or of the latency
	Old, New  float64 // means over the units
	Value     float64 // by which new runs differ
	Low, High float64 // with 95 % confidence; infinite where the runs are too few
}

// latencySpans are the spans of the latencies from sent on.
var latencySpans = []struct {
	latency string
	spans   []spans.Span
}{
	{"TTFT", []spans.Span{spans.Connect, spans.Write, spans.ServerQueue, spans.Prefill, spans.Network, spans.FirstOutput}},
	{"E2EL", []spans.Span{spans.Connect, spans.Write, spans.ServerQueue, spans.Prefill, spans.Network, spans.FirstOutput,
		spans.Generation}},
}

// until are the spans of a request between its last byte and its first chunk.
var until = []spans.Span{spans.ServerQueue, spans.Prefill, spans.Network, spans.FirstOutput}

// spans divide the changes of TTFT and E2EL; nil unless all runs know their spans. If some runs do not
// know what the server did until the first chunk, that time stays undivided in all of them. Answers that came
// whole have no TTFT, and their undivided time lasts until their end.
func (p *Point) spans() (all []Where) {
	runs := slices.Concat(p.Old, p.New)
	if len(p.Old) == 0 || len(p.New) == 0 || slices.ContainsFunc(runs, func(r *brief.Run) bool { return r.Spans == nil }) {
		return nil
	}
	undivided := slices.ContainsFunc(runs, func(r *brief.Run) bool { return r.Spans[spans.FirstOutput.String()] != 0 })
	counted := !undivided && slices.ContainsFunc(runs, func(r *brief.Run) bool { return r.SpansCounted })
	whole := slices.ContainsFunc(runs, func(r *brief.Run) bool {
		_, streamed := r.Numbers["median_ttft"]
		return !streamed
	})
	until := until
	if whole {
		until = append(slices.Clone(until), spans.Generation)
	}
	for _, l := range latencySpans {
		if whole && l.latency == "TTFT" {
			continue
		}
		w := Where{Counted: counted, Whole: p.change(l.latency, l.spans)}
		for _, span := range l.spans {
			of := []spans.Span{span}
			switch {
			case undivided && span == spans.FirstOutput:
				of = until
			case undivided && slices.Contains(until, span):
				continue
			}
			if c := p.change(span.Label(), of); c.Old != 0 || c.New != 0 {
				w.Spans = append(w.Spans, c)
			}
		}
		all = append(all, w)
	}
	return all
}

// change is how much longer some spans together are in the new runs.
func (p *Point) change(name string, spans []spans.Span) Change {
	mean := func(runs []*brief.Run) float64 {
		sum := 0.0
		for _, r := range runs {
			for _, span := range spans {
				sum += r.Spans[span.String()]
			}
		}
		return sum / float64(len(runs))
	}
	tail := cmp.Or(p.levels.fine, 1-Confidence) / 2
	w := p.weigh(mean)
	c := Change{Name: name, Old: mean(p.Old), New: mean(p.New), Value: w.estimate.Value, Low: w.evidence.Lower(tail),
		High: w.evidence.Upper(tail)}
	if p.Design == InTurns { // where the evidence is about a median, which has no parts
		c.Low, c.High = w.estimate.Lower(tail), w.estimate.Upper(tail)
	}
	if p.Design == InPairs && p.alone > 0 {
		c.Old, c.New = meanOf(p.pairs, mean)
	}
	return c
}

// meanOf are the means of the old and of the new runs of pairs.
func meanOf(units [][]pair, mean func([]*brief.Run) float64) (old, new float64) {
	var olds, news []*brief.Run
	for _, unit := range units {
		for _, pair := range unit {
			olds, news = append(olds, pair.old), append(news, pair.new)
		}
	}
	return mean(olds), mean(news)
}

// String is the change of the latency in words, with its interval, and of its spans. Changes that
// cannot be seen in the digits of the largest are left out.
func (w *Where) String() string {
	digits := 0
	if largest := w.largest(); largest < 10 {
		digits = min(2, 1-int(math.Floor(math.Log10(cmp.Or(largest, 1)))))
	}
	var parts []string
	for _, c := range w.Spans {
		if text := signed(c.Value, digits); strings.Trim(text, "+−0.") != "" {
			parts = append(parts, c.Name+" "+text)
		}
	}
	text := fmt.Sprintf("mean %s %s ms", w.Whole.Name, signed(w.Whole.Value, digits))
	if !math.IsInf(w.Whole.Low, 0) && !math.IsInf(w.Whole.High, 0) {
		text += fmt.Sprintf(" (%s … %s)", signed(w.Whole.Low, digits), signed(w.Whole.High, digits))
	}
	if parts != nil {
		text += ": " + strings.Join(parts, ", ")
	}
	if w.Counted {
		text += "; server queue and prefill are means of the server's histograms"
	}
	return text
}

// Divided reports that more than one span changed, so that the division says something.
func (w *Where) Divided() bool {
	changed := 0
	for _, c := range w.Spans {
		if c.Value != 0 {
			changed++
		}
	}
	return changed > 1
}

// largest is the largest change of the latency or of a span.
func (w *Where) largest() float64 {
	most := math.Abs(w.Whole.Value)
	for _, c := range w.Spans {
		most = max(most, math.Abs(c.Value))
	}
	return most
}

// signed writes a number with its sign.
func signed(v float64, digits int) string {
	return strings.Replace(fmt.Sprintf("%+.*f", digits, v), "-", "−", 1)
}

// explain adds where the latency went to the reasons for a regression of a point.
func (j *judge) explain(p *Point) {
	worse := func(latencies ...string) bool {
		return slices.ContainsFunc(p.Rows, func(r Row) bool {
			return r.Judgement.Finding == Worse &&
				slices.Contains(latencies, r.Number.Latency)
		})
	}
	for i := range p.Where {
		w := &p.Where[i]
		if !w.Divided() {
			continue
		}
		if w.Whole.Name == "TTFT" && worse("ttft", "ttfo") || w.Whole.Name == "E2EL" && worse("tpot", "itl", "e2el", "") {
			j.regress(p, "where: %s", w)
		}
	}
}

// DivideShared divides the changes of mean latencies that sharing made; nil without a run alone, or
// where a run does not know its spans. There are no intervals: it is one run of each kind.
func DivideShared(s *targets.Sharing) []Where {
	if s.Alone == nil {
		return nil
	}
	p := &Point{Design: InPairs, arrangement: arrangement{unit: gating.PerRun},
		Sides: Sides{[]*brief.Run{brief.Of(s.Alone, nil)}, []*brief.Run{brief.Of(s.Shared, nil)}}}
	p.pairs = [][]pair{{{p.Old[0], p.New[0]}}}
	return p.spans()
}

// DividePaired divides the changes over all repeats, with intervals from the pairs of alone and shared.
func DividePaired(p *targets.Paired) []Where {
	point := &Point{Design: InPairs, arrangement: arrangement{unit: gating.PerRun}}
	for i := range p.Effects {
		e := &p.Effects[i]
		one := pair{brief.Of(e.Alone, nil), brief.Of(e.Shared, nil)}
		point.Old, point.New = append(point.Old, one.old), append(point.New, one.new)
		point.pairs = append(point.pairs, []pair{one})
	}
	return point.spans()
}
