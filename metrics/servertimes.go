package metrics

// ServerTimes are what a server says of one request in the "metrics" object of its
// answer: vLLM does with --enable-per-request-metrics. They are milliseconds, exactly
// as the server wrote them. A nil field is a time that it did not give.
type ServerTimes struct {
	QueueMS *float64 `json:"queue_ms,omitempty"` // in the engine's queue, until it was scheduled
	TTFTMS  *float64 `json:"ttft_ms,omitempty"`  // from then until the first token, so without queueing and front end
}
