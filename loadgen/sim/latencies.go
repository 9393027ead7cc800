package sim

import "time"

// latencies are histograms of the times of requests, in seconds.
type latencies struct {
	ttft, itl, tpot                          *histogram
	e2e, queue, inference, prefill, decoding *histogram
}

func newLatencies() latencies {
	request := func(name, of string) *histogram {
		return newHistogram("vllm:"+name+"_seconds", "Histogram of "+of+" in seconds.", requestBounds)
	}
	return latencies{
		ttft: newHistogram("vllm:time_to_first_token_seconds", "Histogram of time to first token in seconds.",
			ttftBounds),
		itl: newHistogram("vllm:inter_token_latency_seconds",
			"Histogram of time between a request's steps in seconds.", tokenBounds),
		tpot: newHistogram("vllm:request_time_per_output_token_seconds",
			"Histogram of time per output token of a request in seconds.", tokenBounds),
		e2e:       request("e2e_request_latency", "end to end request latency"),
		queue:     request("request_queue_time", "time from arrival to admission"),
		inference: request("request_inference_time", "time from admission to the last token"),
		prefill:   request("request_prefill_time", "time from admission to the first token"),
		decoding:  request("request_decode_time", "time from the first to the last token"),
	}
}

// produced counts n tokens of a sequence, before the instants of the sequence are updated.
func (l *latencies) produced(seq *sequence, n int, now time.Time) {
	added := &seq.added
	if seq.out == n {
		l.ttft.observe((now.Sub(seq.at.arrived) + added.Token(0, seq.want)).Seconds())
		return
	}
	later := added.Token(seq.out-1, seq.want) - added.Token(seq.out-n-1, seq.want)
	l.itl.observe((now.Sub(seq.at.last) + later).Seconds())
}

// finished counts a sequence that has all its tokens.
func (l *latencies) finished(seq *sequence) {
	scheduled, first, last := seq.scheduled(), seq.firstToken(), seq.lastToken()
	l.e2e.observe(last.Sub(seq.at.arrived).Seconds())
	l.queue.observe(scheduled.Sub(seq.at.arrived).Seconds())
	l.inference.observe(last.Sub(scheduled).Seconds())
	l.prefill.observe(first.Sub(scheduled).Seconds())
	l.decoding.observe(last.Sub(first).Seconds())
	if seq.out > 1 {
		l.tpot.observe(last.Sub(first).Seconds() / float64(seq.out-1))
	}
}

// all are the histograms, in the order of the exposition.
func (l *latencies) all() []*histogram {
	return []*histogram{l.ttft, l.itl, l.tpot, l.e2e, l.queue, l.inference, l.prefill, l.decoding}
}
