// Package failures is how requests of a run failed, and which were sent again.
package failures

import (
	"fmt"
	"math"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/record"
)

// Failures are of all measured requests.
type Failures struct {
	Classes map[record.Class]*Failing // how requests of each class failed, including cancelled ones
	Resent  Resent                    // requests that were sent again
}

// Kind is the aspect as the list has it.
var Kind = &metrics.Kind{
	Name: "failures", New: func(*metrics.Header) metrics.Aspect { return new(Failures) }, Facts: facts, Text: text,
}

// Of is the aspect of a run.
func Of(s *metrics.Summary) *Failures { return metrics.View[Failures](s) }

// Uncut is the number of requests of a run that failed and were not cut by us.
func Uncut(s *metrics.Summary) int {
	n := s.Failed
	for class, f := range Of(s).Classes {
		if class.Cut() {
			n -= f.Requests
		}
	}
	return n
}

// Requests is how many requests failed in a class.
func (f *Failures) Requests(class record.Class) int {
	if c := f.Classes[class]; c != nil {
		return c.Requests
	}
	return 0
}

// Add adds a request.
func (f *Failures) Add(r *record.Record) {
	f.Resent.add(r)
	f.classify(r)
}

// AddPart adds a request that failed within a part of the run and was sent before it.
func (f *Failures) AddPart(r *record.Record, w metrics.Window) {
	if done := r.Done(); w.Holds(done) && !w.Holds(r.Times.Sent) {
		f.classify(r)
	}
}

// classify counts a request under its class, if it failed.
func (f *Failures) classify(r *record.Record) {
	if r.Result.Class != record.OK {
		f.class(r.Result.Class).Add(r)
	}
}

// class is the count of a class.
func (f *Failures) class(class record.Class) *Failing {
	if f.Classes == nil {
		f.Classes = map[record.Class]*Failing{}
	}
	if f.Classes[class] == nil {
		f.Classes[class] = new(Failing)
	}
	return f.Classes[class]
}

// Merge adds another shard's requests.
func (f *Failures) Merge(o metrics.Aspect) {
	other := o.(*Failures)
	f.Resent.merge(other.Resent)
	for class, failing := range other.Classes {
		f.class(class).merge(failing)
	}
}

// facts say how requests failed. In latencies with failures, a failed request has an infinite latency, written
// as "inf".
func facts(s *metrics.Summary) (all []metrics.Fact) {
	if n := Uncut(s); n > 0 {
		for _, latency := range []struct {
			name string
			metrics.Endless
		}{{"ttft", s.TTFT.Endless(n)}, {"e2el", s.E2EL.Endless(n)}} {
			key := "_" + latency.name + "_with_failures_ms"
			all = append(all, metrics.Fact{Key: "median" + key, Value: orInf(latency.Median())})
			for _, p := range s.Header.Config.Percentiles {
				all = append(all, metrics.Fact{
					Key: "p" + metrics.FormatPercentile(p) + key, Value: orInf(latency.Percentile(p))})
			}
		}
	}
	f := Of(s)
	if classes := f.object(); len(classes) > 0 {
		all = append(all, metrics.Fact{Key: "failures", Value: classes})
	}
	if n := f.Resent; n.Requests > 0 {
		all = append(all, metrics.Fact{Key: "requests_sent_again", Value: n.Requests},
			metrics.Fact{Key: "times_sent_again", Value: n.Times})
	}
	return append(all, metrics.Some("requests_sent_anew", f.Resent.Reconnects)...)
}

// object has a member for each class.
func (f *Failures) object() pyjson.Object {
	classes := pyjson.Object{}
	for _, class := range record.Classes {
		failing := f.Classes[class]
		if failing == nil {
			continue
		}
		object := pyjson.Object{{Key: "requests", Value: failing.Requests}}
		if len(failing.Statuses) > 0 {
			statuses := pyjson.Object{}
			for _, status := range metrics.ByCount(failing.Statuses) {
				statuses = statuses.With(fmt.Sprint(status), failing.Statuses[status])
			}
			object = object.With("statuses", statuses)
		}
		message, n := failing.Messages.Commonest()
		classes = classes.With(string(class), object.With("message", message).With("requests_with_message", n))
	}
	return classes
}

// orInf is v, or "inf" as for the request rate.
func orInf(v float64) any {
	if math.IsInf(v, 1) {
		return "inf"
	}
	return v
}

const text = `Retries after failures
	{{with .requests_sent_again}}{{.}} of {{$.requests}} requests, sent {{$.times_sent_again}} times more{{end}}

Resent on a new connection
	{{with .requests_sent_anew}}{{if not $.times_unprocessed}}{{.}} of {{$.requests}} requests{{end}}{{end}}

Resent after a refused stream
	{{with .times_unprocessed}}{{$.requests_sent_anew}} of {{$.requests}} requests, sent {{.}} times more{{end}}`
