package report

import (
	"math"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
)

// truth is the object of that name in a result file: what Truth prints, and all
// percentiles. A key ends with its unit unless it is a count.
func truth(s *metrics.Summary) pyjson.Object {
	t, c := s.Truth, &s.Header.Config
	var d dict
	for _, latency := range []struct {
		name string
		of   *metrics.Distribution
	}{
		{"service_ttft", &s.TTFT}, {"content_ttft", &t.ContentTTFT}, {"written_ttft", &t.WrittenTTFT},
		{"scheduled_ttft", &t.ScheduledTTFT}, {"service_e2el", &s.E2EL}, {"scheduled_e2el", &t.ScheduledE2EL},
		{"token_itl", &t.ITL}, {"lag", &s.Lag}, {"socket_age", &s.Age},
	} {
		if latency.of.Len() > 0 {
			statistics(&d, latency.name, latency.of, c.Percentiles)
		}
	}
	if t.ITL.Len() == 0 && t.MeanITL > 0 {
		d.set("mean_token_itl_ms", t.MeanITL)
	}
	answeredWith(&d, t)
	if in := s.Header.InForce(); in != "" {
		d.set("definitions", string(in))
	}
	if len(t.Otherwise) > 0 {
		d.set("otherwise_for_vllm", tally(t.Otherwise))
	}
	failed(&d, s)
	connected(&d, t.Connecting)
	if s.Shards != nil {
		shardFacts(&d, s.Shards)
	}
	if s.Evidence != nil {
		noticed(&d, s.Evidence)
	}
	if hits, of := s.PrefixCache(); of > 0 {
		d.set("prefix_cache_queries", of)
		d.set("prefix_cache_hits", hits)
	}
	sentAgain(&d, s.Resent)
	loadOf(&d, t)
	d.set("samples", sampled(s))
	return d.Object
}

// answeredWith is who counted the tokens of the answers, and how they came.
func answeredWith(d *dict, t *metrics.Truth) {
	d.set("mean_tokens_per_chunk", t.Tokens.Mean())
	d.set("max_tokens_per_chunk", t.Tokens.Largest)
	d.set("requests_with_known_chunks", t.Tokens.Known)
	d.set("requests_with_more_tokens_than_chunks", t.Tokens.Bundled)
	d.set("requests_with_fewer_tokens_than_chunks", t.Tokens.Fewer)
	if n := t.Counts; n.Tokenizer+n.Nobody > 0 {
		d.set("answers_counted_by_tokenizer", n.Tokenizer)
		d.set("answers_counted_by_nobody", n.Nobody)
	}
	if t.Delivery.AtOnce > 0 {
		d.set("answers_all_at_once", t.Delivery.AtOnce)
	}
	if t.Lengths.Of > 0 {
		d.set("answers_of_known_length", t.Lengths.Of)
		d.set("short_answers", t.Lengths.Short)
		d.set("missing_tokens", t.Lengths.Missing)
		d.set("long_answers", t.Lengths.Long)
		d.set("extra_tokens", t.Lengths.Extra)
	}
}

// sentAgain is what became of requests that failed, or whose connection did.
func sentAgain(d *dict, n metrics.Resent) {
	if n.Requests > 0 {
		d.set("requests_sent_again", n.Requests)
		d.set("times_sent_again", n.Times)
	}
	if n.Anew > 0 {
		d.set("requests_sent_anew", n.Anew)
	}
}

// loadOf is what the load came to be.
func loadOf(d *dict, t *metrics.Truth) {
	d.set("peak_output_tokens", t.PeakTokens)
	d.set("peak_output_window_s", 1)
	d.set("peak_output_step_ms", milliseconds(t.PeakStep))
	d.set("peak_concurrency", t.PeakConcurrency)
	d.set("mean_concurrency", t.MeanConcurrency)
	if t.Ramp.Requests > 0 {
		d.set("ramp_requests", t.Ramp.Requests)
		d.set("ramp_ms", milliseconds(t.Ramp.Took))
	}
	if t.Pace.Asked() > 0 && t.Pace.Achieved() > 0 {
		d.set("asked_rate_per_s", t.Pace.Asked())
		d.set("achieved_rate_per_s", t.Pace.Achieved())
	}
	d.set("mean_held_ms", milliseconds(t.Held.Mean))
	d.set("held_percent", t.Held.Share*100)
	d.set("mean_held_unread_ms", milliseconds(t.Held.Unread))
}

// tally is an object of counts, the largest first.
func tally(counts map[string]int) pyjson.Object {
	object := pyjson.Object{}
	for _, name := range metrics.ByCount(counts) {
		object = append(object, pyjson.Member{Key: name, Value: counts[name]})
	}
	return object
}

func noticed(d *dict, e *metrics.Evidence) {
	d.set("opened_connections", e.Opened)
	d.set("warmed_connections", e.Warmed)
	if e.Dropped > 0 {
		d.set("dropped_connections", e.Dropped)
	}
	if e.WriteBlocked > 0 {
		d.set("write_blocked_ms", milliseconds(e.WriteBlocked))
	}
}

func connected(d *dict, c metrics.Connecting) {
	d.set("connected_requests", c.Requests)
	n := time.Duration(max(c.Requests, 1))
	d.set("mean_connecting_ms", milliseconds(c.Mean()))
	d.set("mean_dns_ms", milliseconds(c.DNS/n))
	d.set("mean_connect_ms", milliseconds(c.Connect/n))
	d.set("mean_proxy_ms", milliseconds(c.Proxy/n))
	d.set("mean_tls_ms", milliseconds(c.TLS/n))
}

// sampled says of each percentile how many values it rests on, and between what it lies
// with 95 % confidence: null is an end that so few values do not tell.
func sampled(s *metrics.Summary) []pyjson.Object {
	objects := []pyjson.Object{}
	for _, sample := range s.TailSizes() {
		object := pyjson.Object{
			{Key: "metric", Value: sample.Metric}, {Key: "percentile", Value: sample.Percentile},
			{Key: "samples", Value: sample.N}, {Key: "beyond", Value: sample.Beyond()}, {Key: "few", Value: sample.Few()},
		}
		if i, known := s.Metric(sample.Metric).Interval(sample.Percentile); known {
			object = object.With("low_ms", finite(i.Low)).With("high_ms", finite(i.High)).With("independent", i.Independent)
		}
		objects = append(objects, object)
	}
	return objects
}

// trust is the object of that name in a result file.
func trust(t *metrics.Trust) pyjson.Object {
	checks := []pyjson.Object{}
	for _, c := range t.Checks {
		limit := "at_most"
		if c.AtLeast {
			limit = "at_least"
		}
		checks = append(checks, pyjson.Object{
			{Key: "name", Value: c.Name}, {Key: "figure", Value: finite(c.Figure)}, {Key: limit, Value: finite(c.Limit)},
			{Key: "unit", Value: c.Unit}, {Key: "ok", Value: c.OK}, {Key: "text", Value: c.Text}, {Key: "remedy", Value: c.Remedy},
		})
	}
	return pyjson.Object{
		{Key: "verdict", Value: string(t.Verdict)}, {Key: "checks", Value: checks},
		{Key: "notes", Value: append([]string{}, t.Notes...)}, {Key: "warnings", Value: append([]string{}, t.Warnings...)},
	}
}

// finite is v, or null where JSON has no number for it.
func finite(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}
