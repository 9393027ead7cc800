package metrics

// A Slice is one of equal parts of a run. A value counts in the slice in which it was complete. A
// slice includes its beginning but not its end, except for the last slice.
type Slice struct {
	Window
	Sent, Completed, Failed int     // requests
	InFlight                float64 // measured requests, mean over the slice
	Input                   int     // prompt tokens of the requests completed
	Output                  int     // output tokens of requests that completed then or later

	// Latencies are of requests that completed. TTFT counts in the slice of the first chunk, ITL in
	// the slice of each chunk, TPOT and E2EL in the slice of the last chunk.
	TTFT, TPOT, ITL, E2EL Spread
	Seen                  Seen // what the server reported during the slice
}

// A Spread is a latency within a Slice, in milliseconds; NaN without values.
type Spread struct {
	N         int
	Mean, P99 float64
}

// Seen is what a server and its GPUs reported during a Slice: means of the Samples taken then, and
// the growth of counters between the last sample before and the last one in it. What was not
// reported is nil.
type Seen struct {
	Running, Waiting *float64 // requests
	KVCache          *float64 // share in use, 0 to 1
	PrefixHits       *float64 // share of the prompt tokens that were in the prefix cache, 0 to 1
	Preemptions      *float64
	GPUMemory        *float64 // MiB in use, of all GPUs
	GPUUtilization   *float64 // share of the time, 0 to 1, as mean over GPUs
	GPUPower         *float64 // W, of all GPUs
	GPUEnergy        *float64 // J in the slice, of all GPUs
}
