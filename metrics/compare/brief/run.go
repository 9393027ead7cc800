// Package brief says what a comparison needs to know about one run.
//
// A Run is made of a summary, or read from a baseline, which keeps all of it except its Source. It has its
// numbers, what it was asked for, when and on which server start it ran, and why its numbers may be wrong.
package brief

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/adapters"
	"github.com/servebench/servebench/metrics/aspect/counts"
	"github.com/servebench/servebench/metrics/aspect/processes"
	"github.com/servebench/servebench/metrics/aspect/spans"
	"github.com/servebench/servebench/metrics/compare/asked"
	"github.com/servebench/servebench/metrics/compare/numbers"
	"github.com/servebench/servebench/metrics/targets"
)

// A Run is one run in brief. Nobody changes it after it is made.
type Run struct {
	ID string `json:"run,omitempty"`
	// Fingerprint tells runs without an ID apart: copies of one result have the same. Empty if unknown.
	Fingerprint string `json:"fingerprint,omitempty"`

	Began time.Time `json:"began,omitzero"` // zero if unknown
	Ended time.Time `json:"ended,omitzero"` // zero if unknown

	// Start is the server start that the run measured, by its id; empty if unknown. Repeat is the
	// repeat of the sweep that made the run, from 1; 0 without a sweep. Session is the part of a
	// baseline to which it belongs, such as a day; empty outside a baseline.
	Start   string `json:"start,omitempty"`
	Repeat  int    `json:"repeat,omitempty"`
	Session string `json:"session,omitempty"`

	// MaxPairs is the most pairs of the sequential sweep that made the run; 0 for other runs.
	MaxPairs int `json:"max_pairs,omitempty"`

	// Asked is the run's parameters, as far as known.
	Asked asked.Parameters `json:"asked,omitempty"`
	// Numbers are the numbers of the run by the names of numbers.All, and Content has the numbers of
	// TTFT and TPOT from the first content on. Unknown numbers are missing.
	Numbers map[string]float64 `json:"numbers"`
	Content map[string]float64 `json:"content,omitempty"`
	// Spans are the means of the spans of completed requests in milliseconds, by their names; nil if
	// they are unknown. SpansCounted says that the server's histograms divided them: its queue and
	// prefill are then means of all requests that the server counted.
	Spans        map[string]float64 `json:"spans,omitempty"`
	SpansCounted bool               `json:"spans_counted,omitempty"`
	// Values is the number of samples of each latency, by its name; 0 if unknown.
	Values map[string]int `json:"values,omitempty"`

	// Requests, and tokens of the completed requests; -1 if unknown.
	Completed int `json:"completed"`
	Failed    int `json:"failed"`
	Input     int `json:"input_tokens"`
	Output    int `json:"output_tokens"`

	// CacheTold says that the server counted the prompt tokens in its prefix cache.
	CacheTold bool `json:"cache_told,omitempty"`
	// Overloaded is why the server did not keep up, "" if it did.
	Overloaded string   `json:"overloaded,omitempty"`
	Doubts     []string `json:"doubts,omitempty"` // why its numbers cannot be trusted
	// Held says how --max-concurrency held requests back, "" if it did not. It is a doubt unless all
	// runs have the same limit.
	Held string `json:"held,omitempty"`
	// Early says how TTFT counts an empty chunk as a token, "" if it does not.
	Early string   `json:"early,omitempty"`
	Gaps  []string `json:"gaps,omitempty"` // what is missing, such as the end of the run

	Source Source `json:"-"` // the zero value for a run of a baseline
}

// A Source is what is known of a run that a baseline does not keep.
type Source struct {
	sum       *metrics.Summary
	Resampled map[Percentile]float64 // as Distribution.Resampled has them
	recounts  bool                   // its stream can be recounted by other definitions
	Arms      []string               // names of its arm: a sweep's, its label, its target
	Cut       bool                   // its numbers lack requests, because it was ended
	Disturbed string                 // how the client was disturbed; empty if it was not
	Remedy    string                 // for the first of Doubts, or for Held; empty if unknown
}

func sourceOf(s *metrics.Summary) Source {
	m := Source{
		sum: s, Resampled: map[Percentile]float64{}, recounts: s.Truth != nil, Arms: armNames(s),
		Cut:       s.Ending.Interrupted && s.Ending.StoppedBy == "" || len(s.Ending.Incomplete) > 0,
		Disturbed: Disturbance(s),
	}
	for _, c := range slices.Concat(suspicions(s), failed(s, heldBack)) {
		m.Remedy = cmp.Or(m.Remedy, c.Remedy)
	}
	return m
}

// Runs are the summarised runs, in the same order. Their numbers are numbers.All and the extra ones.
func Runs(sums []*metrics.Summary, extra ...metrics.Number) []*Run {
	var runs []*Run
	for _, s := range sums {
		runs = append(runs, Of(s, extra))
	}
	for i, slowdowns := range targets.Slowed(sums) {
		maps.Copy(runs[i].Numbers, slowdowns)
	}
	return runs
}

// Of is one summarised run with the extra numbers, without those that take other runs.
func Of(s *metrics.Summary, extra []metrics.Number) *Run {
	r := &Run{
		ID: s.Header.Run, Fingerprint: s.Source.Fingerprint, Began: s.Header.Epoch, Ended: s.When.Date, Asked: asked.Of(s),
		Numbers: map[string]float64{}, Values: map[string]int{},
		Completed: s.Completed, Failed: s.Failed, Input: s.Totals.Input, Output: s.Totals.Output, Overloaded: s.Overloaded(),
		Doubts: doubts(s), Held: failedText(s, heldBack), Gaps: gaps(s), Source: sourceOf(s),
	}
	if r.Began.IsZero() && !s.When.Date.IsZero() {
		r.Began = s.When.Date.Add(-time.Duration(s.When.Seconds * float64(time.Second)))
	}
	if start := processes.Start(s); start != nil {
		r.Start = start.ID
	}
	r.Repeat, _ = strconv.Atoi(metrics.Value(s.Header.Config.Metadata, "repeat"))
	r.MaxPairs, _ = strconv.Atoi(metrics.Value(s.Header.Config.Metadata, "max-pairs"))
	all := slices.Concat(numbers.All(), extra, ruled(s))
	for _, a := range adapters.Of(s) {
		all = append(all, numbers.OfAdapter(a.Name)...)
	}
	_, prompts := counts.PrefixCache(s)
	r.CacheTold = prompts > 0
	r.Content, r.Early = content(s, all), failedText(s, firstToken)
	if w := spans.Of(s); w != nil {
		r.Spans, r.SpansCounted = map[string]float64{}, w.Counted > 0
		for span := range w.Spans.All() {
			r.Spans[span.String()] = w.Mean(span)
		}
	}
	for _, m := range all {
		if v := m.Of(s); !math.IsNaN(v) && !math.IsInf(v, 0) {
			r.Numbers[m.Name] = v
		}
		r.resample(s, &m)
	}
	names := adapterLatencies(s)
	for _, l := range metrics.Latencies {
		names = append(names, l.Name)
	}
	for _, name := range names {
		d := s.Latency(name)
		switch {
		case d == nil:
		case d.Len() > 0:
			r.Values[name] = d.Len()
		case d.Quoted != nil && d.Quoted.Values > 0:
			r.Values[name] = d.Quoted.Values
		}
	}
	return r
}

// Asked are what runs were asked for, in the same order.
func Asked(runs []*Run) []asked.Parameters {
	var all []asked.Parameters
	for _, r := range runs {
		all = append(all, r.Asked)
	}
	return all
}

// Summary is what the run was made of; nil for a run of a baseline.
func (r *Run) Summary() *metrics.Summary { return r.Source.sum }

// Fault says why no gate passes a run; empty if a gate may. allowed is the share of requests that
// may fail.
func (r *Run) Fault(allowed float64) string {
	switch {
	case r.Completed == 0:
		return "no request completed"
	case r.Failed > 0 && r.Failing() > allowed:
		return fmt.Sprintf("%d of %s failed", r.Failed, metrics.Counted(r.Completed+r.Failed, "request"))
	case r.Output == 0:
		return "no request got a token"
	}
	return ""
}

// Lacks is what is missing or wrong in a run, without which there can be no verdict. Text blocks
// have little data.
func (r *Run) Lacks() []string {
	found := slices.Clone(r.Gaps)
	switch {
	case r.Asked["model"] == "":
		found = append(found, "a result block, which does not say with which flags it was measured")
	case r.Completed < 0 || r.Failed < 0:
		found = append(found, "it does not say how many requests failed")
	}
	for _, name := range slices.Sorted(maps.Keys(r.Numbers)) {
		// Tokens may come together, but no answer takes no time.
		switch m, _ := numbers.Find(name); {
		case r.Numbers[name] < 0:
			found = append(found, name+" is below 0")
		case r.Numbers[name] == 0 && (m.Latency == "ttft" || m.Latency == "e2el"):
			found = append(found, name+" is 0")
		}
	}
	return found
}

// Failing is the share of requests that failed; 0 if unknown.
func (r *Run) Failing() float64 {
	if r.Failed <= 0 {
		return 0
	}
	return float64(r.Failed) / float64(r.Failed+max(r.Completed, 0))
}

// Twice says which run occurs more than once; empty for none.
func Twice(sides ...[]*Run) string {
	seen := map[string]*Run{}
	for _, r := range slices.Concat(sides...) {
		key := cmp.Or(r.ID, r.Fingerprint)
		switch first := seen[key]; {
		case key == "":
		case first == nil:
			seen[key] = r
		case r.ID == "" && r.name() != first.name():
			return fmt.Sprintf("%s and %s are the same run: give each run once", first.name(), r.name())
		default:
			return r.name() + " is there twice: give each run once"
		}
	}
	return ""
}

// name is the run in words: its id, or where it was read.
func (r *Run) name() string {
	switch {
	case r.ID != "":
		return "run " + r.ID
	case r.Source.sum == nil:
		return "a run of the baseline"
	}
	return cmp.Or(r.Source.sum.Source.Origin.String(), "a result without an id")
}

// Unplaced says that nobody knows on which start of a server the run was.
func (r *Run) Unplaced() bool { return r.Start == "" }

// End is when the run ended; when it began, if only that is known.
func (r *Run) End() time.Time {
	if r.Ended.After(r.Began) {
		return r.Ended
	}
	return r.Began
}

// armNames are the names of a run's arm: a sweep's, its label, its target.
func armNames(s *metrics.Summary) []string {
	names := []string{s.Header.Config.Label, s.Header.TargetName(), metrics.Value(s.Header.Config.Metadata, asked.Arm)}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}
