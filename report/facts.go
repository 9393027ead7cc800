// Package report writes the results of runs.
//
// Each kind of report is a function from a Summary to an io.Writer: the additional metrics and the
// verdict, result files, parts of the run. A fact is computed once, under its key in the result file,
// and templates turn facts into text: see truth.tmpl. A report leaves out what a Summary does not know
// (see package metrics), so a report of a file has no line that was not in the file. Reports of several
// runs are other packages: runs, repeats, neighbours, comparison and against.
package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/servebench/servebench/metrics"
	"github.com/servebench/servebench/metrics/aspect/reasoning"
	"github.com/servebench/servebench/metrics/aspect/since"
	"github.com/servebench/servebench/metrics/aspect/tokens"
	"github.com/servebench/servebench/metrics/evidence"
	"github.com/servebench/servebench/metrics/pyjson"
	"github.com/servebench/servebench/metrics/record"
	"github.com/servebench/servebench/metrics/tally"
	"github.com/servebench/servebench/metrics/vllm"
)

// truth is the object "truth" of a result file: facts about a run that vLLM's files do not have.
// Truth prints these facts, so text and JSON agree. A key ends with its unit unless it is a count.
func truth(s *metrics.Summary) pyjson.Object {
	moments, seen := since.Of(s), reasoning.Of(s)
	var statistics, o pyjson.Object
	for _, latency := range []struct {
		name string
		of   *metrics.Distribution
	}{
		{"service_ttft", &s.TTFT}, {"content_ttft", &seen.ContentTTFT}, {"ttfo", &seen.TTFO},
		{"written_ttft", &moments.WrittenTTFT}, {"undelayed_ttft", &moments.UndelayedTTFT},
		{"scheduled_ttft", &moments.ScheduledTTFT},
		{"service_e2el", &s.E2EL}, {"scheduled_e2el", &moments.ScheduledE2EL},
		{"token_itl", &tokens.Of(s).ITL}, {"lag", &s.Client.Lag}, {"socket_age", &s.Client.Age},
	} {
		if latency.of.Len() > 0 {
			statistics = append(statistics, vllm.Statistics(latency.name, latency.of, s.Header.Config.Percentiles)...)
		}
	}
	for k := range metrics.Aspects(s) {
		if k.Facts != nil {
			addFacts(&o, k.Facts(s))
		}
	}
	if in := s.Header.InForce(); in != "" {
		o.Set("definitions", string(in))
	}
	shardFacts(&o, s.Source.Shards)
	if e := s.Evidence; e != nil {
		nameFacts(&o, e.Connections.Names)
		o.Set("opened_connections", e.Connections.Opened)
		o.Set("warmed_connections", e.Connections.Warmed)
		setSome(&o, "dropped_connections", e.Connections.Dropped)
		setSome(&o, "times_unprocessed", e.Connections.Unprocessed)
		if e.Connections.Transport != "" {
			o.Set("transport", e.Connections.Transport)
		}
		if e.CPU.Others > 0 && e.CPU.Watched > 0 {
			o.Set("other_processes_cores", e.CPU.Others.Seconds()/e.CPU.Watched.Seconds())
		}
		if e.WriteBlocked > 0 {
			o.Set("write_blocked_ms", metrics.Milliseconds(e.WriteBlocked))
		}
	}
	payloadFacts(&o, s.Totals.Carried)
	poolingFacts(&o, s)
	loadFacts(&o, s.Truth)
	o.Set("samples", tails(s))
	slices.SortStableFunc(o, func(a, b pyjson.Member) int { return cmp.Compare(place(a.Key), place(b.Key)) })
	return append(statistics, o...)
}

// addFacts adds the facts of an aspect.
func addFacts(o *pyjson.Object, facts []metrics.Fact) {
	for _, f := range facts {
		if counts, is := f.Value.(tally.Reasons); is {
			f.Value = byCount(counts)
		}
		o.Set(f.Key, f.Value)
	}
}

// order is the order of the facts. A key without the word of its statistic stands for all statistics, and keys that
// are not here come last.
var order = strings.Fields(`
	mean_token_itl_ms mean_tokens_per_chunk max_tokens_per_chunk requests_with_known_chunks
	requests_with_more_tokens_than_chunks requests_with_fewer_tokens_than_chunks answers_counted_by_tokenizer
	answers_counted_by_nobody answers_all_at_once answers_with_reasoning answers_of_reasoning_only
	answers_with_counted_reasoning reasoning_tokens answer_tokens answers_of_known_length short_answers
	missing_tokens long_answers extra_tokens late_chunks late_chunks_percent late_p99_itl_least_ms
	late_p99_itl_most_ms definitions otherwise_for_vllm ttft_with_failures_ms e2el_with_failures_ms failures
	finish_reasons connected_requests mean_connecting_ms mean_dns_ms mean_connect_ms mean_proxy_ms mean_tls_ms
	shards sound_shards shard_faults hosts first_sends_apart_ms first_send_late_ms last_first_send_late_ms
	least_clock_offset_ms greatest_clock_offset_ms clock_error_ms unknown_clocks names opened_connections
	warmed_connections dropped_connections times_unprocessed transport other_processes_cores write_blocked_ms
	prefix_cache_queries prefix_cache_hits requests_sent_again times_sent_again requests_sent_anew
	carried_images carried_videos carried_sound_s carried_bytes carried_inputs inputs_per_s
	good_requests_per_s peak_output_tokens peak_output_window_s peak_output_step_ms peak_concurrency
	mean_concurrency ramp_requests ramp_ms asked_rate_per_s achieved_rate_per_s mean_held_ms held_percent
	mean_held_unread_ms energy_unknown energy_j energy_by_counter mean_power_w joules_per_output_token
	joules_per_token output_tokens_per_joule share_of_busy_time cost_usd usd_per_million_input_tokens
	usd_per_million_output_tokens usd_per_million_tokens samples`)

// place is where a fact is in the order.
func place(key string) int {
	_, rest, _ := strings.Cut(key, "_")
	for _, key := range []string{key, rest} {
		if i := slices.Index(order, key); i >= 0 {
			return i
		}
	}
	return len(order)
}

// setSome sets a count that is above 0.
func setSome[N int | int64](o *pyjson.Object, key string, n N) {
	if n > 0 {
		o.Set(key, n)
	}
}

// byCount is an object of counts, the largest first.
func byCount[K cmp.Ordered](counts map[K]int) pyjson.Object {
	object := pyjson.Object{}
	for _, name := range metrics.ByCount(counts) {
		object = append(object, pyjson.Member{Key: fmt.Sprint(name), Value: counts[name]})
	}
	return object
}

// nameFacts say what the names of the server and its proxy led to.
func nameFacts(o *pyjson.Object, names []evidence.Lookup) {
	var all []any
	for _, l := range names {
		out := []string{}
		for _, a := range l.LeftOut {
			out = append(out, a.Address+": "+a.Why)
		}
		all = append(all, pyjson.Object{
			{Key: "name", Value: l.Name}, {Key: "lookup_ms", Value: metrics.Milliseconds(l.Took)},
			{Key: "addresses", Value: l.Addresses}, {Key: "left_out", Value: out},
		})
	}
	if all != nil {
		o.Set("names", all)
	}
}

// shardFacts are the facts of a run's shards; none if s is nil.
func shardFacts(o *pyjson.Object, s *metrics.Shards) {
	if s == nil {
		return
	}
	o.Set("shards", s.Of)
	o.Set("sound_shards", s.Sound)
	o.Set("shard_faults", append([]string{}, s.Faults...))
	o.Set("hosts", append([]string{}, s.Hosts...))
	if s.Late != nil {
		o.Set("first_sends_apart_ms", metrics.Milliseconds(s.Apart()))
		o.Set("first_send_late_ms", metrics.Milliseconds(s.Late.From))
		o.Set("last_first_send_late_ms", metrics.Milliseconds(s.Late.To))
	}
	if s.Offsets != nil {
		o.Set("least_clock_offset_ms", metrics.Milliseconds(s.Offsets.From))
		o.Set("greatest_clock_offset_ms", metrics.Milliseconds(s.Offsets.To))
		o.Set("clock_error_ms", metrics.Milliseconds(s.Error))
	}
	o.Set("unknown_clocks", append([]string{}, s.Unclocked...))
}

// payloadFacts say what the completed requests carried apart from text.
func payloadFacts(o *pyjson.Object, p record.Payload) {
	setSome(o, "carried_images", p.Images)
	setSome(o, "carried_videos", p.Videos)
	if p.Audio > 0 {
		o.Set("carried_sound_s", p.Audio)
	}
	setSome(o, "carried_bytes", p.Bytes)
}

// poolingFacts are what the block of a pooling endpoint does not have.
func poolingFacts(o *pyjson.Object, s *metrics.Summary) {
	if !s.Header.Config.Traits.Pooled {
		return
	}
	setSome(o, "carried_inputs", s.Totals.Carried.Inputs)
	if !math.IsNaN(s.Rates.Sequences) {
		o.Set("inputs_per_s", s.Rates.Sequences)
	}
	if !math.IsNaN(s.Rates.Goodput) {
		o.Set("good_requests_per_s", s.Rates.Goodput)
	}
}

// loadFacts describe the actual load.
func loadFacts(o *pyjson.Object, t *metrics.Truth) {
	o.Set("peak_concurrency", t.PeakConcurrency)
	o.Set("mean_concurrency", t.MeanConcurrency)
}

// tails is the number of samples of each percentile, and its 95 % confidence interval. An end is
// null if the samples are too few for it.
func tails(s *metrics.Summary) []pyjson.Object {
	objects := []pyjson.Object{}
	for _, sample := range s.TailSizes() {
		object := pyjson.Object{
			{Key: "metric", Value: sample.Metric}, {Key: "percentile", Value: sample.Percentile},
			{Key: "samples", Value: sample.N}, {Key: "beyond", Value: sample.Beyond()}, {Key: "few", Value: sample.Few()},
		}
		if i, known := s.Latency(sample.Metric).Interval(sample.Percentile); known {
			object = object.With("low_ms", pyjson.Finite(i.Low)).With("high_ms", pyjson.Finite(i.High)).
				With("independent", i.Independent)
		}
		objects = append(objects, object)
	}
	return objects
}
