package metrics

import (
	"math"

	"github.com/servebench/servebench/metrics/record"
)

// An Outcome is what vLLM's client keeps of one request, in its units: seconds as float64. All
// statistics of a run are computed from Outcomes. Start is on any clock that the run's outcomes
// share.
type Outcome struct {
	Index      int // position in the dataset
	Success    bool
	In         int       // prompt tokens
	Out        int       // output tokens
	Start      float64   // when it was sent
	TTFT       float64   // also kept for a failed request that had chunks
	TTFO       float64   // infinite without output, 0 if unknown
	Unstreamed bool      // the answer was not streamed, and TTFT is its Latency
	ITL        []float64 // between successive chunks; kept likewise
	Latency    float64   // E2EL
	Queue      float64   // waiting for a slot before Start; NaN if unknown
	Text       string    // empty for a failed request
	Error      string

	ServerQueue, ServerTTFT *float64 // ServerTimes in seconds; nil if the server does not say

	Carried *record.Payload // nil for one prompt of text
}

// A Timing is what vLLM's result file has of each request even without --save-detailed, in
// seconds.
type Timing struct {
	Index          int     // position in the dataset
	Latency, Queue float64 // as in an Outcome
}

// TPOT is the time per output token after the first, in seconds; 0 for a request of fewer than two output
// tokens. vLLM's client divides so.
func (o *Outcome) TPOT() float64 {
	if o.Out < 2 {
		return 0
	}
	return (o.Latency - o.TTFT) / float64(o.Out-1)
}

// OutcomeOf is what vLLM's client would have measured of r.
func OutcomeOf(r *record.Record) Outcome { return outcomeOf(r, nil) }

// outcomeOf appends the gaps to itl, so that one slice can serve many records.
func outcomeOf(r *record.Record, itl []float64) Outcome {
	o := gapless(r)
	for gap := range r.Answer.Chunks.Gaps() {
		itl = append(itl, gap.Seconds())
	}
	o.ITL = itl
	return o
}

// gapless is the Outcome of r without its ITL.
func gapless(r *record.Record) Outcome {
	o := Outcome{
		Index: r.Index, Success: r.Result.Class == record.OK,
		In: r.Tokens.In, Start: r.Times.Sent.Seconds(), TTFT: r.TTFT().Seconds(), Unstreamed: r.Answer.Unstreamed,
		Latency: r.E2EL().Seconds(), Queue: r.Queue().Seconds(), Error: r.Result.Error,
		Carried: r.Payload,
	}
	if o.TTFO = math.Inf(1); o.Success {
		if ttfo, there := r.TTFO(); there {
			o.TTFO = ttfo.Seconds()
		}
	}
	if t := r.Server; t != nil {
		o.ServerQueue, o.ServerTTFT = inSeconds(t.QueueMS), inSeconds(t.TTFTMS)
	}
	if o.Success {
		o.Out, o.Text = r.Tokens.Out, r.Answer.Text
	}
	return o
}

// inSeconds is a time in milliseconds, if there is one.
func inSeconds(ms *float64) *float64 {
	if ms == nil {
		return nil
	}
	return new(*ms / 1000)
}
