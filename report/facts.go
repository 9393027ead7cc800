package report

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/pyjson"
)

// truth is the object of that name in a result file: the facts of a run that vLLM's
// files do not have. Truth prints them from here, so that both say the same. A key
// ends with its unit unless it is a count.
func truth(s *metrics.Summary) pyjson.Object {
	t := s.Truth
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
			statistics(&d, latency.name, latency.of, s.Header.Config.Percentiles)
		}
	}
	if t.ITL.Len() == 0 && t.MeanITL > 0 {
		d.set("mean_token_itl_ms", t.MeanITL)
	}
	answerFacts(&d, t)
	if in := s.Header.InForce(); in != "" {
		d.set("definitions", string(in))
	}
	if len(t.Otherwise) > 0 {
		d.set("otherwise_for_vllm", tally(t.Otherwise))
	}
	failureFacts(&d, s)
	connectionFacts(&d, t.Connecting)
	shardFacts(&d, s.Shards)
	if e := s.Evidence; e != nil {
		d.set("opened_connections", e.Opened)
		d.set("warmed_connections", e.Warmed)
		setSome(&d, "dropped_connections", e.Dropped)
		if e.WriteBlocked > 0 {
			d.set("write_blocked_ms", milliseconds(e.WriteBlocked))
		}
	}
	if hits, of := s.PrefixCache(); of > 0 {
		d.set("prefix_cache_queries", of)
		d.set("prefix_cache_hits", hits)
	}
	if n := s.Resent; n.Requests > 0 {
		d.set("requests_sent_again", n.Requests)
		d.set("times_sent_again", n.Times)
	}
	setSome(&d, "requests_sent_anew", s.Resent.Anew)
	loadFacts(&d, t)
	d.set("samples", samples(s))
	return d.Object
}

// setSome sets a count that is above 0.
func setSome[N int | int64](d *dict, key string, n N) {
	if n > 0 {
		d.set(key, n)
	}
}

// tally is an object of counts, the largest first.
func tally[K cmp.Ordered](counts map[K]int) pyjson.Object {
	object := pyjson.Object{}
	for _, name := range metrics.ByCount(counts) {
		object = append(object, pyjson.Member{Key: fmt.Sprint(name), Value: counts[name]})
	}
	return object
}

// answerFacts are who counted the tokens of the answers, and how they came.
func answerFacts(d *dict, t *metrics.Truth) {
	d.set("mean_tokens_per_chunk", t.Tokens.Mean())
	d.set("max_tokens_per_chunk", t.Tokens.Largest)
	d.set("requests_with_known_chunks", t.Tokens.Known)
	d.set("requests_with_more_tokens_than_chunks", t.Tokens.Bundled)
	d.set("requests_with_fewer_tokens_than_chunks", t.Tokens.Fewer)
	if n := t.Counts; n.Tokenizer+n.Nobody > 0 {
		d.set("answers_counted_by_tokenizer", n.Tokenizer)
		d.set("answers_counted_by_nobody", n.Nobody)
	}
	setSome(d, "answers_all_at_once", t.Delivery.AtOnce)
	if l := t.Lengths; l.Of > 0 {
		d.set("answers_of_known_length", l.Of)
		d.set("short_answers", l.Short)
		d.set("missing_tokens", l.Missing)
		d.set("long_answers", l.Long)
		d.set("extra_tokens", l.Extra)
	}
}

// failureFacts are how requests failed, and why answers ended. A latency with
// failures as infinite is "inf" from where they begin, as its mean always is.
func failureFacts(d *dict, s *metrics.Summary) {
	if n := s.Failures(); n > 0 {
		for _, latency := range []struct {
			name string
			metrics.Endless
		}{{"ttft", s.TTFT.Endless(n)}, {"e2el", s.E2EL.Endless(n)}} {
			key := "_" + latency.name + "_with_failures_ms"
			d.set("median"+key, orInf(latency.Median()))
			for _, p := range s.Header.Config.Percentiles {
				d.set("p"+metrics.FormatPercentile(p)+key, orInf(latency.Percentile(p)))
			}
		}
	}
	classes := pyjson.Object{}
	for _, class := range failing(s) {
		object := pyjson.Object{{Key: "requests", Value: s.Classes[class]}}
		if f := s.Failing[class]; f != nil {
			if len(f.Statuses) > 0 {
				object = object.With("statuses", tally(f.Statuses))
			}
			message, n := f.Commonest()
			object = object.With("message", message).With("requests_with_message", n)
		}
		classes = classes.With(string(class), object)
	}
	if len(classes) > 0 {
		d.set("failures", classes)
	}
	if reasons := s.Truth.FinishReasons; len(reasons) > 0 {
		d.set("finish_reasons", tally(reasons))
	}
}

// orInf is v, or "inf" as the request rate has it.
func orInf(v float64) any {
	if math.IsInf(v, 1) {
		return "inf"
	}
	return v
}

// connectionFacts are what connecting took, inside TTFT.
func connectionFacts(d *dict, c metrics.Connecting) {
	d.set("connected_requests", c.Requests)
	n := time.Duration(max(c.Requests, 1))
	d.set("mean_connecting_ms", milliseconds(c.Mean()))
	d.set("mean_dns_ms", milliseconds(c.DNS/n))
	d.set("mean_connect_ms", milliseconds(c.Connect/n))
	d.set("mean_proxy_ms", milliseconds(c.Proxy/n))
	d.set("mean_tls_ms", milliseconds(c.TLS/n))
}

// shardFacts are those of a run's shards; none where s is nil.
func shardFacts(d *dict, s *metrics.Shards) {
	if s == nil {
		return
	}
	d.set("shards", s.Of)
	d.set("sound_shards", s.Sound)
	d.set("shard_faults", append([]string{}, s.Faults...))
	d.set("hosts", append([]string{}, s.Hosts...))
	if s.Late != nil {
		d.set("first_sends_apart_ms", milliseconds(s.Apart()))
		d.set("first_send_late_ms", milliseconds(s.Late.From))
		d.set("last_first_send_late_ms", milliseconds(s.Late.To))
	}
	if s.Offsets != nil {
		d.set("least_clock_offset_ms", milliseconds(s.Offsets.From))
		d.set("greatest_clock_offset_ms", milliseconds(s.Offsets.To))
		d.set("clock_error_ms", milliseconds(s.Error))
	}
	d.set("unknown_clocks", append([]string{}, s.Unclocked...))
}

// loadFacts are what the load came to be.
func loadFacts(d *dict, t *metrics.Truth) {
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

// samples are how many values each percentile rests on, and its 95 % confidence
// interval: null is an end that so few values do not tell.
func samples(s *metrics.Summary) []pyjson.Object {
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

// finite is v, or null where JSON has no number for it.
func finite(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}
