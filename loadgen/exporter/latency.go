package exporter

import "github.com/prometheus/client_golang/prometheus"

// A latency is a histogram of values that Record.Latencies names.
type latency struct {
	name     string
	exported string
	help     string

	// least is the upper limit of the first classic bucket, in seconds. Each bucket has twice the
	// limit of the previous one.
	least float64
}

// exported are all latencies except ITL, of which there are too many samples.
var exported = []latency{
	{"ttft", "time_to_first_token_seconds", "From sending a request to the first chunk of its answer, in seconds, of " +
		"completed requests.", 0.001},
	{"tpot", "time_per_output_token_seconds", "Time per output token after the first, in seconds, of completed " +
		"requests of two or more.", 0.0005},
	{"e2el", "request_duration_seconds", "From sending a request to the last chunk of its answer, in seconds, of " +
		"completed requests.", 0.004},
	{"queue", "slot_wait_seconds", "How long a request waited for a free concurrency slot, in seconds, of completed " +
		"requests.", 0.001},
	{"lag", "send_lag_seconds", "How late servebench itself sent a request, in seconds.", 0.00001},
}

const (
	// classicBuckets reach from 1 ms to 2 min.
	classicBuckets = 18
	// bucketFactor makes native buckets about 10 % wide.
	bucketFactor = 1.1
	// maxBuckets bounds the native buckets of a target.
	maxBuckets = 160
)

// histogram has native buckets, and classic ones for scrapers that read text.
func (l latency) histogram() *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "servebench_" + l.exported, Help: l.help,
		Buckets:                     prometheus.ExponentialBuckets(l.least, 2, classicBuckets),
		NativeHistogramBucketFactor: bucketFactor, NativeHistogramMaxBucketNumber: maxBuckets,
	}, labels)
}
