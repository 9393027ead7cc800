package metrics

// An Outcome is what vLLM's client keeps of one request, in its units: seconds
// as float64. All statistics of a run are computed from Outcomes. Start is on
// any clock that the run's outcomes share.
type Outcome struct {
	Index   int // position in the dataset
	Success bool
	In      int       // prompt tokens
	Out     int       // output tokens
	Start   float64   // when it was sent
	TTFT    float64   // kept for a failed request that had chunks
	ITL     []float64 // between successive chunks; kept likewise
	Latency float64   // E2EL
	Queue   float64   // waiting for a slot before Start; NaN where that is not known
	Text    string    // empty for a failed request
	Error   string

	ServerQueue, ServerTTFT *float64 // ServerTimes in seconds; nil where the server does not say
}

// A Lasting is what vLLM's result file has of each request even without
// --save-detailed, in seconds.
type Lasting struct {
	Index          int     // position in the dataset
	Latency, Queue float64 // as those of an Outcome
}

// TPOT is the time per output token after the first, in seconds; 0 for a
// request of fewer than two output tokens.
func (o *Outcome) TPOT() float64 {
	if o.Out < 2 {
		return 0
	}
	return (o.Latency - o.TTFT) / float64(o.Out-1)
}

// Outcome is the view that vLLM's client would have had of r.
func (r *Record) Outcome() Outcome { return r.outcome(nil) }

// outcome appends the gaps to itl, so that one slice can serve many records.
func (r *Record) outcome(itl []float64) Outcome {
	for gap := range r.Chunks.Gaps() {
		itl = append(itl, gap.Seconds())
	}
	o := Outcome{
		Index: r.Index, Success: r.Class == OK,
		In: r.In, Start: r.Sent.Seconds(), TTFT: r.TTFT().Seconds(), ITL: itl,
		Latency: r.E2EL().Seconds(), Queue: r.Queue().Seconds(), Error: r.Error,
	}
	if t := r.Server; t != nil {
		o.ServerQueue, o.ServerTTFT = inSeconds(t.QueueMS), inSeconds(t.TTFTMS)
	}
	if o.Success {
		o.Out, o.Text = r.Out, r.Text
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
