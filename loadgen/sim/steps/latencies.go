package steps

import (
	"time"

	"github.com/servebench/servebench/loadgen/sim/exposition"
)

// Upper bounds of the histogram buckets, in seconds, as vLLM has them.
var (
	ttftBounds = []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160,
		640, 2560}
	tokenBounds   = []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	requestBounds = []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
)

// latencies are histograms of the times of requests, in seconds.
type latencies struct {
	ttft, itl, tpot                          *exposition.Histogram
	e2e, queue, inference, prefill, decoding *exposition.Histogram
}

func newLatencies() latencies {
	request := func(name, of string) *exposition.Histogram {
		return exposition.NewHistogram("vllm:"+name+"_seconds", "Histogram of "+of+" in seconds.", requestBounds)
	}
	return latencies{
		ttft: exposition.NewHistogram("vllm:time_to_first_token_seconds", "Histogram of time to first token in seconds.",
			ttftBounds),
		itl: exposition.NewHistogram("vllm:inter_token_latency_seconds",
			"Histogram of time between a request's steps in seconds.", tokenBounds),
		tpot: exposition.NewHistogram("vllm:request_time_per_output_token_seconds",
			"Histogram of time per output token of a request in seconds.", tokenBounds),
		e2e:       request("e2e_request_latency", "end to end request latency"),
		queue:     request("request_queue_time", "time from arrival to admission"),
		inference: request("request_inference_time", "time from admission to the last token"),
		prefill:   request("request_prefill_time", "time from admission to the first token"),
		decoding:  request("request_decode_time", "time from the first to the last token"),
	}
}

// produced counts n tokens of a sequence, before the instants of the sequence are updated.
func (l *latencies) produced(seq *Sequence, n int, now time.Time) {
	added := &seq.Added
	if seq.out == n {
		l.ttft.Observe((now.Sub(seq.at.arrived) + added.Token(0, seq.Want)).Seconds())
		return
	}
	later := added.Token(seq.out-1, seq.Want) - added.Token(seq.out-n-1, seq.Want)
	l.itl.Observe((now.Sub(seq.at.last) + later).Seconds())
}

// finished counts a sequence that has all its tokens.
func (l *latencies) finished(seq *Sequence) {
	scheduled, first, last := seq.Scheduled(), seq.FirstToken(), seq.LastToken()
	l.e2e.Observe(last.Sub(seq.at.arrived).Seconds())
	l.queue.Observe(scheduled.Sub(seq.at.arrived).Seconds())
	l.inference.Observe(last.Sub(scheduled).Seconds())
	l.prefill.Observe(first.Sub(scheduled).Seconds())
	l.decoding.Observe(last.Sub(first).Seconds())
	if seq.out > 1 {
		l.tpot.Observe(last.Sub(first).Seconds() / float64(seq.out-1))
	}
}

// all are the histograms, in the order of the exposition.
func (l *latencies) all() []*exposition.Histogram {
	return []*exposition.Histogram{l.ttft, l.itl, l.tpot, l.e2e, l.queue, l.inference, l.prefill, l.decoding}
}
