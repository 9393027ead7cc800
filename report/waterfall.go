package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/failures"
	"github.com/servebench/servebench/metrics/aspect/spans"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/samples"
	"github.com/servebench/servebench/report/layout"
	"github.com/servebench/servebench/report/screen"
)

// barWidth is the width of the bars of a waterfall in characters.
const barWidth = 26

// Waterfall writes how long each span of the completed requests took, in lines of 80 characters. A
// bar shows where the mean of a span lies in the mean of the whole. It writes nothing for a Summary
// whose Spans were not requested.
func Waterfall(w io.Writer, s *metrics.Summary) error {
	of := spans.Of(s)
	if s.Parts.Spans == nil {
		return nil
	}
	if of == nil {
		_, err := fmt.Fprintln(w, "\nNo request completed, so there is no waterfall.")
		return err
	}
	p, marked := tailOf(s), false
	beyond := marking(p, &marked)
	g := fallingGrid("mean", "median", "P"+metrics.FormatPercentile(p))
	b, total := bars{whole: milliseconds(of.Spans.Total(), of.Requests)}, 0.0
	for span := range of.Spans.All() {
		mean, d := of.Mean(span), s.Parts.Spans[span]
		if span == spans.FirstOutput && of.Counted > 0 {
			undivided := of.Mean(spans.ServerQueue) + of.Mean(spans.Prefill) + of.Mean(spans.Network)
			g.Add("= "+span.Label(), layout.Decimal(undivided), middle(&d), beyond(&d), "")
			continue
		}
		if span == spans.Generation && !s.Header.Config.Whole {
			g.Add("= TTFT", layout.Decimal(milliseconds(of.Spans.TTFT(), of.Requests)), middle(&s.TTFT), beyond(&s.TTFT), "")
		}
		if of.Spans[span] != 0 || d.Len() > 0 {
			g.Add(span.Label(), layout.Decimal(mean), middle(&d), beyond(&d), b.next(mean))
		}
		total += mean
	}
	g.Add("= from due to the end", layout.Decimal(total), "", "", "")
	var text bytes.Buffer
	fmt.Fprintf(&text, "\nWaterfall of %s\n", metrics.Counted(of.Requests, "completed request"))
	g.Text(&text)
	if marked {
		fmt.Fprintln(&text, layout.Few, layout.FewMeans())
	}
	for _, note := range waterfallNotes(s, of) {
		text.WriteString("Note:")
		screen.Wrap(&text, len("Note:"), screenWidth, note)
	}
	_, err := w.Write(text.Bytes())
	return err
}

// fallingGrid has a line for each span: its numbers, and its bar.
func fallingGrid(numbers ...string) *layout.Grid {
	head := append(append([]string{"ms"}, numbers...), "")
	return &layout.Grid{Heads: 1, Names: 1, Found: true, Rows: [][]string{head}}
}

// milliseconds is the mean of a time that so many requests took together.
func milliseconds(took time.Duration, requests int) float64 {
	return metrics.Milliseconds(took) / float64(max(requests, 1))
}

// bars draws bars one after the other.
type bars struct{ whole, at float64 }

// next is a bar of that length after the previous one; "" for one that is too short to see. A length
// below 0 has none.
func (b *bars) next(length float64) string {
	if b.whole <= 0 {
		return ""
	}
	from := int(math.Round(b.at / b.whole * barWidth))
	b.at += length
	to := int(math.Round(b.at / b.whole * barWidth))
	if to <= from {
		return ""
	}
	return strings.Repeat(" ", max(from, 0)) + strings.Repeat("█", min(to, barWidth)-max(from, 0))
}

// waterfallNotes say who measured the server's spans, and what of them to doubt.
func waterfallNotes(s *metrics.Summary, of *spans.Waterfall) (notes []string) {
	add := func(format string, values ...any) { notes = append(notes, fmt.Sprintf(format, values...)) }
	var times samples.Totals
	if s.Evidence != nil && s.Evidence.Server.Times != nil {
		times = *s.Evidence.Server.Times
	}
	switch {
	case of.Counted > 0:
		counted := fmt.Sprintf("%d requests", of.Counted)
		if n := s.Header.Config.Traits.Answers; n > 1 {
			counted = fmt.Sprintf("%d answers, %d to a request,", of.Counted, n)
		}
		add("server queue and prefill are means of the %s that the server's /metrics counted, so they and the rest up to "+
			"the first output have no percentiles", counted)
	case of.Divided == 0 && s.Header.Config.Traits.Answers > 1:
		add("the server reports no times of single requests; vLLM does with --enable-per-request-metrics, but not for " +
			"requests with several answers")
	case of.Divided == 0:
		add("the server reports no times of single requests; vLLM does with --enable-per-request-metrics")
	case of.Divided < of.Requests:
		add("the server reported its times of %d requests; the other %d are in %q", of.Divided, of.Requests-of.Divided,
			spans.FirstOutput.Label())
	}
	if of.Negative > 0 {
		add("network and front end are below 0 in %s: there the server's queue and prefill are longer than the time until "+
			"the first output", metrics.Counted(of.Negative, "request"))
	}
	if again := failures.Of(s).Resent; again.Requests+again.Reconnects > 0 {
		n := again.Requests + again.Reconnects
		add("%s sent again; the time of earlier attempts is in %q", metrics.Counted(n, "request")+" "+were(n),
			spans.Write.Label())
	}
	if ttft := times.TTFT; ttft.Requests > 0 && !s.Header.Config.Whole {
		add("by its /metrics the server had the first token %s ms after the request arrived, on average",
			layout.Decimal(ttft.Mean()))
	}
	return notes
}

func were(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// waterfallObject is the object "waterfall" in a result file; nil without completed requests.
func waterfallObject(s *metrics.Summary) any {
	of := spans.Of(s)
	if of == nil {
		return nil
	}
	by := any(nil)
	switch {
	case of.Counted > 0:
		by = "histograms"
	case of.Divided > 0:
		by = "requests"
	}
	o := pyjson.Object{
		{Key: "requests", Value: of.Requests}, {Key: "server_times_by", Value: by},
		{Key: "server_times_of", Value: cmp.Or(of.Counted, int64(of.Divided))},
		{Key: "negative", Value: of.Negative}, {Key: "mean_total_ms", Value: milliseconds(of.Spans.Total(), of.Requests)},
	}
	percentiles := slices.Clone(s.Header.Config.Percentiles)
	for span := range of.Spans.All() {
		member := pyjson.Object{{Key: "mean_ms", Value: of.Mean(span)}}
		if d := &s.Parts.Spans[span]; d.Len() > 0 && (span != spans.FirstOutput || of.Counted == 0) {
			member.Set("median_ms", d.Median())
			for _, p := range percentiles {
				member.Set("p"+metrics.FormatPercentile(p)+"_ms", d.Percentile(p))
			}
		}
		o.Set(span.String(), member)
	}
	return o
}

// requestWaterfalls writes when each span of a request began and how long it took, and what else is
// known of its times, in lines of 80 characters. The request has that x-request-id, or that number in
// the dataset, from 0; each turn of a conversation with that number is one. It needs the Trace.
func requestWaterfalls(w io.Writer, s *metrics.Summary, id string) error {
	var b bytes.Buffer
	for r := range s.Measured() {
		if r.ID == id || strconv.Itoa(r.Index) == id {
			requestWaterfall(&b, r)
		}
	}
	if b.Len() == 0 {
		fmt.Fprintf(&b, "\nNo measured request has the id or the number %s\n", screen.Clean(id))
	}
	_, err := w.Write(b.Bytes())
	return err
}

func requestWaterfall(b *bytes.Buffer, r *record.Record) {
	fmt.Fprintf(b, "\nWaterfall of request %s\n", screen.Clean(cmp.Or(r.ID, strconv.Itoa(r.Index))))
	parts, completed := spans.OfRequest(r)
	g := fallingGrid("from", "took")
	at, bar := time.Duration(0), bars{whole: metrics.Milliseconds(parts.Total())}
	for span, took := range parts.All() {
		if took != 0 {
			g.Add(span.Label(), inMilliseconds(at), inMilliseconds(took), bar.next(metrics.Milliseconds(took)))
		}
		at += took
	}
	if !completed {
		g.Add("until it was sent", inMilliseconds(0), inMilliseconds(r.Times.Sent-r.Times.Due), "")
		g.Add("until it failed", inMilliseconds(r.Times.Sent-r.Times.Due), inMilliseconds(r.Times.End-r.Times.Sent), "")
	}
	g.Add("= from due to the end", "", inMilliseconds(r.Times.End-r.Times.Due), "")
	g.Text(b)
	for _, fact := range requestFacts(r) {
		b.WriteString("-")
		screen.Wrap(b, 1, screenWidth, fact)
	}
}

// requestFacts are what a waterfall of a request leaves out. Times count from when it was due, as in
// the waterfall.
func requestFacts(r *record.Record) (facts []string) {
	add := func(format string, values ...any) { facts = append(facts, fmt.Sprintf(format, values...)) }
	add("number %d of the dataset, turn %d, due %s s after the start", r.Index, r.Turn,
		layout.Decimal(r.Times.Due.Seconds()))
	outcome := metrics.Counted(r.Tokens.In, "prompt token") + ", " + metrics.Counted(r.Tokens.Out, "output token")
	if r.Result.Class != record.OK {
		outcome = fmt.Sprintf("failed (%s): %s", r.Result.Class, screen.Clean(r.Result.Error))
	}
	add("%s", outcome)
	if r.Attempts > 1 {
		add("sent %d times: the time of earlier attempts is in %q", r.Attempts, spans.Write.Label())
	}
	var moments []string
	for _, m := range []struct {
		name string
		at   time.Duration
	}{{"first byte", r.Times.FirstByte}, {"first chunk", r.Answer.Chunks.First()}, {"first content", r.Times.FirstContent},
		{"first output after reasoning", r.Times.FirstOutput}} {
		if m.at > 0 {
			moments = append(moments, fmt.Sprintf("%s at %s ms", m.name, inMilliseconds(m.at-r.Times.Due)))
		}
	}
	if moments != nil {
		add("%s", strings.Join(moments, ", "))
	}
	gaps := slices.Collect(r.Answer.Chunks.Gaps())
	if len(gaps) > 0 {
		longest := slices.Max(gaps)
		number := slices.Index(gaps, longest) + 2
		slices.Sort(gaps)
		add("%s; the median gap %s ms, the longest %s ms, before chunk %d", metrics.Counted(len(gaps)+1, "chunk"),
			inMilliseconds(gaps[(len(gaps)-1)/2]), inMilliseconds(longest), number)
	}
	if t := r.Server; t != nil {
		var told []string
		for _, m := range []struct {
			name string
			ms   *float64
		}{
			{"model load", t.LoadMS}, {"queue", t.QueueMS}, {"prefill", t.TTFTMS},
			{"generation", t.GenerationMS}, {"mean ITL", t.MeanITLMS},
		} {
			if m.ms != nil {
				told = append(told, fmt.Sprintf("%s %s ms", m.name, layout.Decimal(*m.ms)))
			}
		}
		add("by the server: %s", strings.Join(told, ", "))
	}
	return facts
}

func inMilliseconds(d time.Duration) string { return layout.Decimal(metrics.Milliseconds(d)) }
