package report

import (
	"math"
	"strconv"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
)

// failed is what a result file says of failures and finish reasons. A latency with
// failures as infinite is "inf" from where they begin, as its mean
// always is.
func failed(d *dict, s *metrics.Summary) {
	if n := s.Failures(); n > 0 {
		endless(d, "ttft_with_failures", s.TTFT.Endless(n), s.Header.Config.Percentiles)
		endless(d, "e2el_with_failures", s.E2EL.Endless(n), s.Header.Config.Percentiles)
	}
	classes := pyjson.Object{}
	for _, class := range failing(s) {
		object := pyjson.Object{{Key: "requests", Value: s.Classes[class]}}
		if f := s.Failing[class]; f != nil {
			object = append(object, caused(f)...)
		}
		classes = classes.With(string(class), object)
	}
	if len(classes) > 0 {
		d.set("failures", classes)
	}
	reasons := pyjson.Object{}
	for _, reason := range metrics.ByCount(s.Truth.FinishReasons) {
		reasons = reasons.With(reason, s.Truth.FinishReasons[reason])
	}
	if len(reasons) > 0 {
		d.set("finish_reasons", reasons)
	}
}

func endless(d *dict, name string, e metrics.Endless, percentiles []float64) {
	d.set("median_"+name+"_ms", orInf(e.Median()))
	for _, p := range percentiles {
		d.set("p"+metrics.FormatPercentile(p)+"_"+name+"_ms", orInf(e.Percentile(p)))
	}
}

// orInf is v, or "inf" as the request rate has it.
func orInf(v float64) any {
	if math.IsInf(v, 1) {
		return "inf"
	}
	return v
}

// caused is what cause says in words.
func caused(f *metrics.Failing) pyjson.Object {
	var o pyjson.Object
	if len(f.Statuses) > 0 {
		statuses := pyjson.Object{}
		for _, status := range metrics.ByCount(f.Statuses) {
			statuses = statuses.With(strconv.Itoa(status), f.Statuses[status])
		}
		o = o.With("statuses", statuses)
	}
	message, n := f.Commonest()
	return o.With("message", message).With("requests_with_message", n)
}
