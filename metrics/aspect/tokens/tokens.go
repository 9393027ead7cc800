// Package tokens is how the output tokens of a run came: how many in a chunk, how long after one another, and how
// many in the busiest second.
package tokens

import (
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/tally"
)

// Tokens are of completed requests. It keeps at most 16 MiB of steps and a histogram, and nothing for a token.
type Tokens struct {
	Counts
	// ITL is per token: the gap before a chunk of n tokens is n values of gap/n. It only has a
	// histogram, of the Known requests, and is empty if they Bundle.
	ITL metrics.Distribution
	// MeanITL is per token in milliseconds; if ITL is empty, it comes from the counts of tokens. It is 0 if unknown.
	MeanITL float64
	// PeakStep is of what times the second with the Peak may begin: 10 ms in the first 11 h of a run.
	PeakStep time.Duration

	series      tally.TimeSeries // when tokens came
	afterFirst  time.Duration    // from first to last chunk, of requests whose tokens were counted
	afterTokens float64          // tokens in that time
}

// Kind is the aspect as the list has it.
var Kind = &metrics.Kind{
	Name: "tokens", New: func(*metrics.Header) metrics.Aspect { return new(Tokens) }, Facts: facts, Text: text,
}

// Of is the aspect of a run.
func Of(s *metrics.Summary) *Tokens { return metrics.View[Tokens](s) }

func facts(s *metrics.Summary) []metrics.Fact {
	t := Of(s)
	all := []metrics.Fact{
		{Key: "mean_tokens_per_chunk", Value: t.Mean()},
		{Key: "max_tokens_per_chunk", Value: t.Largest},
		{Key: "requests_with_known_chunks", Value: t.Known},
		{Key: "requests_with_more_tokens_than_chunks", Value: t.Bundled},
		{Key: "requests_with_fewer_tokens_than_chunks", Value: t.Fewer},
		{Key: "peak_output_tokens", Value: t.Peak},
		{Key: "peak_output_window_s", Value: 1},
		{Key: "peak_output_step_ms", Value: metrics.Milliseconds(t.PeakStep)},
	}
	if t.ITL.Len() == 0 && t.MeanITL > 0 {
		all = append(all, metrics.Fact{Key: "mean_token_itl_ms", Value: t.MeanITL})
	}
	return all
}

const text = `Tokens per chunk
	{{with .aspect}}{{if and .Differ (not $.run.Header.Config.Whole)}}mean {{printf "%.2f" .Mean}}
	{{- if .Bundle}}; not known for single chunks{{else}}, at most {{.Largest}}{{end}}{{end}}{{end}}`

// Add adds a request. It spreads the tokens evenly if single chunk times are unknown.
func (t *Tokens) Add(r *record.Record) {
	if !r.Answered() || r.Tokens.Out == 0 && r.Answer.Unstreamed { // an embedding has no tokens
		return
	}
	a := record.Attribute(r)
	t.Counts = t.plus(countsOf(&a))
	if a.Kind != record.FewerTokens && a.Tokens > 1 {
		t.afterFirst += r.Answer.Chunks.Last() - r.Answer.Chunks.First()
		t.afterTokens += float64(a.Tokens) * (1 - 1/float64(a.Chunks))
	}
	single := a.Kind == record.KnownTokens && !r.Answer.Chunks.Gapless()
	last, begun := time.Duration(0), false
	for at, n := range a.Arrivals(r) {
		if n == 0 {
			continue
		}
		t.series.Add(at, n)
		if single && begun {
			t.ITL.AddRepeated((at-last)/time.Duration(n), n)
		}
		last, begun = at, true
	}
}

// AddPart adds the tokens that came within a part of the run, of a completed request that was not wholly inside.
func (t *Tokens) AddPart(r *record.Record, w metrics.Window) {
	if r.Result.Class != record.OK || w.Holds(r.Times.Sent) && w.Holds(r.Done()) {
		return
	}
	a := record.Attribute(r)
	for at, n := range a.Arrivals(r) {
		if w.Holds(at) {
			t.series.Add(at, n)
		}
	}
}

// Shift moves all times.
func (t *Tokens) Shift(later time.Duration) {
	var series tally.TimeSeries
	series.Merge(&t.series, later)
	t.series = series
}

// Merge adds another shard's requests.
func (t *Tokens) Merge(o metrics.Aspect) {
	other := o.(*Tokens)
	t.Counts = t.plus(other.Counts)
	t.ITL.Merge(&other.ITL)
	t.series.Merge(&other.series, 0)
	t.afterFirst += other.afterFirst
	t.afterTokens += other.afterTokens
}

// Sum has the ITL, its mean and the peak of the requests so far.
func (t *Tokens) Sum(float64) metrics.Aspect {
	sum := *t
	if sum.Bundle() {
		sum.ITL = metrics.Distribution{}
	}
	sum.MeanITL = sum.ITL.Mean()
	if sum.ITL.Len() == 0 && t.afterTokens > 0 {
		sum.MeanITL = metrics.Milliseconds(t.afterFirst) / t.afterTokens
	}
	if sum.PeakStep = t.series.Width(); sum.Peak == 0 {
		sum.Peak = t.series.BusiestSecond()
	}
	return &sum
}

// Kept are what the end line of a stream has: records without single chunk times have no such counts.
func (t *Tokens) Kept() (counts any, histograms map[string]*metrics.Distribution) {
	return &t.Counts, map[string]*metrics.Distribution{"token_itl": &t.ITL}
}

// Adopt takes them.
func (t *Tokens) Adopt(end metrics.Aspect, _ bool) {
	e := end.(*Tokens)
	if e.Counts != (Counts{}) {
		t.Counts = e.Counts
	}
	if e.ITL.Len() > 0 {
		t.ITL = e.ITL
	}
}
